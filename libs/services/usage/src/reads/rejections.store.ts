import type { RejectionsBody, RejectionView, RequestLookup } from '@gateway/contracts';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { RETENTION_DAYS } from './events.store.js';
import { addPeople, addTimes, viewConditions } from './row-filter.js';
import type { View } from './view.js';

interface RejectionRow {
  request_id: string;
  created_at: Date;
  endpoint: string;
  model: string | null;
  requested_model: string | null;
  http_status: number;
  code: string;
  message: string;
  scope: string | null;
  scope_id: string | null;
  key_id: string;
  limit_type: string | null;
  request_tags: Record<string, string>;
}

const COLUMNS = `request_id, created_at, endpoint, model, requested_model, http_status, code, message, scope, scope_id,
  key_id, limit_type, request_tags`;

/** Reads of rejection: requests refused before any model was called. */
export class RejectionsStore {
  constructor(private readonly database: UsageDatabase) {}

  /** Newest first, none older than `notBefore`. */
  async page(
    view: View,
    filter: RejectionsBody,
    notBefore: Date,
  ): Promise<{ rejections: RejectionView[]; total: number }> {
    const conditions = viewConditions(view).add('created_at >= $', notBefore);
    addTimes(conditions, filter);
    addPeople(conditions, view, filter);
    if (filter.model) conditions.add('model = ANY($::text[])', filter.model);
    if (filter.status) conditions.add('http_status::text = ANY($::text[])', filter.status);
    if (filter.code) conditions.add('code = ANY($::text[])', filter.code);
    const { sql, values } = conditions.filter();
    const [{ rows }, { rows: counts }] = await Promise.all([
      this.database.pool.query<RejectionRow>(
        `SELECT ${COLUMNS} FROM rejection WHERE ${sql} ORDER BY created_at DESC, request_id DESC
         LIMIT ${filter.limit} OFFSET ${filter.offset}`,
        values,
      ),
      this.database.pool.query<{ count: string }>(`SELECT count(*) FROM rejection WHERE ${sql}`, values),
    ]);
    return { rejections: rows.map(toWire), total: Number(counts[0].count) };
  }

  /** null where the caller has no such refusal since `notBefore`. */
  async lookup(views: readonly View[], requestId: string, notBefore: Date): Promise<RequestLookup | null> {
    for (const view of views) {
      const { sql, values } = viewConditions(view)
        .add('request_id = $', requestId)
        .add('created_at >= $', notBefore)
        .filter();
      const { rows } = await this.database.pool.query<RejectionRow>(
        `SELECT ${COLUMNS} FROM rejection WHERE ${sql} LIMIT 1`,
        values,
      );
      if (rows.length > 0) return lookupOf(rows[0]);
    }
    return null;
  }
}

function toWire(row: RejectionRow): RejectionView {
  return {
    request_id: row.request_id,
    created_at: row.created_at.toISOString(),
    endpoint: row.endpoint,
    model: row.model ?? row.requested_model,
    status: row.http_status,
    code: row.code,
    message: row.message,
    scope: row.scope,
    scope_id: row.scope_id,
    key_id: row.key_id,
    limit_type: row.limit_type,
  };
}

function lookupOf(row: RejectionRow): RequestLookup {
  return {
    request_id: row.request_id,
    created_at: row.created_at.toISOString(),
    endpoint: row.endpoint,
    model: row.model,
    requested_model: row.requested_model,
    provider: null,
    status: 'error',
    outcome: 'rejected',
    http_status: row.http_status,
    error_code: row.code,
    latency_ms: null,
    ttft_ms: null,
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cost_usd: null,
    byok_used: false,
    routing_fallback: false,
    cache_hit: false,
    attempts: [],
    request_tags: row.request_tags,
    retention_days: RETENTION_DAYS,
  };
}
