import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type ApiKeyRecord,
  type Clock,
  type CreatedApiKey,
  type CreateKeyBody,
  type ErrorDetail,
  type Random,
  type SessionPrincipal,
  type UpdateKeyBody,
} from '@gateway/contracts';
import type { LimitTier } from '@gateway/limits';
import { auditRow, type Created } from '@gateway/database';
import { CLOCK, maskedSecret, mintSecret, RANDOM, secretDigest } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { bumpAccount } from '../accounts/account.store.js';
import { VersionStamps } from '../accounts/version-stamps.js';
import { addAccountEvent } from '../events/account-events.js';
import { EventRelay } from '../events/event-relay.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { pepperedDigest } from '../secrets/seal.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import { keyColumns } from './api-key-columns.js';
import { keyFaults, sentFields } from './api-key.js';
import { findKey, toWire, type ApiKeyRow } from './api-key.store.js';
import { KeyReads } from './key-reads.service.js';

/** Who pays for a key, and what its fields are judged by. */
interface Owner {
  accountId: string;
  orgId: string | null;
  tier: LimitTier;
  defaultApiVersion: string | null;
  /** null = any team of the org. */
  ownTeams: readonly string[] | null;
}

/** Creates and changes keys: rule, row, audit, event and version in one transaction, then the stamp. */
@Injectable()
export class KeyWrites {
  constructor(
    private readonly database: KeysDatabase,
    private readonly stamps: VersionStamps,
    private readonly reads: KeyReads,
    private readonly events: EventRelay,
    @Inject(SERVICE_SECRETS) private readonly secrets: ServiceSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /**
   * Answers the record and, once, the plaintext. Throws ApiError `forbidden` for an org that the caller is not in,
   * known or not, `validation_error`, and
   * `unprocessable_entity` for a team or template that is not of that org.
   */
  async create(caller: SessionPrincipal, body: CreateKeyBody, request: FastifyRequest): Promise<Created> {
    const secret = mintSecret('rsk_', this.random);
    const { row, version } = await this.database.transaction(async (tx) => {
      const owner = await ownerFor(tx, caller, body.org_id ?? null);
      await this.check(tx, body, owner, null);
      const changedTo = await bumpAccount(tx, owner.accountId);
      const created = await this.insert(tx, caller.userId, body, owner, secret);
      await this.audit(tx, request, 'api_key.create', created, sentFields(body));
      await this.tell(tx, 'api_key.created', created);
      return { row: created, version: changedTo };
    });
    await this.stamps.stamp(row.account_id, version);
    this.events.nudge();
    return { status: 201, body: { ...toWire(row, '0'), key: secret }, secretFields: ['key'] };
  }

  async update(
    caller: SessionPrincipal,
    id: string,
    body: UpdateKeyBody,
    request: FastifyRequest,
  ): Promise<ApiKeyRecord> {
    return this.change(caller, id, async (tx, row) => {
      const owner = await ownerFor(tx, caller, row.org_id);
      await this.check(tx, body, owner, row);
      const data = { ...keyColumns(body), updated_at: this.now() };
      const updated = await tx.apiKey.update({ where: { id, account_id: row.account_id }, data });
      await this.audit(tx, request, 'api_key.update', updated, sentFields(body));
      return updated;
    });
  }

  /** DELETE: the record stays. Suspending a suspended key changes nothing and tells nobody. */
  async suspend(caller: SessionPrincipal, id: string, request: FastifyRequest): Promise<ApiKeyRecord> {
    return this.change(caller, id, async (tx, row) => {
      if (row.status === 'suspended') return null;
      const updated = await this.setStatus(tx, row, 'suspended');
      await this.audit(tx, request, 'api_key.suspend', updated, ['status']);
      await this.tell(tx, 'api_key.revoked', updated);
      return updated;
    });
  }

  async reactivate(caller: SessionPrincipal, id: string, request: FastifyRequest): Promise<ApiKeyRecord> {
    return this.change(caller, id, async (tx, row) => {
      if (row.status === 'active') return null;
      const updated = await this.setStatus(tx, row, 'active');
      await this.audit(tx, request, 'api_key.reactivate', updated, ['status']);
      return updated;
    });
  }

  /** A new secret for the same key. The old one lives for `graceSeconds`; the one before it ends now. */
  async rotate(
    caller: SessionPrincipal,
    id: string,
    graceSeconds: number,
    request: FastifyRequest,
  ): Promise<CreatedApiKey> {
    const secret = mintSecret('rsk_', this.random);
    const record = await this.change(caller, id, async (tx, row) => {
      const data = {
        ...this.secretColumns(secret),
        previous_secret_hmac: row.secret_hmac,
        previous_until: new Date(this.clock.now() + graceSeconds * 1000),
        updated_at: this.now(),
      };
      const updated = await tx.apiKey.update({ where: { id, account_id: row.account_id }, data });
      await this.audit(tx, request, 'api_key.rotate', updated, ['key']);
      return updated;
    });
    return { ...record, key: secret };
  }

  /** Throws ApiError `not_found` alike for unknown keys and those of others. `work` answers null for no change. */
  private async change(
    caller: SessionPrincipal,
    id: string,
    work: (tx: Tx, row: ApiKeyRow) => Promise<ApiKeyRow | null>,
  ): Promise<ApiKeyRecord> {
    const { row, version } = await this.database.transaction(async (tx) => {
      const seen = await findKey(tx, caller, id);
      if (seen === null) throw new ApiError('not_found');
      // The account's row is the lock: from here on nobody else changes a key of this account.
      const changedTo = await bumpAccount(tx, seen.account_id);
      const current = await tx.apiKey.findUniqueOrThrow({ where: { id, account_id: seen.account_id } });
      return { row: (await work(tx, current)) ?? current, version: changedTo };
    });
    await this.stamps.stamp(row.account_id, version);
    this.events.nudge();
    return toWire(row, await this.reads.spentOrNull(row.id));
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
      // Resolved now: a later change of the org's default does not move this key (spec, Versioning 4).
      api_version: body.api_version === undefined ? owner.defaultApiVersion : body.api_version,
      created_at: now,
      updated_at: now,
    };
    return tx.apiKey.create({ data });
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
    refuse('validation_error', keyFaults(body, context));
    refuse('unprocessable_entity', await referenceFaults(tx, body, owner));
  }

