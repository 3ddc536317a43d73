import type { PriceRecord, UnitUsage } from '@gateway/contracts';
import { estimateUsage } from './estimate.js';
import type { EstimatedUsage, UnitTraffic } from './estimate.js';
import { price } from './price.js';
import type { PriceInput, PriceTerms } from './price.js';
import type { PriceContext } from './price-record.js';
import { Usd } from './usd.js';

/** Time after the caller's disconnect in which a usage still counts, where a finish was seen or a model reasons. */
export const LATE_USAGE_MS = 2_000;

/**
 * The end of a unit. `served` also for a model's refusal, a content filter or length, and for an empty search (requests 0).
 * `failed` for units, searches and videos that failed, expired or were cancelled. `unsent` where the caller had
 * disconnected before anything was sent upstream.
 */
type Outcome = 'served' | 'cached' | 'rejected' | 'failed' | 'crashed' | 'unsent';

/** One attempt that failed at its provider, our own timeouts included. */
export interface FailedAttempt {
  readonly record: PriceRecord;
  readonly tier: PriceTerms['tier'];
  readonly byokServed: boolean;
  readonly context: PriceContext;
  /** Usage as reported; null where nothing was. */
  readonly usage: UnitUsage | null;
  /** Null where no event came: such an attempt costs nobody anything. */
  readonly traffic: UnitTraffic | null;
}

/** The client left before the answer was complete. */
export interface Disconnect {
  /** A finish was seen, or visible output of a model that reasons: its usage may still come. */
  readonly finishSeen: boolean;
  /** Time from the caller's disconnect to the final usage; null where it never came. */
  readonly usageAfterMs: number | null;
}

/** Everything that decides who pays for a unit. Record and terms are those of the route that served or failed last. */
export interface ChargeCase extends Omit<PriceInput, 'usage'> {
  readonly outcome: Outcome;
  /** The final usage as the provider reported it; null where none came. */
  readonly usage: UnitUsage | null;
  /** Counts the provider had given before its final usage. */
  readonly reported?: UnitUsage;
  /** Traffic for the estimate, where the usage is missing or late. */
  readonly traffic?: UnitTraffic | null;
  readonly disconnect?: Disconnect | null;
  /** Attempts before the one that `outcome` is of. */
  readonly failedAttempts?: readonly FailedAttempt[];
}

/** The division of a unit's cost between customer and platform. */
export interface Charge {
  /** Amount that the customer pays; null where the unit is not billed. */
  readonly cost_usd: string | null;
  readonly list_cost_usd: string | null;
  /** Amount that the platform's account takes for failed attempts, "0" for nothing. */
  readonly house_usd: string;
  /** Usage that was priced; null where the unit is not billed. */
  readonly usage: UnitUsage | null;
  readonly usage_estimated: boolean;
}

/** Splits the cost of a unit between the customer and the platform (`house` in the books). */
export function chargeFor(unit: ChargeCase): Charge {
  const platformUsd = platformCosts(unit);
  if (unit.outcome !== 'served') {
    return {
      cost_usd: null,
      list_cost_usd: null,
      house_usd: platformUsd,
      usage: null,
      usage_estimated: false,
    };
  }
  const settled = settledUsage(unit);
  return { ...price({ ...unit, usage: settled.usage }), house_usd: platformUsd, ...settled };
}

/** Returns the platform's cost of a unit, "0" for nothing. */
function platformCosts(unit: ChargeCase): string {
  const { failedAttempts = [], outcome } = unit;
  const failed = outcome === 'failed' ? [...failedAttempts, lastAttempt(unit)] : failedAttempts;
  return failed.length === 0 ? '0' : Usd.sum(failed.map(platformCost)).toString();
}

/** The usage that counts: in time, it is the provider's; else what had been reported, completed by the estimate. */
function settledUsage(unit: ChargeCase): EstimatedUsage {
  if (unit.usage && (!unit.disconnect || isInTime(unit.disconnect))) {
    return { usage: unit.usage, usage_estimated: false };
  }
  const reported = unit.reported ?? {};
  return unit.traffic ? estimateUsage(unit.traffic, reported) : { usage: reported, usage_estimated: false };
}

function isInTime({ finishSeen, usageAfterMs }: Disconnect): boolean {
  return finishSeen && usageAfterMs !== null && usageAfterMs <= LATE_USAGE_MS;
}

function lastAttempt(unit: ChargeCase): FailedAttempt {
  const { record, tier, context, traffic = null } = unit;
  return {
    record,
    tier,
    context,
    traffic,
    byokServed: unit.byok.served,
    usage: unit.usage ?? unit.reported ?? null,
  };
}

/** The list cost of what was reported, completed by the estimate once an event came; BYOK costs the platform nothing. */
function platformCost(attempt: FailedAttempt): Usd {
  const usage = attempt.traffic ? estimateUsage(attempt.traffic, attempt.usage ?? {}).usage : attempt.usage;
  if (attempt.byokServed || !usage) return Usd.zero;
  const { record, tier, context } = attempt;
  const atList = { discountPct: null, byok: { served: false, feePct: '0' } };
  return Usd.parse(price({ usage, record, tier, context, ...atList }).list_cost_usd);
}
