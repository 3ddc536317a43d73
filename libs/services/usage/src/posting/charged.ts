import type { UsageRecord } from '@gateway/contracts';

/** A digit that makes an amount more than nothing: the check of the record has vouched for the rest. */
const NOT_ZERO = /[1-9]/;

/** True if a unit takes money from its account. */
export function isCharged({ cost_usd }: Pick<UsageRecord, 'cost_usd'>): boolean {
  return typeof cost_usd === 'string' && NOT_ZERO.test(cost_usd);
}
