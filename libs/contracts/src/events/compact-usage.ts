import type { UnitUsage } from '../catalogue/price-record.js';
import type { SpendScope } from '../ports/principal.js';
import type {
  AttemptRecord,
  AttemptRecordV2,
  LimitReading,
  LimitReadingV2,
  PricedFrom,
  PricedFromV2,
  UsageRecord,
  UsageRecordV2,
} from './usage-record.js';

/** Members of a usage record that are known when its unit is admitted. */
export type UsageFacts = Pick<
  UsageRecord,
  | 'request_id'
  | 'unit'
  | 'account_id'
  | 'org_id'
  | 'team_id'
  | 'member_id'
  | 'key_id'
  | 'endpoint'
  | 'model'
  | 'requested_model'
  | 'stream'
  | 'created_at'
  | 'byok_used'
  | 'request_tags'
  | 'end_user_hash'
  | 'api_version'
  | 'limits'
  | 'budgets'
  | 'billing'
  | 'shadow_of'
>;

/** Members of a usage record that say who journaled it. */
export type UsageStamps = 'producer' | 'epoch' | 'seq';

/** Members of a usage record that its end brings. */
export type UsageEnd = Omit<UsageRecord, keyof UsageFacts | UsageStamps>;

type CompactEnd = Omit<UsageRecordV2, keyof UsageFacts | UsageStamps>;
type CompactFacts = Pick<UsageRecordV2, keyof UsageFacts>;
type Owner = Pick<UsageRecord, 'key_id' | 'member_id'> & { team_id?: string | null; org_id?: string | null };

/** Members with the value undefined are left out by JSON. */
const unless = <T>(usual: T, value: T): T | undefined => (value === usual ? undefined : value);
const orAbsent = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

/** Returns the facts of a unit as gateway.usage.v2 has them. */
export function compactFacts(facts: UsageFacts): CompactFacts {
  return {
    request_id: facts.request_id,
    unit: unless(0, facts.unit),
    account_id: facts.account_id,
    org_id: orAbsent(facts.org_id),
    team_id: orAbsent(facts.team_id),
    member_id: facts.member_id,
    key_id: facts.key_id,
    endpoint: facts.endpoint,
    model: facts.model,
    requested_model: unless(facts.model, facts.requested_model),
    stream: unless(false, facts.stream),
    created_at: facts.created_at,
    byok_used: unless(false, facts.byok_used),
    request_tags: isEmpty(facts.request_tags) ? undefined : facts.request_tags,
    end_user_hash: orAbsent(facts.end_user_hash),
    api_version: facts.api_version,
    limits: facts.limits.length === 0 ? undefined : facts.limits.map((one) => compactReading(one, facts)),
    budgets: facts.budgets,
    billing: facts.billing,
    shadow_of: facts.shadow_of,
  };
}

/** Returns the end of a unit as gateway.usage.v2 has it, beside the compact facts. */
export function compactEnd(end: UsageEnd, facts: Pick<UsageFacts, 'model' | 'byok_used'>): CompactEnd {
  const { outcome, cost_usd = null, list_cost_usd = null } = end;
  return {
    id: end.id,
    provider: orAbsent(end.provider),
    status: unless(statusOf(outcome), end.status),
    outcome: unless('served', outcome),
    http_status: unless(200, end.http_status),
    error_code: orAbsent(end.error_code),
    usage: counted(end.usage),
    usage_estimated: unless(false, end.usage_estimated),
    priced_from: end.priced_from ? compactPriced(end.priced_from, end, facts) : undefined,
    cost_usd: orAbsent(cost_usd),
    list_cost_usd: unless(cost_usd, list_cost_usd),
    attempts:
      end.attempts.length === 0
        ? undefined
        : end.attempts.map((attempt, at) => compactAttempt(attempt, at, end, facts.model)),
    latency_ms: end.latency_ms,
    ttft_ms: orAbsent(end.ttft_ms),
    routing_fallback: unless(false, end.routing_fallback),
    cache_hit: unless(outcome === 'cached', end.cache_hit),
  };
}

