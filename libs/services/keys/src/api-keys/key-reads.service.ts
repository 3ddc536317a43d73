import { Inject, Injectable } from '@nestjs/common';
import { SUPPORTED_VERSIONS } from '@gateway/api-version';
import {
  ApiError,
  LimitStore,
  type AccountState,
  type ApiKeyRecord,
  type Clock,
  Funds,
  type KeyFilterOptions,
  type KeyFilterOptionsQuery,
  type KeyLimitsRecord,
  type KeyPrincipal,
  type ListKeysQuery,
  type OwnKeyRecord,
  type PeriodBudgetRecord,
  type ScopeKind,
  type ScopeLimits,
} from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { CLOCK, pageOf, type Page } from '@gateway/platform';
import type { Manager } from '../accounts/manager.js';
import { BudgetUse } from '../budgets/budget-use.js';
import { budgetToWire, grantOf, leftOf, tightestBudget } from '../budgets/budget-wire.js';
import { KeysConfig } from '../keys.config.js';
import { KeysDatabase } from '../postgres/keys-database.js';
import { findKeyById, isOwn, limitsOf, type KeyRow } from '../principals/principal.store.js';
import { findKey, listKeys, toWire } from './api-key.store.js';
import { filterValues } from './filter-values.js';
import { keyLimitsRecord } from './key-limits.js';

const EMPTY =
  'The balance of your own account is empty, so requests with this key are refused (402 spend_limit_exceeded). Add credit by card or coupon, ask a super admin for it, or make the key in an organization (org_id).';

