import type {
  AttemptRecord,
  AttemptView,
  ModelUsage,
  RequestLookup,
  UsageEventRecord,
  UsageFilterBody,
  UsageSummary,
} from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { grouped } from '../grouped.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { usageFilter, viewConditions } from './row-filter.js';
import type { View } from './view.js';

interface EventRow {
  id: string;
  request_id: string;
  model: string;
  prompt_tokens: string;
  completion_tokens: string;
  cost: string | null;
  latency_ms: number;
  status: string;
  created_at: Date;
  routing_fallback: boolean;
  request_tags: Record<string, string>;
}

interface GroupRow {
  model: string;
  status: string;
  requests: string;
  prompt_tokens: string;
  completion_tokens: string;
  cost: string;
}

interface UnitRow extends EventRow {
  unit: number;
  endpoint: string;
  requested_model: string;
  provider: string | null;
  outcome: RequestLookup['outcome'];
  http_status: number;
  error_code: string | null;
  ttft_ms: number | null;
  byok_used: boolean;
  cache_hit: boolean;
  attempts: AttemptRecord[];
}

const EVENT_COLUMNS = `id, request_id, model, prompt_tokens::text, completion_tokens::text, cost::text, latency_ms,
  status, created_at, routing_fallback, request_tags`;
export const RETENTION_DAYS = 90;

/** Reads of usage_event. Sums are made by PostgreSQL in numeric and added here in Usd: never a float. */
export class EventsStore {
  constructor(private readonly database: UsageDatabase) {}

  /** One statement: totals and models are of the same moment. */
  async summary(view: View, filter: UsageFilterBody): Promise<UsageSummary> {
    const { sql, values } = usageFilter(view, filter);
    const { rows } = await this.database.pool.query<GroupRow>(
      `SELECT model, status, count(*)::text AS requests, sum(prompt_tokens)::text AS prompt_tokens,
         sum(completion_tokens)::text AS completion_tokens, coalesce(sum(cost), 0)::text AS cost
       FROM usage_event WHERE ${sql} GROUP BY model, status`,
      values,
    );
    return summaryOf(rows, filter);
  }

  /** Newest first. */
  async page(view: View, filter: UsageFilterBody): Promise<{ events: UsageEventRecord[]; total: number }> {
    const { sql, values } = usageFilter(view, filter);
    const [{ rows }, { rows: counts }] = await Promise.all([
      this.database.pool.query<EventRow>(
        `SELECT ${EVENT_COLUMNS} FROM usage_event WHERE ${sql} ORDER BY created_at DESC, id DESC
         LIMIT ${filter.limit} OFFSET ${filter.offset}`,
        values,
      ),
      this.database.pool.query<{ count: string }>(`SELECT count(*) FROM usage_event WHERE ${sql}`, values),
    ]);
    return { events: rows.map(toWire), total: Number(counts[0].count) };
  }

  /** Attempts of every unit of the event's request, oldest first; null where the event is not the caller's. */
  async attempts(views: readonly View[], eventId: string): Promise<AttemptView[] | null> {
    const event = await this.unitsWhere(views, 'id', eventId);
    if (event.length === 0) return null;
    return attemptsOf(await this.unitsWhere(views, 'request_id', event[0].request_id));
  }

  /** null where the request has no event that the caller may see, or began before `notBefore`. */
  async lookup(views: readonly View[], requestId: string, notBefore: Date): Promise<RequestLookup | null> {
    const units = await this.unitsWhere(views, 'request_id', requestId);
    if (units.length === 0 || units[0].created_at < notBefore || !isLookedUp(units)) return null;
    return lookupOf(units);
  }

  private async unitsWhere(
    views: readonly View[],
    column: 'id' | 'request_id',
    value: string,
  ): Promise<UnitRow[]> {
    for (const view of views) {
      const { sql, values } = viewConditions(view).add(`${column} = $`, value).filter();
      const { rows } = await this.database.pool.query<UnitRow>(
        `SELECT ${EVENT_COLUMNS}, unit, endpoint, requested_model, provider, outcome, http_status, error_code,
           ttft_ms, byok_used, cache_hit, attempts
         FROM usage_event WHERE ${sql} ORDER BY unit LIMIT 1000`,
        values,
      );
      if (rows.length > 0) return rows;
    }
    return [];
  }
}

