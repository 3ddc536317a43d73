import {
  shownScope,
  type AttemptRecord,
  type AttemptView,
  type LimitReading,
  type LimitSeen,
  type OperatorAttempt,
  type PricedFrom,
  type RequestLookup,
  type UnitUsage,
  type UsageEventRecord,
} from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type { Prisma } from '../generated/prisma/client.js';
import { factsOf, readingsOf } from '../posting/event-detail.js';
import { isPeriod } from '../posting/period-scopes.js';
import type { PricedUnit } from '../posting/reprice.js';
import { EVENT, toWire } from './event-wire.js';

export const RETENTION_DAYS = 90;

export const UNIT = {
  ...EVENT,
  unit: true,
  account_id: true,
  org_id: true,
  team_id: true,
  provider: true,
  outcome: true,
  http_status: true,
  error_code: true,
  byok_used: true,
  cache_hit: true,
  usage_estimated: true,
  usage: true,
  attempts: true,
  priced_from: true,
  limits: true,
  detail: true,
} satisfies Prisma.UsageEventSelect;

type StoredUnit = Prisma.UsageEventGetPayload<{ select: typeof UNIT }>;

/** Facts in the shape that the postings write. */
interface UnitFacts {
  usage: UnitUsage;
  attempts: AttemptRecord[];
  priced_from: PricedFrom | null;
  limits: LimitReading[] | null;
}

export type UnitRow = Omit<StoredUnit, keyof UnitFacts | 'detail'> & UnitFacts;

export function unitRow(stored: StoredUnit): UnitRow {
  const facts = factsOf(stored) as UnitFacts;
  return { ...stored, ...facts, limits: readingsOf(facts.limits, stored) };
}

/** Field by field: what a record may hold beyond these, a provider's name above all, is not shown. */
export function attemptsOf(units: readonly UnitRow[]): AttemptView[] {
  return recordedAttempts(units).map(viewOfAttempt);
}

/** The same attempts, with who served each: for super admins alone. */
export function operatorAttemptsOf(units: readonly UnitRow[]): OperatorAttempt[] {
  return recordedAttempts(units).map((attempt) => ({
    ...viewOfAttempt(attempt),
    provider: attempt.provider,
    upstream_model: attempt.upstream_model ?? null,
    credential_id: attempt.credential_id ?? null,
  }));
}

/** Oldest first. */
function recordedAttempts(units: readonly UnitRow[]): AttemptRecord[] {
  return units
    .flatMap(({ attempts }) => attempts)
    .toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at) || a.n - b.n);
}

function viewOfAttempt(attempt: AttemptRecord): AttemptView {
  return {
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
  };
}

/** A chat compare and a batch have no lookup, whether their units ran or were refused. */
export function isLookedUp(units: readonly { endpoint: string }[]): boolean {
  return !units.some(({ endpoint }) => endpoint.endsWith('/compare') || endpoint.includes('/batches'));
}

/** Units of one request as one: the first shows how it went, tokens and costs are summed. */
export function lookupOf(units: readonly UnitRow[]): RequestLookup {
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
    key_id: first.key_id,
    key_label: null,
    price_lines: null,
    limits_seen: limitsSeen(units),
    price_window: events[0].price_window,
    priced_at: events[0].priced_at,
    unpriced_counters: unpricedCounters(units),
  };
}

function unpricedCounters(units: readonly UnitRow[]): Record<string, number> | null {
  const sums = new Map<string, number>();
  for (const { usage } of units)
    for (const [name, count] of Object.entries(usage.unpriced_counters ?? {}))
      sums.set(name, (sums.get(name) ?? 0) + count);
  return sums.size === 0 ? null : Object.fromEntries(sums);
}

/** Returns the limits that admission saw of the first unit's scopes. */
function limitsSeen([{ limits }]: readonly UnitRow[]): LimitSeen[] | null {
  if (limits === null) return null;
  return limits.flatMap((seen): LimitSeen[] => {
    const { scope, scope_id: id } = seen;
    // Periods of budgets limit no rate.
    if (isPeriod(id)) return [];
    const counter = scope === 'key' && id.includes('/') ? id.slice(id.indexOf('/') + 1) : null;
    const whose = { ...shownScope(scope, id), counter };
    const cap = seen.cap_usd ?? null;
    return [
      { ...whose, metric: 'rpm', current: seen.rpm, limit: seen.rpm_limit ?? null },
      { ...whose, metric: 'rpd', current: seen.rpd, limit: seen.rpd_limit ?? null },
      ...(cap === null ? [] : [{ ...whose, metric: 'spend_cap' as const, current: null, limit: cap }]),
    ];
  });
}

/** Returns the facts of the unit's price. */
export function pricedUnit({ model, usage, priced_from }: UnitRow): PricedUnit {
  return { model, usage, priced_from };
}
