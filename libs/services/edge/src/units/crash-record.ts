import { newId, type Clock, type Random } from '@gateway/contracts';
import type { CrashRecord, Intent } from '@gateway/journal';

/**
 * Closes a unit whose process died before its OUTCOME: not billed, a later real OUTCOME replaces it. `isLost`: its OUTCOME may have
 * been there and cannot be read. Then none will come, and what was settled of it is freed too: the ledger knows such a
 * record by its estimated usage.
 */
export function crashRecord({ facts }: Intent, isLost: boolean, clock: Clock, random: Random): CrashRecord {
  return {
    ...facts,
    id: newId('use', clock, random),
    provider: null,
    status: 'error',
    outcome: 'failed',
    http_status: 500,
    error_code: 'gateway_crash',
    usage: {},
    usage_estimated: isLost,
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
