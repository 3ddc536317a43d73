import { Usd } from '@gateway/money';
import type { UsageRecord } from '@gateway/contracts';
import { spendScopes } from './scopes.js';
import { isCharged } from './charged.js';

export interface AccountChange {
  id: string;
  kind: 'customer' | 'provider' | 'revenue' | 'house';
  orgId: string | null;
  /** Added to posted. */
  delta: Usd;
}

interface TransferRow {
  id: string;
  kind: 'usage' | 'house' | 'unbilled';
  /** Unique with the kind; postings are unique by their events, so it is the transfer's own id. */
  source: string;
  debit: string;
  credit: string;
  amount: Usd;
}

interface ScopeSpend {
  accountId: string;
  scope: string;
  scopeId: string;
  amount: Usd;
}

interface HourSpend extends ScopeSpend {
  /** ISO 8601, the start of the UTC hour in which the units were asked for. */
  hour: string;
}

interface TotalSpend extends ScopeSpend {
  /** The part that is older than the 30-day window already. */
  lapsed: Usd;
}

/** The movements of a batch. Every list is in the order in which its rows are locked. */
export interface Posting {
  /** Customers. */
  accounts: AccountChange[];
  /** Every batch moves these rows: they are locked last, so that two batches wait for each other's commit alone. */
  system: AccountChange[];
  transfers: TransferRow[];
  hours: HourSpend[];
  totals: TotalSpend[];
}

export interface PostingContext {
  /** The usage transfer of each account, drawn before the events were written. */
  transferIds: ReadonlyMap<string, string>;
  platformTransferId: string;
  /** Ids of further transfers. */
  drawId: () => string;
  /** Start of the 30-day window, milliseconds since the epoch. */
  lapsedTo: number;
}

const HOUR_MS = 3_600_000;
const REVENUE = 'revenue';
const PLATFORM = 'house';

/** Sums of one account in a batch: its spend, and the part that the platform pays because billing was off. */
interface AccountSpend {
  change: AccountChange;
  spent: Usd;
  unbilled: Usd;
}

/**
 * One usage transfer per account, one for the platform, and the buckets of every scope. The platform gives an account back
 * what it spent while billing was off, so its balance stays. Pure.
 */
export function planPosting(units: readonly UsageRecord[], context: PostingContext): Posting {
  const accounts = new Map<string, AccountSpend>();
  const spends = new Map<string, Spend>();
  let platform = Usd.zero;
  for (const unit of units) {
    if (unit.attempts.some(({ house_usd }) => house_usd)) platform = platform.plus(platformCost(unit));
    const account = accounts.get(unit.account_id) ?? customer(unit);
    accounts.set(unit.account_id, account);
    if (!isCharged(unit)) continue;
    const cost = Usd.parse(unit.cost_usd ?? '0');
    account.spent = account.spent.plus(cost);
    if (unit.billing === 'off') account.unbilled = account.unbilled.plus(cost);
    addSpend(unit, cost, context.lapsedTo, spends);
  }
  const transfers: TransferRow[] = [];
  for (const { change, spent, unbilled } of accounts.values()) {
    const transferId = context.transferIds.get(change.id);
    if (spent.isZero() || transferId === undefined) continue;
    change.delta = unbilled.minus(spent);
    transfers.push(transferTo(REVENUE, { id: transferId, kind: 'usage', debit: change.id, amount: spent }));
    if (unbilled.isZero()) continue;
    const id = context.drawId();
    transfers.push(transferTo(change.id, { id, kind: 'unbilled', debit: PLATFORM, amount: unbilled }));
  }
  if (!platform.isZero())
    transfers.push(
      transferTo(REVENUE, {
        id: context.platformTransferId,
        kind: 'house',
        debit: PLATFORM,
        amount: platform,
      }),
    );
  return {
    accounts: [...accounts.values()].map(({ change }) => change).toSorted((a, b) => order(a.id, b.id)),
    system: systemAccounts(transfers),
    transfers,
    ...buckets(spends.values()),
  };
}

