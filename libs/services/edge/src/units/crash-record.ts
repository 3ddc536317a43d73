import { newId, type Clock, type Random } from '@gateway/contracts';
import type { CrashRecord, Intent } from '@gateway/journal';

/** Closes a unit whose process died before its OUTCOME: not billed, a later real OUTCOME replaces it. */
export function crashRecord({ facts }: Intent, clock: Clock, random: Random): CrashRecord {
  return {
    ...facts,
    id: newId('use', clock, random),
    provider: null,
    status: 'error',
    outcome: 'failed',
    http_status: 500,
    error_code: 'gateway_crash',
    usage: {},
    usage_estimated: false,
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
