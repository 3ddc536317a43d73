import type { Times } from '@gateway/platform';
import { SLOT_MS } from '../posting/sums.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { Place } from './event-cursor.js';
import { askedNameSql, isByAskedName, type Condition } from './row-filter.js';
import { Values } from './values.js';

export interface PageQuery {
  conditions: readonly Condition[];
  times: Times;
  after: Place | null;
  offset: number;
  limit: number;
}

/** The key of an event's row. */
export interface EventName {
  request_id: string;
  unit: number;
}

/** Columns that the index of a view's events lacks. */
const BESIDE_THE_INDEX: ReadonlySet<string> = new Set([
  'model',
  'status',
  'outcome',
  'endpoint',
  'team_id',
  'member_id',
]);
/** Deeper pages are read in order, over everything between. */
const ROWS_MAX = 1_000;

/** Returns true for a filter that may be so rare that a page would be sought among millions of other events. */
export function mayBeRare({ conditions, offset, limit }: PageQuery): boolean {
  if (isByAskedName(conditions)) return false;
  return offset + limit <= ROWS_MAX && conditions.some(({ column }) => BESIDE_THE_INDEX.has(column));
}

/**
 * Names of the events of a page, newest first. The quarters of an hour know where events of the filter are: only those that hold the page
 * are read, however rare they are. Events that stand for a died process are in none, and few. The limit of each slot keeps
 * PostgreSQL from reading all events of the filter first, which it takes to be fewer than they are.
 */
export async function findPage(database: UsageDatabase, query: PageQuery): Promise<EventName[]> {
  const { conditions, times, after, offset, limit } = query;
  const slots = await quarterHoursOfPage(database, query);
  const values = new Values();
  const matching = rowsAfter({ conditions, times, after }, values);
  const events = `SELECT request_id, unit, id, created_at FROM usage_event WHERE ${matching.join(' AND ')}`;
  const { rows } = await database.pool.query<EventName>(
    `SELECT request_id, unit FROM (
       SELECT event.* FROM unnest(${values.add(slots)}::timestamptz[]) AS slot CROSS JOIN LATERAL (
         ${events} AND error_code IS DISTINCT FROM 'gateway_crash'
           AND created_at >= slot AND created_at < slot + interval '15 minutes'
         ORDER BY created_at DESC, id DESC LIMIT ${offset + limit}) AS event
       UNION ALL (${events} AND error_code = 'gateway_crash' ORDER BY created_at DESC LIMIT ${ROWS_MAX + 1})
     ) AS found ORDER BY created_at DESC, id DESC LIMIT ${values.add(limit)} OFFSET ${values.add(offset)}`,
    values.list,
  );
  return rows;
}

/**
 * Each row of a slot is an event at least, so as many rows as the page has hold it. The slot in which the page begins may
 * lie before it with all its events: it is read as well, and not counted.
 */
async function quarterHoursOfPage(
  { pool }: UsageDatabase,
  { conditions, times, after, offset, limit }: PageQuery,
): Promise<Date[]> {
  const values = new Values();
  const matching = conditionsSql(conditions, values);
  const tops = [times.before, after?.created_at].flatMap((top) => (top ? [top.getTime()] : []));
  const topSlot = tops.length === 0 ? null : floorQuarterHour(Math.min(...tops));
  if (times.from) matching.push(`slot >= ${values.add(floorQuarterHour(times.from.getTime()))}::timestamptz`);
  if (topSlot) matching.push(`slot < ${values.add(topSlot)}::timestamptz`);
  const { rows } = await pool.query<{ slot: Date }>(
    `SELECT DISTINCT slot FROM (
       SELECT slot FROM usage_slot WHERE ${matching.join(' AND ')} ORDER BY slot DESC LIMIT ${values.add(offset + limit)}
     ) AS newest`,
    values.list,
  );
  return [...rows.map(({ slot }) => slot), ...(topSlot ? [topSlot] : [])];
}

/** Conditions of the events of a filter that come after a place, in the order of events. */
export function rowsAfter(
  { conditions, times, after }: Pick<PageQuery, 'conditions' | 'times' | 'after'>,
  values: Values,
): string[] {
  const matching = [...conditionsSql(conditions, values), ...askedNameSql(conditions)];
  if (times.from) matching.push(`created_at >= ${values.add(times.from)}::timestamptz`);
  if (times.before) matching.push(`created_at < ${values.add(times.before)}::timestamptz`);
  if (after)
    // The first is what an index can seek by.
    matching.push(
      `created_at <= ${values.add(after.created_at)}::timestamptz`,
      `(created_at, id) < (${placeSql(after, values)})`,
    );
  return matching;
}

/** A place as a row of two. */
export function placeSql({ created_at, id }: Place, values: Values): string {
  return `${values.add(created_at)}::timestamptz, ${values.add(id)}::text`;
}

function conditionsSql(conditions: readonly Condition[], values: Values): string[] {
  return conditions.map(({ column, anyOf }) => {
    const [only] = anyOf;
    return anyOf.length === 1
      ? `${column} = ${values.add(only)}::text`
      : `${column} = ANY(${values.add(anyOf)}::text[])`;
  });
}

function floorQuarterHour(ms: number): Date {
  return new Date(Math.floor(ms / SLOT_MS) * SLOT_MS);
}
