import { newId, type Clock, type Random } from '@gateway/contracts';
import type { CrashRecord, Intent } from '@gateway/journal';

/**
 * Returns the record that closes a unit whose process died before its OUTCOME. It is not billed, and a real OUTCOME that
 * comes later replaces it. `usage_estimated` of a crash means: its OUTCOME cannot be read, so none will come. The ledger
 * then frees what was settled of the unit.
 */
export function crashRecord(
  { facts }: Intent,
  isUnreadable: boolean,
  clock: Clock,
  random: Random,
): CrashRecord {
  return {
    ...facts,
    id: newId('use', clock, random),
    provider: null,
    status: 'error',
    outcome: 'failed',
    http_status: 500,
    error_code: 'gateway_crash',
    usage: {},
    usage_estimated: isUnreadable,
    priced_from: null,
    cost_usd: null,
    list_cost_usd: null,
    attempts: [],
    latency_ms: 0,
    ttft_ms: null,
    routing_fallback: false,
    cache_hit: false,
  };
}