  private setStatus(tx: Tx, row: ApiKeyRow, status: 'active' | 'suspended'): Promise<ApiKeyRow> {
    const where = { id: row.id, account_id: row.account_id };
    return tx.apiKey.update({ where, data: { status, updated_at: this.now() } });
  }

  private async audit(
    tx: Tx,
    request: FastifyRequest,
    action: string,
    row: ApiKeyRow,
    changedFields: string[],
  ): Promise<void> {
    const write = { action, targetType: 'api_key', targetId: row.id, orgId: row.org_id, changedFields };
    await tx.auditLog.create({ data: auditRow(request, write, { clock: this.clock, random: this.random }) });
  }

  private tell(tx: Tx, type: 'api_key.created' | 'api_key.revoked', row: ApiKeyRow): Promise<void> {
    const data = { key_id: row.id, label: row.label, masked_key: row.masked_key };
    const event = { type, account_id: row.account_id, org_id: row.org_id, data };
    return addAccountEvent(tx, event, { clock: this.clock, random: this.random });
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

function refuse(code: 'validation_error' | 'unprocessable_entity', details: ErrorDetail[]): void {
  const [first] = details;
  if (first === undefined) return;
  throw new ApiError(code, { message: `${first.loc.join('.')}: ${first.msg}`, details });
}

/** An org that does not exist answers like one that the caller is not in. */
async function ownerFor(tx: Tx, caller: SessionPrincipal, orgId: string | null): Promise<Owner> {
  if (orgId === null) {
    const { accountId } = caller;
    return { accountId, orgId: null, tier: 'standard', defaultApiVersion: null, ownTeams: null };
  }
  const membership = caller.memberships.find((candidate) => candidate.orgId === orgId);
  if (membership === undefined) {
    throw new ApiError('forbidden', {
      message: 'You are not a member of this organization.',
      param: 'org_id',
    });
  }
  const org = await tx.org.findUniqueOrThrow({
    where: { id: orgId },
    select: { tier: true, default_api_version: true },
  });
  return {
    accountId: membership.accountId,
    orgId,
    tier: tierOf(org.tier),
    defaultApiVersion: org.default_api_version,
    ownTeams: membership.role === 'member' ? membership.teams : null,
  };
}

function tierOf(text: string): LimitTier {
  return text === 'enterprise' || text === 'platform' ? text : 'standard';
}

/** What a body names must be of the key's own org; another org's id answers like an unknown one. */
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
