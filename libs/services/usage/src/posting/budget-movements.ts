import {
  providerAccount,
  type BudgetReading,
  type Clock,
  type Random,
  type UsageRecord,
} from '@gateway/contracts';
import { accountEventRow, type OutboxRow } from '@gateway/event-log';
import { settledNano, Usd } from '@gateway/money';
import type pg from 'pg';
import { arrayLiteral } from '../postgres/array-literal.js';
import { isCharged } from './charged.js';
import { PERIOD_SPENT, periodColumns } from './period-scopes.js';

interface Counted extends BudgetReading {
  accountId: string;
  orgId: string | null;
  createdAt: string;
}

/**
 * Spend of the periods that a posting raised, of budgets that have reached a threshold. The posting has locked their accounts and
 * written its events and hours, so each sum is what its commit leaves, whichever service posts next.
 */
export async function budgetMovements(
  client: pg.PoolClient,
  fresh: readonly UsageRecord[],
  sources: { clock: Clock; random: Random },
  isWanted: (budget: BudgetReading) => boolean,
): Promise<OutboxRow[]> {
  const budgets = [...countedOn(fresh, isWanted).values()];
  if (budgets.length === 0) return [];
  const nowMs = sources.clock.now();
  const { spent, startsAt } = await spentOf(client, budgets, nowMs);
  return budgets.flatMap((budget, index) => {
    const { accountId: account_id, orgId: org_id, end_ms } = budget;
    const { budget_id, name, scope, amount_usd } = budget;
    // No event names an end user.
    const scope_id = scope === 'end_user' ? budget_id : budget.scope_id;
    const spent_usd = spent[index];
    // The spend of a tag, an end user or a provider is still to be summed: the next posting tells.
    if (spent_usd === null) return [];
    const thresholds_pct = budget.thresholds_pct.filter(
      (pct) => settledNano(spent_usd) * 100n >= settledNano(amount_usd) * BigInt(pct),
    );
    if (thresholds_pct.length === 0) return [];
    const data = {
      ...{ budget_id, name, scope, scope_id, thresholds_pct },
      ...{ spent_usd, amount_usd },
      period_start: (startsAt[index] ?? new Date(nowMs)).toISOString(),
      period_end: end_ms === null ? null : new Date(end_ms).toISOString(),
    };
    return [accountEventRow({ type: 'budget.movement', account_id, org_id, data }, '/usage', sources)];
  });
}

/** True of a budget of a provider: its spend is posted after that of customers. */
export function ofProviders({ scope }: Pick<BudgetReading, 'scope'>): boolean {
  return scope === 'provider';
}

export function ofCustomers(budget: Pick<BudgetReading, 'scope'>): boolean {
  return !ofProviders(budget);
}

/** Budgets by id and period, each as the newest unit saw it. */
function countedOn(
  fresh: readonly UsageRecord[],
  isWanted: (budget: BudgetReading) => boolean,
): Map<string, Counted> {
  const counted = new Map<string, Counted>();
  for (const unit of fresh) {
    if (unit.budgets === undefined) continue;
    const { created_at: createdAt } = unit;
    for (const budget of unit.budgets.filter(isWanted)) {
      const isOfProvider = ofProviders(budget);
      // A failed attempt costs the platform what the customer does not pay.
      if (!isOfProvider && !isCharged(unit)) continue;
      const accountId = isOfProvider ? providerAccount(budget.scope_id) : unit.account_id;
      const orgId = isOfProvider ? null : (unit.org_id ?? null);
      const name = `${budget.budget_id}/${budget.start_ms}-${budget.rolling_days}`;
      const known = counted.get(name);
      if (known !== undefined && known.createdAt >= createdAt) continue;
      counted.set(name, { ...budget, accountId, orgId, createdAt });
    }
  }
  return counted;
}

async function spentOf(
  client: pg.PoolClient,
  budgets: readonly Counted[],
  nowMs: number,
): Promise<{ spent: (string | null)[]; startsAt: (Date | null)[] }> {
  const { scopeIds, startsAt, hoursFrom, hoursTo, endsAt } = periodColumns(
    budgets.map(({ scope_id, start_ms, end_ms, rolling_days }) => ({
      id: `${scope_id}/b:${rolling_days === undefined ? `${start_ms}-${end_ms}` : `r${rolling_days}`}`,
    })),
    nowMs,
  );
  const { rows } = await client.query<{ spent: string | null }>({
    name: 'spent-of-budgets',
    text: `SELECT ${PERIOD_SPENT}::text AS spent
      FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
        WITH ORDINALITY AS w(account_id, scope, scope_id, starts_at, hours_from, hours_to, ends_at, n)
      ORDER BY w.n`,
    values: [
      arrayLiteral(budgets.map(({ accountId }) => accountId)),
      arrayLiteral(budgets.map(({ scope }) => scope)),
      arrayLiteral(scopeIds),
      ...[startsAt, hoursFrom, hoursTo, endsAt],
    ],
  });
  return { spent: rows.map(({ spent }) => spent && Usd.parse(spent).toString()), startsAt };
}
