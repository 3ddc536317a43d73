import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  CatalogueNames,
  newId,
  type ApiKeyRecord,
  type Clock,
  type CreatedApiKey,
  type RotatedApiKey,
  type CreateKeyBody,
  type ErrorDetail,
  type Random,
  type UpdateKeyBody,
  type CreateAnswer,
} from '@gateway/contracts';
import type { LimitTier } from '@gateway/limits';
import {
  CLOCK,
  maskedSecret,
  mintSecret,
  RANDOM,
  secretDigest,
  refuseFaults,
  sentFields,
} from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import type { Manager } from '../accounts/manager.js';
import { tierOf } from '../accounts/scope-limits.js';
import { changedValues } from '../audit/changed-values.js';
import type { Prisma } from '../generated/prisma/client.js';
import { KeysConfig } from '../keys.config.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { pepperedDigest } from '../secrets/seal.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import { keyColumns } from './api-key-columns.js';
import { keyFaults } from './api-key.js';
import { findKey, toWire, type ApiKeyRow } from './api-key.store.js';
import { KeyReads } from './key-reads.service.js';
import { catalogueFaults } from './named-in-catalogue.js';

/** The account that pays for a key. */
interface Payer {
  accountId: string;
  orgId: string | null;
  /** null = any team of the org. */
  ownTeams: readonly string[] | null;
}

/** The facts by which a key's fields are judged, as they are behind the lock. */
interface Owner extends Payer {
  tier: LimitTier;
  defaultApiVersion: string | null;
}

type KeyChange = Changed<ApiKeyRow>;

