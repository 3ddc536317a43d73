import type { Times } from '@gateway/platform';
import { DURATION_CLASSES } from '../posting/duration-classes.js';
import { DAY_MS, SLOT_MS } from '../posting/sums.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { tagSql, type Located } from './events-sql.js';
import type { SeriesColumns } from './event-rows.js';
import { locateTag } from './locate-tag.js';
import type { Condition, Listed, Tag } from './row-filter.js';
import { Values } from './values.js';

/** Days of UTC of which some are added up by a tag; what lies outside is read event by event. */
export interface TagDays {
  accountId: string;
  from: Date;
  before: Date;
}

interface TagQuestion extends Listed {
  groupTag: string | null;
  /** null = one group. */
  group: string | null;
  isByDay: boolean;
}

/** Columns of a sum of a day and tag. */
const KNOWN_COLUMNS: ReadonlySet<string> = new Set(['account_id', 'org_id', 'model', 'status']);
const KNOWN_GROUPS: ReadonlySet<string | null> = new Set([null, 'tag', 'model', 'status']);
/** A range cuts two days. */
const CUT_DAYS = 2;
const DAY = `interval '24 hours'`;
const SUMS = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost'];
const CLASSES = ['latency', 'ttft'];

/**
 * Returns where a filter by a tag reads: in days that are added up, else where its events are. Nothing for a question
 * without a tag.
 */
export async function placeTag(
  database: UsageDatabase,
  query: TagQuestion,
): Promise<{ located: Located | null; tagDays: TagDays | null }> {
  const located = await locateTag(database, query);
  const found = await findDays(database, query);
  if (found === null) return { located, tagDays: null };
  const { unknown, ...tagDays } = found;
  const quarters = ((unknown + CUT_DAYS) * DAY_MS) / SLOT_MS;
  return located !== null && located.slots.length <= quarters
    ? { located, tagDays: null }
    : { located: null, tagDays };
}

/** null where none is added up that the question could use. */
async function findDays(
  { pool }: UsageDatabase,
  { conditions, times, tag, groupTag, group, isByDay }: TagQuestion,
): Promise<(TagDays & { unknown: number }) | null> {
  const name = groupTag ?? tag?.name;
  const [accountId, ...others] = conditions.find(({ column }) => column === 'account_id')?.anyOf ?? [];
  const isKnown =
    isByDay && KNOWN_GROUPS.has(group) && conditions.every(({ column }) => KNOWN_COLUMNS.has(column));
  if (name === undefined || (groupTag !== null && tag !== null) || !isKnown) return null;
  if (accountId === undefined || others.length > 0) return null;
  const values = new Values();
  const within = [`account_id = ${values.add(accountId)}`, summedSql(values.add(name))];
  if (times.from) within.push(`day >= ${values.add(times.from)}::timestamptz`);
  if (times.before) within.push(`day + ${DAY} <= ${values.add(times.before)}::timestamptz`);
  const { rows } = await pool.query<{ from: Date | null; before: Date | null; days: string }>(
    `SELECT min(day) AS "from", max(day) + ${DAY} AS before, count(*) AS days FROM usage_tag_day AS d WHERE ${within.join(' AND ')}`,
    values.list,
  );
  const [{ from, before, days }] = rows;
  if (from === null || before === null) return null;
  return { accountId, from, before, unknown: (before.getTime() - from.getTime()) / DAY_MS - Number(days) };
}

/** Returns the condition of a row of usage_tag_day, `d`, that is added up by a name as all its events are. */
function summedSql(name: string): string {
  return `d.summed = d.changes AND (${name} = ANY(d.names) OR ${name} <> ALL(d.left_out))`;
}

export interface TaggedQuestion {
  conditions: readonly Condition[];
  times: Times;
  tag: Tag | null;
  groupTag: string | null;
  series?: SeriesColumns;
}

/**
 * SQL of days that are added up, and of the rest as usage_event. Which is which is asked in the statement itself: an event that
 * is posted late makes its day one of the rest in the moment in which it is there.
 */