function compactReading(reading: LimitReading, owner: Owner): LimitReadingV2 {
  return {
    scope: reading.scope,
    scope_id: unless(ownId(reading.scope, owner), reading.scope_id),
    rpm: unless(0, reading.rpm),
    rpm_limit: orAbsent(reading.rpm_limit),
    rpd: unless(0, reading.rpd),
    rpd_limit: orAbsent(reading.rpd_limit),
    cap_usd: orAbsent(reading.cap_usd),
  };
}

function compactPriced(
  priced: PricedFrom,
  { provider, attempts }: UsageEnd,
  { byok_used }: Pick<UsageFacts, 'byok_used'>,
): PricedFromV2 {
  const last = attempts.at(-1);
  return {
    snapshot_id: priced.snapshot_id,
    provider: unless(provider, priced.provider) ?? undefined,
    upstream_model: unless(last?.upstream_model, priced.upstream_model),
    tier: unless('default', priced.tier),
    discount_pct: orAbsent(priced.discount_pct),
    byok_served: unless(byok_used, priced.byok_served),
    byok_fee_pct: unless('0', priced.byok_fee_pct),
    context: isEmpty(priced.context) ? undefined : priced.context,
    price_window: orAbsent(priced.price_window),
    priced_at: unless(last?.started_at, priced.priced_at),
  };
}

function compactAttempt(attempt: AttemptRecord, at: number, end: UsageEnd, model: string): AttemptRecordV2 {
  const { http_status = null, ttft_ms = null, served } = attempt;
  return {
    n: unless(at + 1, attempt.n),
    provider: unless(end.provider, attempt.provider) ?? undefined,
    credential_id: attempt.credential_id,
    upstream_model: attempt.upstream_model,
    model: unless(model, attempt.model),
    status: unless(served ? 'success' : 'error', attempt.status),
    http_status: unless<number | null>(end.http_status, http_status),
    error_code: orAbsent(attempt.error_code),
    provider_code: orAbsent(attempt.provider_code),
    error_message: orAbsent(attempt.error_message),
    not_begun: attempt.not_begun,
    started_at: attempt.started_at,
    latency_ms: attempt.latency_ms,
    ttft_ms: unless<number | null>(attempt.latency_ms, ttft_ms),
    prompt_tokens: unless(end.usage.prompt_tokens ?? 0, attempt.prompt_tokens),
    completion_tokens: unless(end.usage.completion_tokens ?? 0, attempt.completion_tokens),
    served: unless(end.outcome === 'served' && at === end.attempts.length - 1, served),
    house_usd: orAbsent(attempt.house_usd),
  };
}

/**
 * Returns what the facts of gateway.usage.v2 say in full; whole facts stay as they are. Never throws: members of other
 * types than the contract's stay what they are, and the check of the whole record finds them.
 */
export function wholeFacts<Facts extends CompactFacts>(facts: Facts): Facts & UsageFacts {
  return {
    ...facts,
    unit: facts.unit ?? 0,
    org_id: facts.org_id ?? null,
    team_id: facts.team_id ?? null,
    requested_model: facts.requested_model ?? facts.model,
    stream: facts.stream ?? false,
    byok_used: facts.byok_used ?? false,
    request_tags: facts.request_tags ?? {},
    end_user_hash: facts.end_user_hash ?? null,
    limits: eachObject(facts.limits, (reading) => wholeReading(reading, facts)),
  };
}

/** Returns the record of gateway.usage.v1 that one of gateway.usage.v2 stands for. Never throws, as `wholeFacts`. */
export function wholeUsage(record: UsageRecordV2): UsageRecord {
  const facts = wholeFacts(record);
  const { outcome = 'served', cost_usd = null, priced_from = null, provider = null } = facts;
  const end = {
    ...facts,
    outcome,
    provider,
    http_status: facts.http_status ?? 200,
    usage: facts.usage ?? {},
  };
  const attempts = eachObject(facts.attempts, (attempt, at, all) =>
    wholeAttempt(attempt, at === all.length - 1, { ...end, n: at + 1 }),
  );
  return {
    ...end,
    status: facts.status ?? statusOf(outcome),
    error_code: facts.error_code ?? null,
    usage_estimated: facts.usage_estimated ?? false,
    priced_from: isObject(priced_from) ? wholePriced(priced_from, end, attempts) : priced_from,
    cost_usd,
    list_cost_usd: facts.list_cost_usd === undefined ? cost_usd : facts.list_cost_usd,
    attempts,
    ttft_ms: facts.ttft_ms ?? null,
    routing_fallback: facts.routing_fallback ?? false,
    cache_hit: facts.cache_hit ?? outcome === 'cached',
  };
}

