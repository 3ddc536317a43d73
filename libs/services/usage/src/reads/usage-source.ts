import type { Times } from '@gateway/platform';
import { DAY_MS, HOUR_MS, SLOT_MS } from '../posting/sums.js';
import { eventsByBucket, ONE_EVENT, type SeriesColumns } from './event-rows.js';
import { eventsSql, tagSql, type Located } from './events-sql.js';
import { askedNameSql, isByAskedName, type Condition, type Tag } from './row-filter.js';
import { tagDaysSql, type TagDays } from './tag-days.js';
import { Values } from './values.js';

export interface Asked {
  conditions: readonly Condition[];
  times: Times;
  tag: Tag | null;
  /** Place of the events of `tag`; null or absent = anywhere. */
  located?: Located | null;
  /** Days in which the question of a tag is added up; null or absent = none. */
  tagDays?: TagDays | null;
  /** Tag whose value becomes the column `tag`; null or absent = no such column. */
  groupTag?: string | null;
  /** True if whole days of UTC may come as one row. */
  isByDay?: boolean;
  /** Columns of a series: its rows carry its group, and no more of what is grouped by. */
  series?: SeriesColumns;
}

const SUMMED = ['requests', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost', 'latency', 'ttft'];
const GROUPED = ['slot', 'key_id', 'team_id', 'member_id', 'model', 'endpoint', 'status'];
/** Slots before it are in usage_day; the day that it lies in is not whole there. */
const WHOLE_DAYS_TO = `(SELECT date_trunc('day', days_to, 'UTC') FROM spend_window)`;
/** Hours are whole from the one on to the other. */
const HOURS_FROM = '(SELECT hours_from FROM spend_window)';
const WHOLE_HOURS_TO = `(SELECT date_trunc('hour', days_to, 'UTC') FROM spend_window)`;

/**
 * SQL of the rows that add up to what was asked for: whole days and quarters of an hour as they were summed, the rest and
 * what stands for a died process event by event. A filter by a tag, and a series by one, reads events where no day is added up
 * by it; a filter by the name that was asked for reads events.
 */
export function usageSource(asked: Asked, values: Values): string {
  const isOfEvents = asked.tag !== null || isByAskedName(asked.conditions);
  if (isOfEvents || (asked.groupTag ?? null) !== null) return taggedSource(asked, values);
  const { times, isByDay, series } = asked;
  const matching = matchingSql(asked, values);
  const events = (...more: string[]): string =>
    `SELECT ${ONE_EVENT.join(', ')} FROM ${eventsSql([...matching, ...more], null, values)}`;
  const whole = wholeOf(times, SLOT_MS);
  if (whole === null) return events(...withinSql(times, values));
  const parts = [
    ...wholeParts({ matching, ...whole }, values, { isByDay, series }),
    events(`error_code = 'gateway_crash'`, ...withinSql(whole, values)),
  ];
  if (times.from && whole.from && times.from < whole.from)
    parts.push(events(...withinSql({ from: times.from, before: whole.from }, values)));
  if (times.before && whole.before && whole.before < times.before)
    parts.push(events(...withinSql({ from: whole.before, before: times.before }, values)));
  return parts.join(' UNION ALL ');
}

function taggedSource(asked: Asked, values: Values): string {
  const { tag, located = null, groupTag = null, tagDays = null, series, times } = asked;
  const tagged = groupTag === null ? [] : [`request_tags ->> ${values.add(groupTag)}::text AS tag`];
  const rowsOf = (events: string): string =>
    series
      ? eventsByBucket(events, tagged, series)
      : `SELECT ${[...ONE_EVENT, ...tagged].join(', ')} FROM ${events}`;
  if (tagDays !== null) {
    const { sums, events } = tagDaysSql({ ...asked, groupTag }, tagDays, values);
    return [...sums, rowsOf(events)].join(' UNION ALL ');
  }
  const matching = [...matchingSql(asked, values), ...withinSql(times, values)];
  if (tag !== null) matching.push(tagSql(tag, values));
  return rowsOf(eventsSql(matching, located, values));
}

function matchingSql({ conditions }: Asked, values: Values): string[] {
  const rows = conditions.map(({ column, anyOf }) => `${column} = ANY(${values.add(anyOf)}::text[])`);
  return [...rows, ...askedNameSql(conditions)];
}

function withinSql({ from, before }: Times, values: Values): string[] {
  return [
    ...(from === null ? [] : [`created_at >= ${values.add(from)}::timestamptz`]),
    ...(before === null ? [] : [`created_at < ${values.add(before)}::timestamptz`]),
  ];
}

type Summed = Times & { matching: readonly string[] };

function wholeParts(
  asked: Summed,
  values: Values,
  { isByDay = false, series }: Pick<Asked, 'isByDay' | 'series'>,
): string[] {
  if (isByDay) return dayParts(asked, values);
  return series ? hourParts(asked, values, series.bucketOf) : slotParts(asked, values);
}

/**
 * Hours where they are added up and lie in one bucket; slots before and after them, and of hours that a bucket's end cuts:
 * days of some zones begin at half past.
 */
function hourParts(
  { matching, from, before }: Summed,
  values: Values,
  bucketOf: (moment: string) => string,
): string[] {
  const hours = wholeOf({ from, before }, HOUR_MS);
  if (hours === null) return slotParts({ matching, from, before }, values);
  const at = (moment: Date): string => `${values.add(moment)}::timestamptz`;
  const first = hours.from ? `greatest(${at(hours.from)}, ${HOURS_FROM})` : HOURS_FROM;
  const last = hours.before ? `least(${at(hours.before)}, ${WHOLE_HOURS_TO})` : WHOLE_HOURS_TO;
  // Where no hour is added up the two are one, and slots are on both sides of it.
  const end = `greatest(${first}, ${last})`;
  const isWhole = (hour: string): string =>
    `${bucketOf(hour)} = ${bucketOf(`${hour} + interval '45 minutes'`)}`;
  const since = from ? [`slot >= ${at(from)}`] : [];
  const until = before ? [`slot < ${at(before)}`] : [];
  const columns = [...GROUPED, ...SUMMED].join(', ');
  return [
    summed('usage_hour', [...matching, `slot >= ${first}`, `slot < ${end}`, isWhole('slot')]),
    summed('usage_slot', [...matching, ...since, ...until, `slot < ${first}`]),
    summed('usage_slot', [...matching, ...since, ...until, `slot >= ${end}`]),
    // OFFSET 0 keeps the planner from reading all slots for each hour: few hours are cut, of most series none.
    `SELECT ${columns} FROM (
       SELECT hour FROM generate_series(${first}, ${end} - interval '1 hour', interval '1 hour') AS whole(hour)
       WHERE NOT ${isWhole('hour')} OFFSET 0
     ) AS cut CROSS JOIN LATERAL (
       ${summed('usage_slot', [...matching, 'slot >= hour', `slot < hour + interval '1 hour'`])} OFFSET 0
     ) AS part`,
  ];
}

function slotParts({ matching, from, before }: Summed, values: Values): string[] {
  return [
    summed('usage_slot', [
      ...matching,
      ...(from ? [`slot >= ${values.add(from)}::timestamptz`] : []),
      ...(before ? [`slot < ${values.add(before)}::timestamptz`] : []),
    ]),
  ];
}

/** Days where they are whole and added up, slots before and after them. */
function dayParts({ matching, from, before }: Summed, values: Values): string[] {
  const days = wholeOf({ from, before }, DAY_MS);
  if (days === null) return slotParts({ matching, from, before }, values);
  const first = days.from && `${values.add(days.from)}::timestamptz`;
  const end = days.before
    ? `least(${values.add(days.before)}::timestamptz, ${WHOLE_DAYS_TO})`
    : WHOLE_DAYS_TO;
  const parts = [
    summed('usage_day', [...matching, ...(first ? [`slot >= ${first}`] : []), `slot < ${end}`]),
    summed('usage_slot', [
      ...matching,
      `slot >= ${first ? `greatest(${first}, ${end})` : end}`,
      ...(before ? [`slot < ${values.add(before)}::timestamptz`] : []),
    ]),
  ];
  if (from && days.from && from < days.from)
    parts.push(...slotParts({ matching, from, before: days.from }, values));
  return parts;
}

function summed(table: 'usage_slot' | 'usage_hour' | 'usage_day', conditions: readonly string[]): string {
  return `SELECT ${[...GROUPED, ...SUMMED].join(', ')} FROM ${table} WHERE ${conditions.join(' AND ')}`;
}

/** null where not one whole slot or day lies in between. */
function wholeOf({ from, before }: Times, lengthMs: number): Times | null {
  const first = from && new Date(Math.ceil(from.getTime() / lengthMs) * lengthMs);
  const end = before && new Date(Math.floor(before.getTime() / lengthMs) * lengthMs);
  return first !== null && end !== null && first >= end ? null : { from: first, before: end };
}
