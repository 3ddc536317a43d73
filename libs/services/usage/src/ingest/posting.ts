import { Usd } from '@gateway/money';
import type { UsageRecord } from '@gateway/contracts';
import { spendScopes } from './scopes.js';

export interface AccountChange {
  id: string;
  kind: 'customer' | 'revenue' | 'house';
  orgId: string | null;
  /** Added to posted. */
  delta: Usd;
}

export interface TransferRow {
  id: string;
  kind: 'usage' | 'house';
  /** Unique with the kind; postings are unique by their events, so it is the transfer's own id. */
  source: string;
  debit: string;
  credit: string;
  amount: Usd;
}

export interface ScopeSpend {
  accountId: string;
  scope: string;
  scopeId: string;
  amount: Usd;
}

export interface HourSpend extends ScopeSpend {
  /** ISO 8601, the start of the UTC hour in which the units were asked for. */
  hour: string;
}

export interface TotalSpend extends ScopeSpend {
  /** The part that is older than the 30-day window already. */
  lapsed: Usd;
}

/** What a batch moves. Every list is in the order in which its rows are locked. */
export interface Posting {
  accounts: AccountChange[];
  transfers: TransferRow[];
  hours: HourSpend[];
  totals: TotalSpend[];
}

export interface PostingContext {
  /** The usage transfer of each account, drawn before the events were written. */
  transferIds: ReadonlyMap<string, string>;
  houseTransferId: string;
  /** Start of the 30-day window, milliseconds since the epoch. */
  lapsedTo: number;
}

const HOUR_MS = 3_600_000;
export const REVENUE = 'revenue';
export const HOUSE = 'house';

/** One usage transfer per account, one for the house, and the buckets of every scope. Pure. */
export function planPosting(units: readonly UsageRecord[], context: PostingContext): Posting {
  const accounts = new Map<string, AccountChange>();
  const hours = new Map<string, HourSpend>();
  const totals = new Map<string, TotalSpend>();
  let house = Usd.zero;
  for (const unit of units) {
    const cost = unit.cost_usd ? Usd.parse(unit.cost_usd) : Usd.zero;
    house = house.plus(houseCost(unit));
    const account = accounts.get(unit.account_id) ?? customer(unit);
    accounts.set(unit.account_id, { ...account, delta: account.delta.minus(cost) });
    if (!cost.isZero()) addSpend(unit, cost, context.lapsedTo, hours, totals);
  }
  const transfers: TransferRow[] = [];
  for (const { id, delta } of accounts.values()) {
    const transferId = context.transferIds.get(id);
    if (delta.isZero() || transferId === undefined) continue;
    transfers.push(transferTo(REVENUE, { id: transferId, kind: 'usage', debit: id, amount: delta.neg() }));
  }
  if (!house.isZero())
    transfers.push(
      transferTo(REVENUE, { id: context.houseTransferId, kind: 'house', debit: HOUSE, amount: house }),
    );
  return {
    accounts: withSystemAccounts([...accounts.values()], transfers, house).toSorted((a, b) =>
      order(a.id, b.id),
    ),
    transfers,
    hours: sorted(hours),
    totals: sorted(totals),
  };
}

/** What the failed attempts of a unit cost the house. */
export function houseCost(unit: Pick<UsageRecord, 'attempts'>): Usd {
  let sum = Usd.zero;
  for (const { house_usd } of unit.attempts) {
    if (house_usd !== null && house_usd !== undefined && !house_usd.startsWith('-'))
      sum = sum.plus(Usd.parse(house_usd));
  }
  return sum;
}

function customer(unit: UsageRecord): AccountChange {
  return { id: unit.account_id, kind: 'customer', orgId: unit.org_id ?? null, delta: Usd.zero };
}

function transferTo(credit: string, row: Omit<TransferRow, 'source' | 'credit'>): TransferRow {
  return { ...row, source: row.id, credit };
}

function withSystemAccounts(
  customers: AccountChange[],
  transfers: readonly TransferRow[],
  house: Usd,
): AccountChange[] {
  if (transfers.length === 0) return customers;
  const revenue = Usd.sum(transfers.map((transfer) => transfer.amount));
  const system: AccountChange[] = [{ id: REVENUE, kind: 'revenue', orgId: null, delta: revenue }];
  if (!house.isZero()) system.push({ id: HOUSE, kind: 'house', orgId: null, delta: house.neg() });
  return [...customers, ...system];
}

function addSpend(
  unit: UsageRecord,
  cost: Usd,
  lapsedTo: number,
  hours: Map<string, HourSpend>,
  totals: Map<string, TotalSpend>,
): void {
  const createdAt = Date.parse(unit.created_at);
  const hour = new Date(Math.floor(createdAt / HOUR_MS) * HOUR_MS).toISOString();
  for (const { kind: scope, id: scopeId } of spendScopes(unit)) {
    const name = `${unit.account_id}\n${scope}\n${scopeId}`;
    const isLapsed = scope !== 'key' && createdAt < lapsedTo;
    const total = totals.get(name);
    totals.set(name, {
      accountId: unit.account_id,
      scope,
      scopeId,
      amount: cost.plus(total?.amount ?? Usd.zero),
      lapsed: (isLapsed ? cost : Usd.zero).plus(total?.lapsed ?? Usd.zero),
    });
    // The spend of a key on one model has no window.
    if (scopeId.includes('/m:')) continue;
    const hourName = `${name}\n${hour}`;
    const amount = cost.plus(hours.get(hourName)?.amount ?? Usd.zero);
    hours.set(hourName, { accountId: unit.account_id, scope, scopeId, hour, amount });
  }
}

function sorted<T>(rows: ReadonlyMap<string, T>): T[] {
  return [...rows].toSorted(([a], [b]) => order(a, b)).map(([, row]) => row);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
