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
import type { Prisma } from '../generated/prisma/client.js';
import { grouped } from '../grouped.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { filteredRows, viewRows } from './row-filter.js';
import type { View } from './view.js';

const EVENT = {
  id: true,
  request_id: true,
  model: true,
  prompt_tokens: true,
  completion_tokens: true,
  cost: true,
  latency_ms: true,
  status: true,
  created_at: true,
  routing_fallback: true,
  request_tags: true,
} satisfies Prisma.UsageEventSelect;
const UNIT = {
  ...EVENT,
  unit: true,
  endpoint: true,
  requested_model: true,
  provider: true,
  outcome: true,
  http_status: true,
  error_code: true,
  ttft_ms: true,
  byok_used: true,
  cache_hit: true,
  usage_estimated: true,
  attempts: true,
} satisfies Prisma.UsageEventSelect;

type EventRow = Prisma.UsageEventGetPayload<{ select: typeof EVENT }>;
type UnitRow = Prisma.UsageEventGetPayload<{ select: typeof UNIT }>;

interface GroupRow {
  model: string;
  status: string;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  cost: Usd;
}

const UNITS_MAX = 1_000;
export const RETENTION_DAYS = 90;

/**
 * Reads of usage_event. Sums are made by PostgreSQL in numeric and added here in Usd: never a float. JSON columns are
 * read in the shape that the postings write.
 */
export class EventsStore {
  constructor(private readonly database: UsageDatabase) {}

  /** One statement: totals and models are of the same moment. */
  async summary(view: View, filter: UsageFilterBody): Promise<UsageSummary> {
    const groups = await this.database.prisma.usageEvent.groupBy({
      by: ['model', 'status'],
      where: eventsOf(view, filter),
      _count: true,
      _sum: { prompt_tokens: true, completion_tokens: true, cost: true },
    });
    const rows = groups.map(({ model, status, _count, _sum }): GroupRow => ({
      model,
      status,
      requests: _count,
      promptTokens: Number(_sum.prompt_tokens ?? 0),
      completionTokens: Number(_sum.completion_tokens ?? 0),
      cost: Usd.parse(_sum.cost?.toFixed() ?? '0'),
    }));
    return summaryOf(rows, filter);
  }

  /** Newest first. */
  async page(view: View, filter: UsageFilterBody): Promise<{ events: UsageEventRecord[]; total: number }> {
    const where = eventsOf(view, filter);
    const [rows, total] = await Promise.all([
      this.database.prisma.usageEvent.findMany({
        where,
        select: EVENT,
        orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
        take: filter.limit,
        skip: filter.offset,
      }),
      this.database.prisma.usageEvent.count({ where }),
    ]);
    return { events: rows.map(toWire), total };
  }

  /** Attempts of every unit of the event's request, oldest first; null where the event is not the caller's. */
  async attempts(views: readonly View[], eventId: string): Promise<AttemptView[] | null> {
    const event = await this.unitsWhere(views, { id: eventId });
    if (event.length === 0) return null;
    return attemptsOf(await this.unitsWhere(views, { request_id: event[0].request_id }));
  }

  /** null where the request has no event that the caller may see, or began before `notBefore`. */
  async lookup(views: readonly View[], requestId: string, notBefore: Date): Promise<RequestLookup | null> {
    const units = await this.unitsWhere(views, { request_id: requestId });
    if (units.length === 0 || units[0].created_at < notBefore || !isLookedUp(units)) return null;
    return lookupOf(units);
  }

  /** Of the first view that has any. */
  private async unitsWhere(
    views: readonly View[],
    named: { id: string } | { request_id: string },
  ): Promise<UnitRow[]> {
    for (const view of views) {
      const rows = await this.database.prisma.usageEvent.findMany({
        where: { ...viewRows(view), ...named },
        select: UNIT,
        orderBy: { unit: 'asc' },
        take: UNITS_MAX,
      });
      if (rows.length > 0) return rows;
    }
    return [];
  }
}

function eventsOf(view: View, filter: UsageFilterBody): Prisma.UsageEventWhereInput {
  return {
    ...filteredRows(view, filter),
    ...(filter.model ? { model: { in: filter.model } } : {}),
    ...(filter.status ? { status: { in: filter.status } } : {}),
  };
}

function summaryOf(rows: readonly GroupRow[], { limit, offset }: UsageFilterBody): UsageSummary {
  const requests = (group: readonly GroupRow[]): number => sum(group, (row) => row.requests);
  const models = [...grouped(rows, (row) => row.model)].map(([model, group]): ModelUsage => ({
    model,
    requests: requests(group),
    total_tokens: sum(group, (row) => row.promptTokens) + sum(group, (row) => row.completionTokens),
    cost_usd: costOf(group),
  }));
  models.sort((a, b) => b.requests - a.requests || (a.model < b.model ? -1 : 1));
  const prompt = sum(rows, (row) => row.promptTokens);
  const completion = sum(rows, (row) => row.completionTokens);
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

function sum(rows: readonly GroupRow[], of: (row: GroupRow) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

function costOf(rows: readonly GroupRow[]): string {
  return Usd.sum(rows.map((row) => row.cost)).toString();
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
    cost_usd: row.cost === null ? null : Usd.parse(row.cost.toFixed()).toString(),
    latency_ms: Math.round(row.latency_ms),
    status: row.status,
    created_at: row.created_at.toISOString(),
    routing_fallback: row.routing_fallback,
    request_tags: row.request_tags as Record<string, string>,
  };
}

/** Field by field: what a record may hold beyond these, a provider's name above all, is not shown. */
function attemptsOf(units: readonly UnitRow[]): AttemptView[] {
  const attempts = units.flatMap((unit) => unit.attempts as unknown as AttemptRecord[]);
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
    outcome: first.outcome as RequestLookup['outcome'],
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
    usage_estimated: units.some((unit) => unit.usage_estimated),
    attempts: attemptsOf(units),
    request_tags: first.request_tags as Record<string, string>,
    retention_days: RETENTION_DAYS,
  };
}
