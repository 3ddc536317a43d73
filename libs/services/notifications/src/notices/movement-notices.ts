import type { AccountEvent } from '@gateway/contracts';
import { settledNano } from '@gateway/money';
import { scopeFields, type Notice, type Repetition, type ThresholdsOf } from './notice.js';

const PCT_UNITS = 10_000;

/**
 * Rungs that a movement of the ledger has crossed. Movements of one balance or key are a chain without gaps. So each
 * crossing is in exactly one of them, in whatever order and however often they come.
 */
export function movementNotices(event: AccountEvent, thresholds: ThresholdsOf): Notice[] {
  if (event.org_id == null) return [];
  if (isA(event, 'balance.movement')) return balanceNotices(event, event.org_id, thresholds);
  if (isA(event, 'budget.movement'))
    return [...budgetNotices(event, event.org_id), ...nearCapNotices(event, event.org_id, thresholds)];
  return isA(event, 'spend.movement') ? spendNotices(event, event.org_id, thresholds) : [];
}

function balanceNotices(
  { id, created_at, data }: AccountEvent<'balance.movement'>,
  orgId: string,
  thresholds: ThresholdsOf,
): Notice[] {
  const { balance_before, balance_after } = data;
  const [before, after] = [settledNano(balance_before), settledNano(balance_after)];
  const base = { orgId, atMs: Date.parse(created_at), repetition: null };
  const low = thresholds(orgId, 'balance.low').flatMap((threshold) => {
    const floor = settledNano(threshold);
    if (before < floor || after >= floor) return [];
    const sourceKey = `balance.low/${id}/${threshold}`;
    return [
      { ...base, sourceKey, type: 'balance.low' as const, data: { balance_usd: balance_after }, threshold },
    ];
  });
  if (before <= 0n || after > 0n) return low;
  const data_ = { balance_usd: balance_after, balance_before };
  const depleted = { ...base, type: 'balance.depleted' as const, data: data_, threshold: null };
  return [...low, { ...depleted, sourceKey: `balance.depleted/${id}` }];
}

function spendNotices(
  { id, created_at, data }: AccountEvent<'spend.movement'>,
  orgId: string,
  thresholds: ThresholdsOf,
): Notice[] {
  const { key_id, spent_before, spent_after, cap_usd } = data;
  const [before, after, cap] = [settledNano(spent_before), settledNano(spent_after), settledNano(cap_usd)];
  return thresholds(orgId, 'spend_cap.approaching').flatMap((threshold) => {
    const limit = cap * pctUnits(threshold);
    const whole = BigInt(100 * PCT_UNITS);
    if (before * whole >= limit || after * whole < limit) return [];
    return [
      {
        sourceKey: `spend_cap.approaching/${id}/${threshold}`,
        type: 'spend_cap.approaching' as const,
        orgId,
        atMs: Date.parse(created_at),
        data: { ...ofKey(key_id), spent_usd: spent_after, cap_usd, budget_id: null },
        threshold,
        repetition: null,
      },
    ];
  });
}

function ofKey(key_id: string): { scope: 'key'; scope_id: string; key_id: string } {
  return { scope: 'key', scope_id: key_id, key_id };
}

/** A key's budget is as a cap of it to who has asked for percentages of caps: each is told once a period. */
function nearCapNotices(
  { id, created_at, data }: AccountEvent<'budget.movement'>,
  orgId: string,
  thresholds: ThresholdsOf,
): Notice[] {
  if (data.scope !== 'key') return [];
  const { budget_id, scope_id, spent_usd, amount_usd: cap_usd } = data;
  const [startMs, atMs] = [Date.parse(data.period_start), Date.parse(created_at)];
  const isRolling = data.period_end === null;
  return thresholds(orgId, 'spend_cap.approaching').flatMap((threshold) => {
    if (settledNano(spent_usd) * BigInt(100 * PCT_UNITS) < settledNano(cap_usd) * pctUnits(threshold))
      return [];
    const rung = `spend_cap.approaching/${budget_id}/${threshold}`;
    return [
      {
        sourceKey: `${rung}/${isRolling ? id : startMs}`,
        type: 'spend_cap.approaching' as const,
        orgId,
        atMs,
        data: { ...ofKey(scope_id), spent_usd, cap_usd, budget_id },
        threshold,
        repetition: oncePerPeriod(rung, startMs, isRolling ? atMs : startMs),
      },
    ];
  });
}

/** Each threshold of a budget has one notice in a period; of a rolling one, again when what counted then has passed. */
function budgetNotices({ id, created_at, data }: AccountEvent<'budget.movement'>, orgId: string): Notice[] {
  const { budget_id, name, scope, scope_id, thresholds_pct, ...amounts } = data;
  const [startMs, atMs] = [Date.parse(data.period_start), Date.parse(created_at)];
  const isRolling = data.period_end === null;
  return thresholds_pct.map((threshold_pct) => {
    const rung = `budget.threshold/${budget_id}/${threshold_pct}`;
    return {
      sourceKey: `${rung}/${isRolling ? id : startMs}`,
      type: 'budget.threshold' as const,
      orgId,
      atMs,
      data: { budget_id, name, ...scopeFields(scope, scope_id), threshold_pct, ...amounts },
      threshold: null,
      repetition: oncePerPeriod(rung, startMs, isRolling ? atMs : startMs),
    };
  });
}

/** A period that began before the time that was kept of the last notice is told already, or over. */
function oncePerPeriod(name: string, startMs: number, keptMs: number): Repetition {
  return {
    name,
    step: (last) =>
      last !== null && startMs <= last.atMs
        ? null
        : { state: { atMs: keptMs, detail: null }, isNotified: true },
  };
}

/** A percentage in ten-thousandths: policies keep four decimals. */
function pctUnits(threshold: string): bigint {
  return BigInt(Math.round(Number(threshold) * PCT_UNITS));
}

function isA<Type extends AccountEvent['type']>(
  event: AccountEvent,
  type: Type,
): event is AccountEvent & AccountEvent<Type> {
  return event.type === type;
}