/** Reads of keys, with the spend that the ledger knows. */
@Injectable()
export class KeyReads {
  constructor(
    private readonly database: KeysDatabase,
    private readonly limits: LimitStore,
    private readonly funds: Funds,
    private readonly config: KeysConfig,
    private readonly use: BudgetUse,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** One question to the ledger for the whole page. Throws ApiError `service_unavailable` where it has no answer. */
  async list(caller: Manager, query: ListKeysQuery): Promise<Page<ApiKeyRecord>> {
    const { rows, total } = await listKeys(this.database.prisma, caller, query);
    const spent = await this.spent(
      rows.map(({ id }) => ({ kind: 'key', id })),
      null,
    );
    return pageOf(
      rows.map((row, index) => toWire(row, spent[index])),
      total,
      query,
    );
  }

  async filterOptions(caller: Manager, query: KeyFilterOptionsQuery): Promise<KeyFilterOptions> {
    const { api_versions: used, ...values } = await filterValues(this.database.prisma, caller, query);
    const apiVersions = [...new Set([...SUPPORTED_VERSIONS, ...used])].sort();
    return { ...values, statuses: ['active', 'suspended'], api_versions: apiVersions };
  }

  /** Throws ApiError `not_found` alike for unknown keys and those of others. */
  async one(caller: Manager, id: string): Promise<ApiKeyRecord> {
    const key = await findKey(this.database.prisma, caller, id);
    if (key === null) throw new ApiError('not_found');
    const [spent] = await this.spent([{ kind: 'key', id }], key.account_id);
    return toWire(key, spent);
  }

  /** Throws ApiError `not_found` alike for unknown keys and those of others. */
  async keyLimits(caller: Manager, id: string): Promise<KeyLimitsRecord> {
    const key = await findKey(this.database.prisma, caller, id);
    const row = key === null ? null : await findKeyById(this.database.pool, key.account_id, id);
    if (row === null) throw new ApiError('not_found');
    const record = keyLimitsRecord(row, await this.spent(limitsOf(row), row.account_id));
    const budgets = await this.budgetsOf(row);
    return { ...record, binding: { ...record.binding, budget: tightestBudget(budgets) }, budgets };
  }

  /**
   * The key of this very request. It answers also while the ledger or the limit store is away, with null for what
   * they would know. Spend of the scopes above the key is not shown to it.
   */
  async own(caller: KeyPrincipal): Promise<OwnKeyRecord> {
    const { prisma, pool } = this.database;
    const [key, row] = await Promise.all([
      prisma.apiKey.findFirst({ where: { id: caller.keyId, account_id: caller.accountId } }),
      findKeyById(pool, caller.accountId, caller.keyId),
    ]);
    if (key === null || row === null) throw new ApiError('unauthorized');
    const spent = await this.spentOrNull(key.id);
    return {
      ...toWire(key, spent),
      limits: keyLimitsRecord(row, [spent]),
      remaining: await this.remaining(row),
    };
  }

  /** Says that a person's own balance is empty, and how it is filled. null where it is not, and where nobody can say. */
  async emptyBalance(accountId: string): Promise<string | null> {
    if (this.config.BILLING === 'off') return null;
    const balance = await this.funds.balance(accountId).catch(() => null);
    return balance === null || Usd.parse(balance).isPositive() ? null : EMPTY;
  }

  /** Returns the spend for the answer of a committed write: null where the ledger cannot be asked. */
  async spentOrNull(keyId: string): Promise<string | null> {
    try {
      const [spent] = await this.spent([{ kind: 'key', id: keyId }], null);
      return spent;
    } catch (failure) {
      if (failure instanceof ApiError && failure.code === 'service_unavailable') return null;
      throw failure;
    }
  }

  private async budgetsOf({ account_id, budgets }: KeyRow): Promise<PeriodBudgetRecord[]> {
    if (budgets === null) return [];
    const id = { in: budgets.filter(isOwn).map((budget) => budget.id) };
    const rows = await this.database.prisma.budget.findMany({ where: { id }, orderBy: { id: 'asc' } });
    const nowMs = this.clock.now();
    const uses = await this.use.of(account_id, rows.map(grantOf), nowMs);
    return rows.map((row, index) => budgetToWire(row, uses[index], nowMs));
  }

  private async spent(
    scopes: { kind: ScopeKind; id: string }[],
    accountId: string | null,
  ): Promise<string[]> {
    if (scopes.length === 0) return [];
    return this.funds.spent(
      scopes.map(({ kind, id }) => ({ kind, id })),
      accountId,
    );
  }

  private async remaining(row: KeyRow): Promise<OwnKeyRecord['remaining']> {
    const limits = limitsOf(row);
    const [key] = limits;
    const scopes = limits.map(({ kind, id }) => ({ kind, id }));
    const [state, spent] = await Promise.all([
      this.limits.read(row.account_id, scopes).catch(() => null),
      this.spent(scopes, row.account_id).catch(() => null),
    ]);
    const counters = state?.scopes.find((scope) => scope.kind === 'key' && scope.id === row.id);
    const left = (limit: number | null, used: number | undefined): number | null =>
      limit === null || used === undefined ? null : Math.max(0, limit - used);
    return {
      rpm: left(key.rpm, counters?.rpm),
      rpd: left(key.rpd, counters?.rpd),
      // A default is display only: nothing is used up.
      tpm: key.isDefault.tpm ? null : left(key.tpm, counters?.tpm),
      spend_usd:
        state === null || spent === null ? null : leastLeft(limits, state, spent, await this.budgetsOf(row)),
    };
  }
}

/**
 * Returns the rest under every cap that the next request has to pass, the key's own and those above; null where there
 * is none.
 */
function leastLeft(
  limits: readonly ScopeLimits[],
  { scopes }: AccountState,
  spent: readonly string[],
  budgets: readonly PeriodBudgetRecord[],
): string | null {
  const ofCaps = limits.flatMap(({ kind, id, spendCapUsd }, index) => {
    const counted = scopes.find((scope) => scope.kind === kind && scope.id === id);
    if (spendCapUsd === null || counted === undefined) return [];
    const held = Usd.fromNano(counted.reservedNano + counted.unpostedNano);
    return [Usd.parse(spendCapUsd).minus(Usd.parse(spent[index])).minus(held)];
  });
  const left = [...ofCaps, ...budgets.flatMap((budget) => (budget.is_hard ? (leftOf(budget) ?? []) : []))];
  if (left.length === 0) return null;
  const least = left.reduce((one, other) => (other.compare(one) < 0 ? other : one));
  return (least.isNegative() ? Usd.zero : least).toString();
}