function wholeReading(reading: LimitReadingV2, owner: Owner): LimitReading {
  return {
    ...reading,
    scope_id: reading.scope_id ?? (ownId(reading.scope, owner) as string),
    rpm: reading.rpm ?? 0,
    rpm_limit: reading.rpm_limit ?? null,
    rpd: reading.rpd ?? 0,
    rpd_limit: reading.rpd_limit ?? null,
  };
}

type Ended = Pick<UsageRecord, 'model' | 'provider' | 'outcome' | 'http_status' | 'usage' | 'byok_used'>;

function wholePriced(
  priced: PricedFromV2,
  { provider, byok_used }: Ended,
  attempts: readonly AttemptRecord[],
): PricedFrom {
  // Of a list that is no list, the check of the whole record speaks.
  const last = Array.isArray(attempts) ? (attempts as readonly AttemptRecord[]).at(-1) : undefined;
  return {
    ...priced,
    provider: priced.provider ?? (provider as string),
    upstream_model: priced.upstream_model ?? (last?.upstream_model as string),
    tier: priced.tier ?? 'default',
    discount_pct: priced.discount_pct ?? null,
    byok_served: priced.byok_served ?? byok_used,
    byok_fee_pct: priced.byok_fee_pct ?? '0',
    context: priced.context ?? {},
    price_window: priced.price_window ?? null,
    priced_at: priced.priced_at ?? last?.started_at,
  };
}

function wholeAttempt(attempt: AttemptRecordV2, isLast: boolean, end: Ended & { n: number }): AttemptRecord {
  const served = attempt.served ?? (isLast && end.outcome === 'served');
  const { http_status = end.http_status, ttft_ms = attempt.latency_ms } = attempt;
  return {
    ...attempt,
    n: attempt.n ?? end.n,
    provider: attempt.provider ?? (end.provider as string),
    model: attempt.model ?? end.model,
    status: attempt.status ?? (served ? 'success' : 'error'),
    http_status,
    error_code: attempt.error_code ?? null,
    provider_code: attempt.provider_code ?? null,
    error_message: attempt.error_message ?? null,
    ttft_ms,
    prompt_tokens: attempt.prompt_tokens ?? end.usage.prompt_tokens ?? 0,
    completion_tokens: attempt.completion_tokens ?? end.usage.completion_tokens ?? 0,
    served,
    house_usd: attempt.house_usd ?? null,
  };
}

function statusOf(outcome: UsageRecord['outcome']): UsageRecord['status'] {
  return outcome === 'failed' ? 'error' : 'success';
}

/** Returns the id that a scope of the unit itself has; undefined of any other. */
function ownId(scope: SpendScope, { key_id, member_id, team_id, org_id }: Owner): string | undefined {
  if (scope === 'key') return key_id;
  if (scope === 'member') return member_id;
  if (scope === 'team') return team_id ?? undefined;
  if (scope === 'org') return org_id ?? undefined;
  return scope === 'team_member' && team_id ? `${team_id}/${member_id}` : undefined;
}

/** Returns the counters that are not 0, and all seconds, whose price may have a minimum; undefined without any. */
function counted(usage: UnitUsage): UnitUsage | undefined {
  const found: Record<string, unknown> = {};
  let hasAny = false;
  // Pairs of `Object.entries` would cost each unit twenty arrays.
  for (const name in usage) {
    const value = usage[name as keyof UnitUsage];
    if (value === undefined || (value === 0 && !name.endsWith('_seconds'))) continue;
    found[name] = value;
    hasAny = true;
  }
  return hasAny ? found : undefined;
}

function isEmpty(object: object): boolean {
  for (const name in object) if (Object.hasOwn(object, name)) return false;
  return true;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maps the objects of a list; absent is empty, and what is no object or no list stays. */
function eachObject<From extends object, To>(
  list: readonly From[] | null | undefined,
  map: (one: From, at: number, all: readonly From[]) => To,
): To[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) return list as unknown as To[];
  const all: readonly From[] = list;
  return all.map((one, at) => (isObject(one) ? map(one, at, all) : (one as unknown as To)));
}