/** Creates and changes keys. */
@Injectable()
export class KeyWrites {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly reads: KeyReads,
    private readonly names: CatalogueNames,
    private readonly config: KeysConfig,
    @Inject(SERVICE_SECRETS) private readonly secrets: ServiceSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /**
   * Returns the record and, once, the plaintext. Throws ApiError `forbidden` for an org that the caller is not in,
   * known or not; `validation_error`; `unprocessable_entity` for a team or template that is not of that org and for a
   * model or provider that nobody knows; `service_unavailable` where the catalogue could not be asked; `conflict`
   * for one key too many.
   */
  async create(
    caller: Manager,
    body: CreateKeyBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<CreatedApiKey>> {
    const payer = payerFor(caller, body.org_id ?? caller.homeOrgId);
    const secret = mintSecret('rsk_', this.random);
    const notice = payer.orgId === null ? await this.reads.emptyBalance(payer.accountId) : null;
    return this.changes.create(request, {
      accounts: [payer.accountId],
      ask: async () =>
        refuseFaults('unprocessable_entity', await catalogueFaults(this.names, body, {}, payer.orgId)),
      make: async (tx) => {
        const owner = await ownerFor(tx, payer);
        await this.check(tx, body, owner, null);
        await this.requireRoom(tx, payer.accountId);
        const row = await this.insert(tx, caller.userId, body, owner, secret);
        const answer = {
          status: 201,
          body: { ...toWire(row, '0'), key: secret, notice },
          secretFields: ['key'],
        };
        return { ...keyChange('api_key.create', row, sentFields(body), 'api_key.created'), answer };
      },
    });
  }

  /** Throws as `create`, and ApiError `not_found`. */
  async update(
    caller: Manager,
    id: string,
    body: UpdateKeyBody,
    request: FastifyRequest,
  ): Promise<ApiKeyRecord> {
    const stored = await this.existing(caller, id);
    refuseFaults(
      'unprocessable_entity',
      await catalogueFaults(this.names, body, toWire(stored, null), stored.org_id),
    );
    return this.change(caller, id, request, async (tx, row) => {
      const owner = await ownerFor(tx, payerFor(caller, row.org_id));
      await this.check(tx, body, owner, row);
      if (sentFields(body).length === 0) return { answer: row, audit: null };
      const updated = await this.write(tx, row, keyColumns(body));
      return keyChange('api_key.update', updated, sentFields(body));
    });
  }

  /** DELETE: the record stays. Suspending a suspended key changes nothing and notifies nobody. */
  async suspend(caller: Manager, id: string, request: FastifyRequest): Promise<ApiKeyRecord> {
    return this.change(caller, id, request, async (tx, row) => {
      if (row.status === 'suspended') return { answer: row, audit: null };
      const updated = await this.write(tx, row, { status: 'suspended' });
      return keyChange('api_key.suspend', updated, ['status'], 'api_key.revoked');
    });
  }

  async reactivate(caller: Manager, id: string, request: FastifyRequest): Promise<ApiKeyRecord> {
    return this.change(caller, id, request, async (tx, row) => {
      if (row.status === 'active') return { answer: row, audit: null };
      return keyChange('api_key.reactivate', await this.write(tx, row, { status: 'active' }), ['status']);
    });
  }

  /** A new secret for the same key. The old one lives for `graceSeconds`; the one before it ends now. */
  async rotate(
    caller: Manager,
    id: string,
    graceSeconds: number,
    request: FastifyRequest,
  ): Promise<RotatedApiKey> {
    const secret = mintSecret('rsk_', this.random);
    const record = await this.change(caller, id, request, async (tx, row) => {
      const updated = await this.write(tx, row, {
        ...this.secretColumns(secret),
        previous_secret_hmac: row.secret_hmac,
        previous_until: new Date(this.clock.now() + graceSeconds * 1000),
      });
      return keyChange('api_key.rotate', updated, ['key']);
    });
    return { ...record, key: secret };
  }

  /** Throws ApiError `not_found` alike for unknown keys and those of others. `work` gets the row behind the lock. */
  private async change(
    caller: Manager,
    id: string,
    request: FastifyRequest,
    work: (tx: Tx, row: ApiKeyRow) => Promise<KeyChange>,
  ): Promise<ApiKeyRecord> {
    const { account_id } = await this.existing(caller, id); // It never changes.
    const row = await this.changes.run(request, {
      accounts: [account_id],
      make: async (tx) => {
        const row = await tx.apiKey.findUniqueOrThrow({ where: { id, account_id } });
        if (row.org_id !== null && (await livingOrg(tx, row.org_id)) === null)
          throw new ApiError('not_found');
        const done = await work(tx, row);
        return { ...done, values: changedValues(row, done.answer) };
      },
    });
    return toWire(row, await this.reads.spentOrNull(row.id));
  }

  private async existing(caller: Manager, id: string): Promise<ApiKeyRow> {
    const row = await findKey(this.database.prisma, caller, id);
    if (row === null) throw new ApiError('not_found');
    return row;
  }

  private write(
    tx: Tx,
    { id, account_id }: ApiKeyRow,
    columns: Prisma.ApiKeyUncheckedUpdateInput,
  ): Promise<ApiKeyRow> {
    return tx.apiKey.update({ where: { id, account_id }, data: { ...columns, updated_at: this.now() } });
  }

  private async insert(
    tx: Tx,
    createdBy: string,
    body: CreateKeyBody,
    owner: Owner,
    secret: string,
  ): Promise<ApiKeyRow> {
    const now = this.now();
    const data = {
      ...keyColumns({
        ...body,
        model_limits: body.model_limits ?? {},
        request_tags: body.request_tags ?? {},
      }),
      id: newId('key', this.clock, this.random),
      account_id: owner.accountId,
      org_id: owner.orgId,
      created_by: createdBy,
      ...this.secretColumns(secret),
      // Resolved now: a later change of the org's default does not move this key.
      api_version: body.api_version === undefined ? owner.defaultApiVersion : body.api_version,
      created_at: now,
      updated_at: now,
    };
    return tx.apiKey.create({ data });
  }

  /** Checks behind the account's lock, so that many creates at once do not pass it together. */
  private async requireRoom(tx: Tx, accountId: string): Promise<void> {
    const most = this.config.KEYS_PER_ACCOUNT_MAX;
    if ((await tx.apiKey.count({ where: { account_id: accountId } })) < most) return;
    throw new ApiError('conflict', {
      message: `An account has at most ${most} keys, suspended ones included.`,
    });
  }

  private secretColumns(secret: string): { secret_hmac: string; pepper_version: number; masked_key: string } {
    const [pepper] = this.secrets.peppers;
    return {
      secret_hmac: pepperedDigest(pepper.key, secretDigest(secret)),
      pepper_version: pepper.version,
      masked_key: maskedSecret(secret),
    };
  }

  private async check(
    tx: Tx,
    body: CreateKeyBody | UpdateKeyBody,
    owner: Owner,
    row: ApiKeyRow | null,
  ): Promise<void> {
    const current = row && {
      hasPolicy: row.routing_policy !== null,
      hasTemplate: row.routing_policy_template_id !== null,
    };
    const context = { tier: owner.tier, orgId: owner.orgId, nowMs: this.clock.now(), current };
    refuseFaults('validation_error', keyFaults(body, context));
    refuseFaults('unprocessable_entity', await referenceFaults(tx, body, owner));
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

/** An org that does not exist answers like one that the caller is not in. */
function payerFor(caller: Manager, orgId: string | null): Payer {
  if (orgId === null) return { accountId: caller.accountId, orgId: null, ownTeams: null };
  const membership = caller.memberships.find((candidate) => candidate.orgId === orgId);
  if (membership === undefined) throw notMember();
  const ownTeams = membership.role === 'member' ? membership.teams : null;
  return { accountId: membership.accountId, orgId, ownTeams };
}

async function ownerFor(tx: Tx, payer: Payer): Promise<Owner> {
  if (payer.orgId === null) return { ...payer, tier: 'standard', defaultApiVersion: null };
  const org = await livingOrg(tx, payer.orgId);
  if (org === null) throw notMember();
  return { ...payer, tier: tierOf(org.tier), defaultApiVersion: org.default_api_version };
}

/** Null for one that was deleted while this change waited: its keys would be nobody's to end. */
function livingOrg(tx: Tx, id: string): Promise<{ tier: string; default_api_version: string | null } | null> {
  const select = { tier: true, default_api_version: true };
  return tx.org.findFirst({ where: { id, deleted_at: null }, select });
}

function notMember(): ApiError {
  return new ApiError('forbidden', {
    message: 'You are not a member of this organization.',
    param: 'org_id',
  });
}

function keyChange(
  action: string,
  row: ApiKeyRow,
  changedFields: string[],
  event?: 'api_key.created' | 'api_key.revoked',
): KeyChange {
  const { account_id, org_id, id: key_id, label, masked_key } = row;
  const audit = { action, targetType: 'api_key', targetId: key_id, orgId: org_id, changedFields };
  if (event === undefined) return { answer: row, audit };
  return {
    answer: row,
    audit,
    events: [{ type: event, account_id, org_id, data: { key_id, label, masked_key } }],
  };
}

/**
 * Returns faults of references: a body may name only things of the key's own org, and another org's id answers like an
 * unknown one.
 */
async function referenceFaults(tx: Tx, body: UpdateKeyBody, owner: Owner): Promise<ErrorDetail[]> {
  const faults: ErrorDetail[] = [];
  const { team_id: teamId, routing_policy_template_id: templateId } = body;
  if (teamId != null && owner.orgId !== null) {
    const isKnown = (await tx.team.count({ where: { id: teamId, org_id: owner.orgId } })) === 1;
    const isOpen = owner.ownTeams === null || owner.ownTeams.includes(teamId);
    if (!isKnown || !isOpen) faults.push(unknown('team_id', 'There is no such team of this organization.'));
  }
  if (templateId != null && owner.orgId !== null) {
    const isKnown =
      (await tx.routingPolicyTemplate.count({ where: { id: templateId, org_id: owner.orgId } })) === 1;
    if (!isKnown) {
      faults.push(unknown('routing_policy_template_id', 'There is no such template of this organization.'));
    }
  }
  return faults;
}

function unknown(field: string, msg: string): ErrorDetail {
  return { type: 'unknown_reference', loc: [field], msg };
}
