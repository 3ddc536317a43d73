import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  CatalogueNames,
  newId,
  type Clock,
  type CreateOrgBody,
  type ListOrgsQuery,
  type OrgRecord,
  type Random,
  type SessionPrincipal,
  type UpdateOrgBody,
  type CreateAnswer,
} from '@gateway/contracts';
import { CLOCK, pageOf, RANDOM, type Page, refuseFaults, sentFields } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { createAccount } from '../accounts/account.store.js';
import { limitColumns, tierOf } from '../accounts/scope-limits.js';
import { changedValues } from '../audit/changed-values.js';
import { refuseOneMoreOwned } from '../members/member.store.js';
import { refuseUnlisted } from '../names/unknown-names.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { limitsInUseFaults } from './limits-in-use.js';
import { KeysConfig } from '../keys.config.js';
import { defaultTier, newOrg, withDefaults } from './org-defaults.js';
import { StoredOrgDefaults } from './org-defaults.store.js';
import { orgFaults, requireFields } from './org.js';
import {
  closeOrg,
  findOrg,
  listOrgs,
  loggingColumns,
  promiseColumns,
  realtimeColumns,
  toWire,
  type OrgRow,
} from './org.store.js';

@Injectable()
export class OrgsService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly names: CatalogueNames,
    private readonly defaults: StoredOrgDefaults,
    private readonly config: KeysConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Returns the caller's organizations; a super admin's are all. */
  async list(caller: SessionPrincipal, query: ListOrgsQuery): Promise<Page<OrgRecord>> {
    const ids = caller.isSuperAdmin ? null : caller.memberships.map(({ orgId }) => orgId);
    const { rows, total } = await listOrgs(this.database.prisma, ids, query);
    return pageOf(rows.map(toWire), total, query);
  }

  async read(id: string): Promise<OrgRecord> {
    return toWire(await this.existing(this.database.prisma, id));
  }

  /** The caller becomes its owner. Throws ApiError `forbidden`, `validation_error`, `conflict` for one too many. */
  async create(
    caller: SessionPrincipal,
    body: CreateOrgBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<OrgRecord>> {
    requireFields(caller, body, null);
    const tier = defaultTier(this.config);
    const filled = withDefaults(body, { tier, ...(await this.defaults.read()) });
    refuseFaults('validation_error', orgFaults(filled, newOrg(tier)));
    await refuseUnlisted(this.names, body);
    // Their membership is new, so it is their account that changes.
    return this.changes.create(request, {
      accounts: [caller.accountId],
      make: async (tx) => {
        const row = await this.insert(tx, caller.userId, filled);
        return { ...orgChange('org.create', row, body), answer: { status: 201, body: { ...toWire(row) } } };
      },
    });
  }

  /** Throws ApiError `forbidden` for a field that is not the caller's to set, `validation_error`, `not_found`. */
  async update(
    caller: SessionPrincipal,
    id: string,
    body: UpdateOrgBody,
    request: FastifyRequest,
  ): Promise<OrgRecord> {
    requireFields(caller, body, id);
    const { account, ...stored } = await this.existing(this.database.prisma, id);
    if (account === null) throw new ApiError('not_found');
    await refuseUnlisted(this.names, body, async () => stored, id);
    return this.changes.run(request, {
      accounts: [account.id],
      make: async (tx) => {
        const current = await this.existing(tx, id);
        refuseFaults('validation_error', orgFaults(body, { ...current, tier: tierOf(current.tier) }));
        if (body.tier !== undefined)
          refuseFaults('validation_error', await limitsInUseFaults(tx, id, body.tier));
        if (sentFields(body).length === 0) return { answer: toWire(current), audit: null };
        const updated = await this.write(tx, current, body);
        return { ...orgChange('org.update', updated, body), values: changedValues(current, updated) };
      },
    });
  }

  /**
   * Its people leave it, its links and admin keys end; its ledger, usage and audit log stay. Throws ApiError `conflict`
   * while a key of it is active.
   */
  async remove(id: string, request: FastifyRequest): Promise<void> {
    const { account } = await this.existing(this.database.prisma, id);
    if (account === null) throw new ApiError('not_found');
    await this.changes.run(request, {
      accounts: [account.id],
      make: async (tx): Promise<Changed<null>> => {
        await this.existing(tx, id);
        if ((await tx.apiKey.count({ where: { org_id: id, status: 'active' } })) > 0)
          throw new ApiError('conflict', {
            message: 'A key of the organization is active: delete it first.',
          });
        await closeOrg(tx, id, new Date(this.clock.now()));
        const target = { targetType: 'org', targetId: id, orgId: id };
        return { answer: null, audit: { action: 'org.delete', ...target, changedFields: ['deleted_at'] } };
      },
    });
  }

  private async existing(tx: Tx, id: string): Promise<OrgRow> {
    const row = await findOrg(tx, id);
    if (row === null) throw new ApiError('not_found');
    return row;
  }

  private async insert(tx: Tx, ownerId: string, body: CreateOrgBody): Promise<OrgRow> {
    await refuseOneMoreOwned(tx, ownerId);
    const now = new Date(this.clock.now());
    const id = newId('org', this.clock, this.random);
    const { name, tier, default_api_version, credit_limit_usd } = body;
    await tx.org.create({
      data: {
        id,
        name,
        tier,
        default_api_version,
        ...limitColumns(body),
        ...realtimeColumns(body),
        ...loggingColumns(body),
        created_at: now,
        updated_at: now,
      },
    });
    const sources = { clock: this.clock, random: this.random };
    await createAccount(tx, { orgId: id }, sources, { credit_limit_usd });
    await tx.membership.create({ data: { org_id: id, user_id: ownerId, role: 'owner', created_at: now } });
    return this.existing(tx, id);
  }

  private async write(tx: Tx, current: OrgRow, body: UpdateOrgBody): Promise<OrgRow> {
    const { name, tier, default_api_version, credit_limit_usd } = body;
    const { id } = current;
    const updated_at = new Date(this.clock.now());
    await tx.org.update({
      where: { id },
      data: {
        name,
        tier,
        default_api_version,
        ...limitColumns(body),
        ...realtimeColumns(body),
        ...loggingColumns(body),
        ...promiseColumns(body, current, updated_at.getTime()),
        updated_at,
      },
    });
    if (credit_limit_usd !== undefined)
      await tx.account.update({ where: { org_id: id }, data: { credit_limit_usd } });
    return this.existing(tx, id);
  }
}

/** Returns the changed fields, and whether bodies are logged from now on: people look for that. */
function changedFields(body: UpdateOrgBody): string[] {
  const { enabled } = body.request_logging ?? {};
  return [
    ...sentFields(body),
    ...(enabled === undefined ? [] : [`request_logging.${enabled ? 'on' : 'off'}`]),
  ];
}

function orgChange(
  action: 'org.create' | 'org.update',
  row: OrgRow,
  body: UpdateOrgBody,
): Changed<OrgRecord> {
  const target = { targetType: 'org', targetId: row.id, orgId: row.id };
  return { answer: toWire(row), audit: { action, ...target, changedFields: changedFields(body) } };
}
