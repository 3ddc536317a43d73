import type { AttemptRecord, RejectionRecord, UsageRecord, UsageRecordV2 } from '@gateway/contracts';
import { compactEnd, compactFacts } from '@gateway/contracts/compact-usage';

const NOW = new Date().toISOString();
let sequence = 0;

/** Organization and endpoint of the request. */
const WHOSE = {
  account_id: 'acct_1',
  org_id: 'org_1',
  team_id: 'team_1',
  member_id: 'usr_1',
  key_id: 'key_1',
  endpoint: '/v1/chat/completions',
  model: 'acme/swift',
  requested_model: 'acme/swift',
};

/** A served chat of an org's key, costing 0.0015; each call is a request of its own. */
export function usageRecord(more: Partial<UsageRecord> = {}): UsageRecord {
  sequence += 1;
  const request_id = more.request_id ?? `req_${String(sequence).padStart(8, '0')}`;
  return {
    id: `use_${request_id}_${more.unit ?? 0}`,
    request_id,
    unit: 0,
    ...WHOSE,
    provider: 'hosty',
    status: 'success',
    outcome: 'served',
    http_status: 200,
    error_code: null,
    stream: false,
    usage: { prompt_tokens: 100, completion_tokens: 50, requests: 1 },
    usage_estimated: false,
    priced_from: null,
    cost_usd: '0.0015',
    list_cost_usd: '0.0015',
    attempts: [attemptRecord()],
    latency_ms: 120.4,
    ttft_ms: 80,
    created_at: NOW,
    routing_fallback: false,
    byok_used: false,
    cache_hit: false,
    request_tags: {},
    end_user_hash: null,
    api_version: '2026-08',
    limits: [],
    producer: 'edge-1',
    epoch: 'e1',
    seq: sequence,
    ...more,
  };
}

/** The same as edges write it to gateway.usage.v2. */
export function compactRecord(record: UsageRecord): UsageRecordV2 {
  const { producer, epoch, seq } = record;
  return { ...compactFacts(record), ...compactEnd(record, record), producer, epoch, seq };
}

export function attemptRecord(more: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    n: 1,
    provider: 'hosty',
    model: 'acme/swift',
    status: 'success',
    http_status: 200,
    error_code: null,
    provider_code: null,
    error_message: null,
    started_at: '2026-11-20T10:00:00.000Z',
    latency_ms: 100,
    ttft_ms: 80,
    prompt_tokens: 100,
    completion_tokens: 50,
    served: true,
    house_usd: null,
    ...more,
  };
}

/** A request refused by the key's rate. */
export function rejectionRecord(more: Partial<RejectionRecord> = {}): RejectionRecord {
  sequence += 1;
  return {
    request_id: `req_${String(sequence).padStart(8, '0')}`,
    created_at: NOW,
    ...WHOSE,
    http_status: 429,
    code: 'rate_limit_exceeded',
    message: 'Too many requests.',
    scope: 'key',
    scope_id: 'key_1',
    limit_type: 'rpm',
    cap_usd: null,
    spent_usd: null,
    count: 1,
    request_tags: {},
    producer: 'edge-1',
    epoch: 'e1',
    seq: sequence,
    ...more,
  };
}