/** Returns the cost of a unit's failed attempts for the platform. */
export function platformCost(unit: Pick<UsageRecord, 'attempts'>): Usd {
  let sum = Usd.zero;
  for (const { house_usd } of unit.attempts) {
    if (house_usd !== null && house_usd !== undefined && !house_usd.startsWith('-'))
      sum = sum.plus(Usd.parse(house_usd));
  }
  return sum;
}

function customer(unit: UsageRecord): AccountSpend {
  const { account_id: id, org_id } = unit;
  const change: AccountChange = { id, kind: 'customer', orgId: org_id ?? null, delta: Usd.zero };
  return { change, spent: Usd.zero, unbilled: Usd.zero };
}

function transferTo(credit: string, row: Omit<TransferRow, 'source' | 'credit'>): TransferRow {
  return { ...row, source: row.id, credit };
}

function systemAccounts(transfers: readonly TransferRow[]): AccountChange[] {
  if (transfers.length === 0) return [];
  const sumOf = (rows: readonly TransferRow[]): Usd => Usd.sum(rows.map(({ amount }) => amount));
  const platform = sumOf(transfers.filter(({ debit }) => debit === PLATFORM));
  const revenue = sumOf(transfers.filter(({ credit }) => credit === REVENUE));
  const system: AccountChange[] = [{ id: REVENUE, kind: 'revenue', orgId: null, delta: revenue }];
  if (!platform.isZero()) system.unshift({ id: PLATFORM, kind: 'house', orgId: null, delta: platform.neg() });
  return system;
}

/** Sum of the units of the same scopes and hour: a busy key's units become one sum before they become six. */
interface Spend {
  unit: UsageRecord;
  hourMs: number;
  isLapsed: boolean;
  amount: Usd;
}

function addSpend(unit: UsageRecord, cost: Usd, lapsedTo: number, spends: Map<string, Spend>): void {
  const createdAt = Date.parse(unit.created_at);
  const hourMs = Math.floor(createdAt / HOUR_MS) * HOUR_MS;
  const isLapsed = createdAt < lapsedTo;
  const { account_id, key_id, team_id, member_id, org_id, model } = unit;
  const name = `${account_id}\n${key_id}\n${team_id}\n${member_id}\n${org_id}\n${model}\n${hourMs}\n${isLapsed}`;
  const known = spends.get(name);
  if (known) known.amount = known.amount.plus(cost);
  else spends.set(name, { unit, hourMs, isLapsed, amount: cost });
}

function buckets(spends: Iterable<Spend>): Pick<Posting, 'hours' | 'totals'> {
  const hours = new Map<string, HourSpend>();
  const totals = new Map<string, TotalSpend>();
  for (const { unit, hourMs, isLapsed, amount } of spends) {
    const accountId = unit.account_id;
    const hour = new Date(hourMs).toISOString();
    for (const { kind: scope, id: scopeId } of spendScopes(unit)) {
      const name = `${accountId}\n${scope}\n${scopeId}`;
      const total = totals.get(name) ?? { accountId, scope, scopeId, amount: Usd.zero, lapsed: Usd.zero };
      totals.set(name, total);
      total.amount = total.amount.plus(amount);
      if (isLapsed && scope !== 'key') total.lapsed = total.lapsed.plus(amount);
      // The spend of a key on one model has no window.
      if (scopeId.includes('/m:')) continue;
      const hourName = `${name}\n${hour}`;
      const spent = hours.get(hourName) ?? { accountId, scope, scopeId, hour, amount: Usd.zero };
      hours.set(hourName, spent);
      spent.amount = spent.amount.plus(amount);
    }
  }
  return { hours: sorted(hours), totals: sorted(totals) };
}

function sorted<T>(rows: ReadonlyMap<string, T>): T[] {
  return [...rows].toSorted(([a], [b]) => order(a, b)).map(([, row]) => row);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
