import type { AttemptRecord, LimitReading, SpendScope, UsageRecord } from '@gateway/contracts';
import { memberScopes } from './scopes.js';

/** Facts of an event that are stored as one text: PostgreSQL takes twice as long to make columns of jsonb of them. */
type Folded = 'usage' | 'attempts' | 'priced_from' | 'limits';

/** Stored facts of an event: in columns of their own, or in `detail`. */
export type StoredFacts = Readonly<Record<Folded, unknown>> & { detail: string | null };

type Scoped = Parameters<typeof memberScopes>[0];

/** A reading without the id that the columns of its event say, and without a cap that is none. */
type StoredReading = Omit<LimitReading, 'scope_id' | 'cap_usd'> & { scope_id?: string; cap_usd?: string };

/** SQL of one of the facts as jsonb, in whichever way the event stores it. */
export function factSql(name: Folded, event = 'usage_event'): string {
  return `coalesce(${event}.${name}, (${event}.detail::json -> '${name}')::jsonb)`;
}

/** SQL of the cached tokens: 0 where a provider counted none, or what is no count. */
export const CACHED_SQL = `CASE WHEN usage IS NULL THEN coalesce(usage_event.cached_tokens, 0)
  WHEN usage ->> 'cached_tokens' ~ '^[0-9]{1,15}$' THEN (usage ->> 'cached_tokens')::bigint ELSE 0 END`;

/** SQL of readings without those of an end user's budget. */
export function withoutEndUser(limits: string): string {
  return `(SELECT jsonb_agg(l ORDER BY n) FROM jsonb_array_elements(CASE jsonb_typeof(${limits}) WHEN 'array' THEN ${limits} END)
    WITH ORDINALITY AS reading(l, n) WHERE l ->> 'scope' <> 'end_user')`;
}

/** SQL of a detail without them. */
export function detailWithoutEndUser(detail: string): string {
  return `jsonb_set(${detail}::jsonb, '{limits}', coalesce(${withoutEndUser(`(${detail}::jsonb -> 'limits')`)}, 'null'), false)::text`;
}

/** Returns the facts as one line of JSON, which PostgreSQL can read as jsonb. */
export function detailOf(unit: UsageRecord): string {
  const own = ownIds(unit);
  return wellFormed(
    JSON.stringify({
      usage: unit.usage,
      attempts: unit.attempts.map(storedAttempt),
      priced_from: unit.priced_from ?? undefined,
      limits: unit.limits.map((reading) => storedReading(reading, own)),
    }),
  );
}

/** Returns the facts of a row, whichever way it stores them. */
export function factsOf(row: StoredFacts): Readonly<Record<Folded, unknown>> {
  const { usage, attempts, priced_from, limits, detail } = row;
  const folded = detail === null ? {} : (JSON.parse(detail) as Partial<Record<Folded, unknown>>);
  return {
    usage: usage ?? folded.usage,
    attempts: attempts ?? folded.attempts,
    priced_from: priced_from ?? folded.priced_from ?? null,
    limits: limits ?? folded.limits ?? null,
  };
}

/** Returns the readings as they were recorded; null where the event stores none. */
export function readingsOf(limits: unknown, event: Scoped): LimitReading[] | null {
  if (!Array.isArray(limits)) return null;
  const own = ownIds(event);
  return (limits as StoredReading[]).map((reading) => ({
    ...reading,
    scope_id: reading.scope_id ?? own.get(reading.scope) ?? '',
    cap_usd: reading.cap_usd ?? null,
  }));
}

function storedAttempt(attempt: AttemptRecord): object {
  const { error_code, provider_code, error_message, house_usd } = attempt;
  return {
    ...attempt,
    error_code: error_code ?? undefined,
    provider_code: provider_code ?? undefined,
    error_message: error_message ?? undefined,
    house_usd: house_usd ?? undefined,
  };
}

function storedReading(reading: LimitReading, own: ReadonlyMap<SpendScope, string>): StoredReading {
  const { scope, scope_id } = reading;
  return {
    ...reading,
    scope_id: scope_id === own.get(scope) ? undefined : scope_id,
    cap_usd: reading.cap_usd ?? undefined,
  };
}

function ownIds(event: Scoped): ReadonlyMap<SpendScope, string> {
  return new Map(memberScopes(event).map(({ kind, id }) => [kind, id]));
}

const HALF = String.raw`\ud`;
/** An escape of JSON; the first alternative is half a character, which stands alone wherever it is escaped. */
const ESCAPE = /\\(?:ud[89a-f][\da-f]{2}|.)/g;

/** A provider may have sent half a character: PostgreSQL would refuse it when the text is read. */
function wellFormed(json: string): string {
  if (!json.includes(HALF)) return json;
  return json.replace(ESCAPE, (escape) => (escape.startsWith(HALF) ? String.raw`\ufffd` : escape));
}
