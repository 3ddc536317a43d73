import type { SpendScope } from '@gateway/contracts';
import { factSql } from './event-detail.js';
import type { Scope } from './scopes.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const PERIOD = /^(.+)\/b:(?:(\d{1,15})-(\d{1,15})|r(\d{1,3}))(?:\.\d{1,15})?$/;

/** True if a scope's id is of the period of a budget: `<scope id>/b:<start>-<end>`, in milliseconds since 1970; what follows a dot tells counters of one period apart. Of a rolling one `b:r<days>`. */
export function isPeriod(scopeId: string): boolean {
  return PERIOD.test(scopeId);
}

/** True of the period of a budget of a tag or an end user. */
export function isCarried({ kind, id }: Scope): boolean {
  return (kind === 'tag' || kind === 'end_user') && isPeriod(id);
}

/** Scopes in columns as SQL takes them. Those without a period have null in place of its times. */
export interface PeriodColumns {
  scopeIds: string[];
  startsAt: (Date | null)[];
  /** Whole hours of UTC in the period: from here on, and before the next. */
  hoursFrom: (Date | null)[];
  hoursTo: (Date | null)[];
  endsAt: (Date | null)[];
}

/** A rolling one begins with the whole hour in which its days began, and what clocks ahead have written counts. */
export function periodColumns(scopes: readonly Pick<Scope, 'id'>[], nowMs: number): PeriodColumns {
  const columns: PeriodColumns = { scopeIds: [], startsAt: [], hoursFrom: [], hoursTo: [], endsAt: [] };
  for (const { id } of scopes) {
    const [, scopeId = id, ...range] = PERIOD.exec(id) ?? [];
    const { startMs, endMs } = rangeOf(range, nowMs);
    const at = (ms: number): Date | null => (range.length === 0 ? null : new Date(ms));
    columns.scopeIds.push(scopeId);
    columns.startsAt.push(at(startMs));
    columns.hoursFrom.push(at(Math.ceil(startMs / HOUR_MS) * HOUR_MS));
    columns.hoursTo.push(at(Math.floor(endMs / HOUR_MS) * HOUR_MS));
    columns.endsAt.push(at(endMs));
  }
  return columns;
}

function rangeOf(
  [start, end, days]: (string | undefined)[],
  nowMs: number,
): { startMs: number; endMs: number } {
  if (days === undefined) return { startMs: Number(start), endMs: Number(end) };
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  return { startMs: hourMs - Number(days) * DAY_MS, endMs: hourMs + DAY_MS };
}

/** Message of a failure: a question for the spend of a period comes too early. */
export const NOT_SUMMED = 'the spend of a period is not summed yet';

/** SQL of the readings of an event `e` where one of them may be of a tag: few texts are looked into. */
const LIMITS = `CASE WHEN e.limits IS NOT NULL OR e.detail LIKE '%"tag"%' THEN ${factSql('limits', 'e')} END`;
/** SQL of the tag of a reading `l`. */
const TAG_OF_READING = `regexp_replace(l ->> 'scope_id', '/b:[^/]*$', '')`;

/**
 * SQL of the spend of a scope in a period: its whole hours, and the events of those that it cuts; of a provider whole
 * quarters of an hour, with which the days of every zone begin. `w` has account_id, scope, scope_id and the columns of
 * `PeriodColumns`. null of a tag or an end user whose hours are not summed (`CarriedScopes`). Also null of a provider
 * while older events are still added up (`ProviderRollup`).
 */
export const PERIOD_SPENT = `CASE WHEN w.scope = 'provider' THEN (
    SELECT CASE WHEN (SELECT owed_from FROM spend_window) = '' THEN coalesce(sum(p.amount), 0) END FROM provider_slot p
    WHERE p.provider = w.scope_id AND p.slot >= w.starts_at AND p.slot < w.ends_at)
  ELSE (CASE WHEN w.scope IN ('tag', 'end_user') THEN (
    SELECT ${hoursOf('carried_hour')} FROM carried_scope s
    WHERE s.account_id = w.account_id AND s.scope = w.scope AND s.scope_id = w.scope_id AND s.since <= w.hours_from)
  ELSE ${hoursOf('spend_hour')} END
  + ${eventsBetween('w.starts_at', 'w.hours_from')} + ${eventsBetween('w.hours_to', 'w.ends_at')}) END`;

function hoursOf(table: 'spend_hour' | 'carried_hour'): string {
  return `(SELECT coalesce(sum(h.amount), 0) FROM ${table} h
    WHERE h.account_id = w.account_id AND h.scope = w.scope AND h.scope_id = w.scope_id
      AND h.hour >= w.hours_from AND h.hour < w.hours_to)`;
}

function eventsBetween(from: string, to: string): string {
  return `(SELECT coalesce(sum(e.cost), 0) FROM usage_event e
    WHERE e.account_id = w.account_id AND e.created_at >= ${from} AND e.created_at < ${to} AND e.cost > 0
      AND w.scope_id = CASE w.scope WHEN 'key' THEN e.key_id WHEN 'team' THEN e.team_id WHEN 'org' THEN e.org_id
        WHEN 'member' THEN CASE WHEN e.org_id IS NOT NULL THEN e.member_id END
        ELSE ${carrierSql('w.scope', 'w.scope_id')} END)`;
}

/** SQL of a scope's id where an event `e` carries that tag or names that end user, else of another or null. */
export function carrierSql(scope: string, id: string): string {
  return `CASE ${scope} WHEN 'end_user' THEN e.end_user_hash WHEN 'tag' THEN CASE WHEN ${carriesTag(id)} THEN ${id} END END`;
}

/** SQL that is true of an event `e` that carries a tag, given as `name=value`, or was counted on one of its key. */
function carriesTag(tag: string): string {
  return `(e.request_tags ->> split_part(${tag}, '=', 1) = substr(${tag}, strpos(${tag}, '=') + 1)
    OR CASE WHEN jsonb_typeof(${LIMITS}) = 'array' THEN EXISTS (SELECT FROM jsonb_array_elements(${LIMITS}) AS l
      WHERE l ->> 'scope' = 'tag' AND ${TAG_OF_READING} = ${tag}) ELSE FALSE END)`;
}

/** SQL of the scopes of an event `e` that only requests carry: rows of scope and scope_id, each once. */
export const CARRIED = `(
  SELECT 'tag' AS scope, name || '=' || value AS scope_id
  FROM jsonb_each_text(CASE jsonb_typeof(e.request_tags) WHEN 'object' THEN e.request_tags ELSE '{}' END) AS tag(name, value)
  UNION SELECT 'tag', ${TAG_OF_READING}
  FROM jsonb_array_elements(CASE jsonb_typeof(${LIMITS}) WHEN 'array' THEN ${LIMITS} ELSE '[]' END) AS l WHERE l ->> 'scope' = 'tag'
  UNION SELECT 'end_user', e.end_user_hash WHERE e.end_user_hash IS NOT NULL)`;

/** Periods of budgets on which admission counted a unit, from the readings that its event carries. */
export function periodsOf(limits: readonly { scope: SpendScope; scope_id: string }[]): Scope[] {
  return limits.flatMap(({ scope: kind, scope_id: id }) => (isPeriod(id) ? [{ kind, id }] : []));
}