function summaryOf(rows: readonly GroupRow[], { limit, offset }: UsageFilterBody): UsageSummary {
  const requests = (group: readonly GroupRow[]): number => sum(group, (row) => row.requests);
  const models = [...grouped(rows, (row) => row.model)].map(([model, group]): ModelUsage => ({
    model,
    requests: requests(group),
    total_tokens: sum(group, (row) => row.prompt_tokens) + sum(group, (row) => row.completion_tokens),
    cost_usd: costOf(group),
  }));
  models.sort((a, b) => b.requests - a.requests || (a.model < b.model ? -1 : 1));
  const prompt = sum(rows, (row) => row.prompt_tokens);
  const completion = sum(rows, (row) => row.completion_tokens);
  return {
    total_requests: requests(rows),
    successful_requests: requests(rows.filter((row) => row.status === 'success')),
    error_requests: requests(rows.filter((row) => row.status === 'error')),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    total_cost_usd: costOf(rows),
    by_model_total: models.length,
    by_model: models.slice(offset, offset + limit),
  };
}

function sum(rows: readonly GroupRow[], of: (row: GroupRow) => string): number {
  return rows.reduce((total, row) => total + Number(of(row)), 0);
}

function costOf(rows: readonly GroupRow[]): string {
  return Usd.sum(rows.map((row) => Usd.parse(row.cost))).toString();
}

function toWire(row: EventRow): UsageEventRecord {
  const [prompt, completion] = [Number(row.prompt_tokens), Number(row.completion_tokens)];
  return {
    id: row.id,
    request_id: row.request_id,
    model: row.model,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    cost_usd: row.cost === null ? null : Usd.parse(row.cost).toString(),
    latency_ms: Math.round(row.latency_ms),
    status: row.status,
    created_at: row.created_at.toISOString(),
    routing_fallback: row.routing_fallback,
    request_tags: row.request_tags,
  };
}

/** Field by field: what a record may hold beyond these, a provider's name above all, is not shown. */
function attemptsOf(units: readonly UnitRow[]): AttemptView[] {
  const attempts = units.flatMap((unit) => unit.attempts);
  return attempts
    .map((attempt) => ({
      n: attempt.n,
      status: attempt.status,
      http_status: attempt.http_status ?? null,
      error_code: attempt.error_code ?? null,
      error_message: attempt.error_message ?? null,
      started_at: attempt.started_at,
      latency_ms: Math.round(attempt.latency_ms),
      ttft_ms: attempt.ttft_ms === null || attempt.ttft_ms === undefined ? null : Math.round(attempt.ttft_ms),
      prompt_tokens: attempt.prompt_tokens,
      completion_tokens: attempt.completion_tokens,
      served: attempt.served,
    }))
    .toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at) || a.n - b.n);
}

/** A chat compare and a batch have no lookup (spec, Usage and balance). */
function isLookedUp(units: readonly UnitRow[]): boolean {
  return !units.some(({ endpoint }) => endpoint.endsWith('/compare') || endpoint.includes('/batches'));
}

/** Units of one request as one: the first tells how it went, tokens and costs are summed. */
function lookupOf(units: readonly UnitRow[]): RequestLookup {
  const [first] = units;
  const events = units.map(toWire);
  const total = (of: (event: UsageEventRecord) => number): number =>
    events.reduce((n, event) => n + of(event), 0);
  const costs = events.flatMap(({ cost_usd }) => (cost_usd === null ? [] : [Usd.parse(cost_usd)]));
  return {
    request_id: first.request_id,
    created_at: first.created_at.toISOString(),
    endpoint: first.endpoint,
    model: first.model,
    requested_model: first.requested_model,
    provider: first.provider,
    status: first.status,
    outcome: first.outcome,
    http_status: first.http_status,
    error_code: first.error_code,
    latency_ms: Math.round(first.latency_ms),
    ttft_ms: first.ttft_ms === null ? null : Math.round(first.ttft_ms),
    prompt_tokens: total((event) => event.prompt_tokens),
    completion_tokens: total((event) => event.completion_tokens),
    total_tokens: total((event) => event.total_tokens),
    cost_usd: costs.length === 0 ? null : Usd.sum(costs).toString(),
    byok_used: units.some((unit) => unit.byok_used),
    routing_fallback: units.some((unit) => unit.routing_fallback),
    cache_hit: units.some((unit) => unit.cache_hit),
    attempts: attemptsOf(units),
    request_tags: first.request_tags,
    retention_days: RETENTION_DAYS,
  };
}