export function tagDaysSql(
  { conditions, times, tag, groupTag, series }: TaggedQuestion,
  { accountId, from, before }: TagDays,
  values: Values,
): { sums: string[]; events: string } {
  const name = groupTag ?? tag?.name;
  const at = (moment: Date): string => `${values.add(moment)}::timestamptz`;
  const matching = conditions.map(({ column, anyOf }) => `${column} = ANY(${values.add(anyOf)}::text[])`);
  const named = `${values.add(name)}::text`;
  // What no row is noted of has no tags. A series shows what has not the tag, too: all that the day is, without what has it.
  const isSummed = `coalesce(
    (SELECT coalesce(${summedSql(named)}, false) FROM usage_tag_day AS d WHERE d.account_id = ${values.add(accountId)} AND d.day = whole.day),
    (SELECT whole.day >= tags_from AND whole.day + ${DAY} <= tags_to FROM spend_window))
    ${groupTag === null ? '' : `AND whole.day < (SELECT date_trunc('day', days_to, 'UTC') FROM spend_window)`}`;
  const days = (condition: string): string =>
    `(SELECT day FROM generate_series(${at(from)}, ${at(before)} - ${DAY}, ${DAY}) AS whole(day) WHERE ${condition} OFFSET 0) AS days`;
  const rowsOf = (table: string, more: string[], row: Row): string =>
    `SELECT ${columnsOf(row, series).join(', ')} FROM ${days(isSummed)} CROSS JOIN LATERAL (
       SELECT * FROM ${table} WHERE ${[...matching, ...more].join(' AND ')} OFFSET 0) AS summed`;
  const ofTag = [`day = days.day`, `name = ${named}`];
  if (tag !== null && tag.value !== null) ofTag.push(`value = ${values.add(tag.value)}::text`);
  const sums = [rowsOf('usage_tag_sum', ofTag, { tag: 'value', sign: '' })];
  if (groupTag !== null)
    sums.push(
      rowsOf('usage_day', ['slot = days.day'], { tag: 'NULL::text', sign: '' }),
      rowsOf('usage_tag_sum', ofTag, { tag: 'NULL::text', sign: '-' }),
    );
  const tagged = tag === null ? [] : [tagSql(tag, values)];
  const eventsOf = (...more: string[]): string =>
    `SELECT * FROM usage_event WHERE ${[...matching, ...tagged, ...more].join(' AND ')}`;
  const since = times.from ? [`created_at >= ${at(times.from)}`] : [];
  const until = times.before ? [`created_at < ${at(times.before)}`] : [];
  return {
    sums,
    events: `(
      SELECT event.* FROM ${days(`NOT (${isSummed})`)} CROSS JOIN LATERAL (
        ${eventsOf('created_at >= days.day', `created_at < days.day + ${DAY}`, `error_code IS DISTINCT FROM 'gateway_crash'`)} OFFSET 0) AS event
      UNION ALL ${eventsOf(`created_at >= ${at(from)}`, `created_at < ${at(before)}`, `error_code = 'gateway_crash'`)}
      UNION ALL ${eventsOf(...since, `created_at < ${at(from)}`)}
      UNION ALL ${eventsOf(`created_at >= ${at(before)}`, ...until)}
    ) AS usage_event`,
  };
}

interface Row {
  /** SQL of the column `tag`. */
  tag: string;
  sign: '' | '-';
}

/** Returns the columns as `eventsByBucket` names them for a series, else as ONE_EVENT. */
function columnsOf({ tag, sign }: Row, series: SeriesColumns | undefined): string[] {
  const named = series
    ? [...new Set(['slot', 'status', ...(series.group === null ? [] : [series.group])])]
    : ['slot', 'key_id', 'team_id', 'member_id', 'model', 'endpoint', 'status'];
  const known: Record<string, string> = {
    slot: 'days.day AS slot',
    model: 'model',
    status: 'status',
    tag: `${tag} AS tag`,
  };
  const classes = CLASSES.map((name) => {
    const each = Array.from({ length: DURATION_CLASSES }, (_, n) => `-${name}[${n + 1}]`);
    return sign === '' ? name : `ARRAY[${each.join(', ')}]`;
  });
  return [
    ...named.map((name) => known[name] ?? `'' AS ${name}`),
    ...['requests', ...SUMS].map((name) => `${sign}${name} AS ${name}`),
    ...classes.map((sql, n) => `${sql} AS ${CLASSES[n]}`),
  ];
}
