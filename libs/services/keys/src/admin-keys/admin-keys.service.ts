import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type AdminKeyRecord,
  type CreatedAdminKey,
  type Clock,
  type CreateAdminKeyBody,
  type CursorPage,
  type ListAdminKeysQuery,
  type Membership,
  type Random,
  type SessionPrincipal,
  type CreateAnswer,
} from '@gateway/contracts';
import {
  CLOCK,
  expiryFaults,
  expiryOf,
  maskedSecret,
  mintSecret,
  RANDOM,
  secretDigest,
  type OrgRule,
  refuseFaults,
  sentFields,
} from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { pepperedDigest } from '../secrets/seal.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import { listAdminKeys, toWire, type AdminKeyRow } from './admin-key.store.js';

/** Number of admin keys of one organization. */
const KEYS_MAX = 200;
export const ADMIN_KEY_RULE: OrgRule = { roles: ['owner', 'admin'] };

@Injectable()
export class AdminKeysService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    @Inject(SERVICE_SECRETS) private readonly secrets: Pick<ServiceSecrets, 'peppers'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async list(caller: SessionPrincipal, query: ListAdminKeysQuery): Promise<CursorPage<AdminKeyRecord>> {
    const orgIds = query.org_id === undefined ? managed(caller) : [inOrg(caller, query.org_id).orgId];
    const page = await listAdminKeys(this.database.prisma, orgIds, query);
    return { ...page, data: page.data.map(toWire) };
  }

  /**
   * Returns the record and, once, the plaintext. Throws ApiError `forbidden` for an organization that the caller does
   * not manage, known or not, `validation_error`, `conflict` for one too many.
   */
  async create(
    caller: SessionPrincipal,
    body: CreateAdminKeyBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<CreatedAdminKey>> {
    const { orgId, accountId } = inOrg(caller, body.org_id);
    const secret = mintSecret('mak_', this.random);
    return this.changes.create(request, {
      accounts: [accountId],
      make: async (tx) => {
        // Here, because a repeat gets the first answer, also where it would be refused by now.
        refuseFaults('validation_error', expiryFaults(body.expires_at, this.clock.now()));
        const held = await tx.adminKey.count({ where: { org_id: orgId, revoked_at: null } });
        if (held >= KEYS_MAX)
          throw new ApiError('conflict', { message: `An organization has at most ${KEYS_MAX} admin keys.` });
        const row = await this.insert(tx, caller.userId, body, secret);
        const answer = { status: 201, body: { ...toWire(row), key: secret }, secretFields: ['key'] };
        return { answer, audit: keyAudit('admin_key.create', row, sentFields(body)) };
      },
    });
  }

  /**
   * Revokes the key, which is unknown from here on: 401. Throws ApiError `not_found` alike for unknown ones and those
   * of others, `forbidden` for a member.
   */
  async revoke(caller: SessionPrincipal, id: string, request: FastifyRequest): Promise<void> {
    const orgIds = caller.memberships.map(({ orgId }) => orgId);
    const where = { id, org_id: { in: orgIds }, revoked_at: null };
    const seen = await this.database.prisma.adminKey.findFirst({ where });
    if (seen === null) throw new ApiError('not_found');
    await this.changes.run(request, {
      accounts: [inOrg(caller, seen.org_id).accountId],
      make: async (tx): Promise<Changed<null>> => {
        const revoked_at = new Date(this.clock.now());
        const { count } = await tx.adminKey.updateMany({ where, data: { revoked_at } });
        if (count === 0) throw new ApiError('not_found');
        return { answer: null, audit: keyAudit('admin_key.revoke', seen, ['revoked_at']) };
      },
    });
  }

  private insert(tx: Tx, createdBy: string, body: CreateAdminKeyBody, secret: string): Promise<AdminKeyRow> {
    const [pepper] = this.secrets.peppers;
    return tx.adminKey.create({
      data: {
        id: newId('mak', this.clock, this.random),
        org_id: body.org_id,
        label: body.label,
        scopes: body.scopes,
        secret_hmac: pepperedDigest(pepper.key, secretDigest(secret)),
        pepper_version: pepper.version,
        masked_key: maskedSecret(secret),
        created_by: createdBy,
        expires_at: expiryOf(body.expires_at),
        created_at: new Date(this.clock.now()),
      },
    });
  }
}

/** Organizations whose admin keys a person sees. */
function managed({ memberships }: SessionPrincipal): string[] {
  return memberships.filter(({ role }) => ADMIN_KEY_RULE.roles.includes(role)).map(({ orgId }) => orgId);
}

/** Throws ApiError `forbidden` alike for an unknown organization, one of others, and a role that will not do. */
function inOrg(caller: SessionPrincipal, orgId: string): Membership {
  const membership = caller.memberships.find((candidate) => candidate.orgId === orgId);
  if (membership !== undefined && ADMIN_KEY_RULE.roles.includes(membership.role)) return membership;
  throw new ApiError('forbidden', {
    message: 'Only an owner or admin of the organization manages its admin keys.',
    param: 'org_id',
  });
}

function keyAudit(action: string, { id, org_id }: AdminKeyRow, changedFields: readonly string[]) {
  return { action, targetType: 'admin_key', targetId: id, orgId: org_id, changedFields };
}
