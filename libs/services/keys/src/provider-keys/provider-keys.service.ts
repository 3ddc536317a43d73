import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  CatalogueNames,
  newId,
  type Clock,
  type CreateProviderKeyBody,
  type ListProviderKeysQuery,
  type ProviderKeyRecord,
  type ProviderKeyTest,
  type Random,
  type SessionPrincipal,
  type UpdateProviderKeyBody,
  type CreateAnswer,
} from '@gateway/contracts';
import { CLOCK, pageOf, RANDOM, type Page, refuseFaults, sentFields } from '@gateway/platform';
import { readCredentials } from '@gateway/providers';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { ledAccount } from '../accounts/led-account.js';
import { Prisma } from '../generated/prisma/client.js';
import { nullableJson, plainJson, storedJson } from '../postgres/columns.js';
import { refuseUnlisted } from '../names/unknown-names.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { CredentialChecks } from './credential-checks.js';
import { contextOf, ProviderKeySecrets, type SealedRow } from './provider-key-secrets.js';
import {
  findProviderKey,
  listProviderKeys,
  PROVIDER_KEY_RULE,
  toWire,
  type ProviderKeyRow,
} from './provider-key.store.js';

/** They travel with every principal of the account, so their number is bounded. */
const KEYS_MAX = 50;

/** Creates, changes and deletes provider keys. What a caller sent as credentials is never answered. */
@Injectable()
export class ProviderKeysService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly names: CatalogueNames,
    private readonly secrets: ProviderKeySecrets,
    private readonly checks: CredentialChecks,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async list(caller: SessionPrincipal, query: ListProviderKeysQuery): Promise<Page<ProviderKeyRecord>> {
    const { rows, total } = await listProviderKeys(this.database.prisma, caller, query);
    return pageOf(rows.map(toWire), total, query);
  }

  /** Throws ApiError `not_found` alike for unknown keys and those of others. */
  async read(caller: SessionPrincipal, id: string): Promise<ProviderKeyRecord> {
    return toWire(await this.existing(caller, id));
  }

  /** Calls the provider with the credential, enabled or not; nothing of it is written. */
  async test(caller: SessionPrincipal, id: string): Promise<ProviderKeyTest> {
    const row = await this.existing(caller, id);
    return this.checks.check(row.provider, this.secrets.open(row, contextOf(row)));
  }

  /** Throws ApiError `forbidden` for an org that the caller does not lead, `validation_error`, `conflict`. */
  async create(
    caller: SessionPrincipal,
    body: CreateProviderKeyBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<ProviderKeyRecord>> {
    const { accountId, orgId } = ledAccount(caller, body.org_id ?? null, PROVIDER_KEY_RULE);
    const id = newId('pk', this.clock, this.random);
    const sealed = this.sealed(body.credentials, {
      id,
      account_id: accountId,
      provider: this.knownProvider(body.provider),
      version: 1,
    });
    await refuseUnlisted(this.names, body);
    return this.changes.create(request, {
      accounts: [accountId],
      make: async (tx) => {
        if ((await tx.providerKey.count({ where: { account_id: accountId } })) >= KEYS_MAX)
          throw new ApiError('conflict', { message: `An account has at most ${KEYS_MAX} provider keys.` });
        const now = new Date(this.clock.now());
        const row = await tx.providerKey.create({
          data: {
            ...columns(body),
            ...sealed,
            org_id: orgId,
            created_by: caller.userId,
            created_at: now,
            updated_at: now,
          },
        });
        const changed = keyChange('provider_key.create', row, sentFields(body), 'provider_key.added');
        return { ...changed, answer: { status: 201, body: { ...changed.answer } } };
      },
    });
  }

  async update(
    caller: SessionPrincipal,
    id: string,
    body: UpdateProviderKeyBody,
    request: FastifyRequest,
  ): Promise<ProviderKeyRecord> {
    await refuseUnlisted(this.names, body, () => this.existing(caller, id));
    return this.change(caller, id, request, async (tx, row) => {
      const fields = sentFields(body);
      if (fields.length === 0) return { answer: toWire(row), audit: null };
      const sealed =
        body.credentials === undefined
          ? {}
          : {
              ...this.sealed(body.credentials, { ...row, version: row.version + 1 }),
              last_error: Prisma.DbNull,
            };
      const data = { ...columns(body), ...sealed, updated_at: new Date(this.clock.now()) };
      const where = { id, account_id: row.account_id };
      return keyChange('provider_key.update', await tx.providerKey.update({ where, data }), fields);
    });
  }

  /** The row goes, and with it the data key: what a backup of the row holds stays sealed. */
  async remove(caller: SessionPrincipal, id: string, request: FastifyRequest): Promise<void> {
    await this.change(caller, id, request, async (tx, row) => {
      await tx.providerKey.delete({ where: { id, account_id: row.account_id } });
      const { account_id, org_id, provider, label } = row;
      const announced = plainJson(storedJson<object>(row.announced));
      const removed_at = new Date(this.clock.now());
      const data = { id, account_id, org_id, provider, label, announced, removed_at };
      await tx.removedProviderKey.create({ data });
      return keyChange('provider_key.delete', row, [], 'provider_key.removed');
    });
  }

  async existing(caller: SessionPrincipal, id: string): Promise<ProviderKeyRow> {
    const row = await findProviderKey(this.database.prisma, caller, id);
    if (row === null) throw new ApiError('not_found');
    return row;
  }

  /** `work` gets the row behind the lock. */
  private async change(
    caller: SessionPrincipal,
    id: string,
    request: FastifyRequest,
    work: (tx: Tx, row: ProviderKeyRow) => Promise<Changed<ProviderKeyRecord>>,
  ): Promise<ProviderKeyRecord> {
    const { account_id } = await this.existing(caller, id); // It never changes.
    return this.changes.run(request, {
      accounts: [account_id],
      make: async (tx) => {
        const row = await tx.providerKey.findFirst({ where: { id, account_id } });
        if (row === null) throw new ApiError('not_found');
        return work(tx, row);
      },
    });
  }

  private knownProvider(slug: string): string {
    const msg = `The gateway has no provider ${slug} that takes keys.`;
    if (!this.checks.knows(slug))
      refuseFaults('validation_error', [{ type: 'value_error', loc: ['provider'], msg }]);
    return slug;
  }

  /** The columns of credentials. Throws ApiError `validation_error` that names the members and shows none. */
  private sealed(sent: unknown, { id, account_id, provider, version }: SealedRow) {
    const read = readCredentials(provider, sent);
    if (Array.isArray(read)) {
      refuseFaults('validation_error', read);
      throw new TypeError('credentials without a fault');
    }
    const row = { id, account_id, provider, version };
    return { ...row, masked_credential: read.masked, ...this.secrets.seal(read.credential, contextOf(row)) };
  }
}

function columns(body: UpdateProviderKeyBody) {
  const { label, allowed_models, allow_platform_fallback, is_enabled } = body;
  return { label, allowed_models: nullableJson(allowed_models), allow_platform_fallback, is_enabled };
}

function keyChange(
  action: string,
  row: ProviderKeyRow,
  changedFields: string[],
  event?: 'provider_key.added' | 'provider_key.removed',
): Changed<ProviderKeyRecord> {
  const { id, account_id, org_id, provider, label } = row;
  const audit = { action, targetType: 'provider_key', targetId: id, orgId: org_id, changedFields };
  const data = { pk_id: id, provider, label };
  const events = event === undefined ? [] : [{ type: event, account_id, org_id, data }];
  return { answer: toWire(row), audit, events };
}
