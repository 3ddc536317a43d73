import { durationClassSql, DURATION_CLASSES } from '../posting/duration-classes.js';
import { SLOT_MS } from '../posting/slots.js';
import type { Condition, Tag, Times } from './row-filter.js';

export interface Asked {
  conditions: readonly Condition[];
  times: Times;
  tag: Tag | null;
  /** Tag whose value becomes the column `tag`; null or absent = no such column. */
  groupTag?: string | null;
}

const SUMMED = ['requests', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost', 'latency', 'ttft'];
const GROUPED = ['slot', 'key_id', 'team_id', 'member_id', 'model', 'endpoint', 'status'];
const CACHED = `CASE WHEN usage ->> 'cached_tokens' ~ '^[0-9]{1,15}$' THEN (usage ->> 'cached_tokens')::bigint ELSE 0 END`;
const ONE_EVENT = [
  `date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') AS slot`,
  'key_id',
  `coalesce(team_id, '') AS team_id`,
  ...['member_id', 'model', 'endpoint', 'status', '1 AS requests', 'prompt_tokens', 'completion_tokens'],
  `${CACHED} AS cached_tokens`,
  'coalesce(cost, 0) AS cost',
  `${oneOf('latency_ms')} AS latency`,
  `${oneOf('ttft_ms')} AS ttft`,
];

/** Values of a statement, each named by its place. */
export class Values {
  readonly list: unknown[] = [];

  add(value: unknown): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }
}

/**
 * SQL of the rows that add up to what was asked for: whole quarters of an hour as the postings have summed them, the rest
 * and what stands for a died process event by event. Tags are kept by event alone, so that a filter by one reads events.
 */
export function usageSource({ conditions, times, tag, groupTag = null }: Asked, values: Values): string {
  const matching = conditions.map(({ column, anyOf }) => `${column} = ANY(${values.add(anyOf)}::text[])`);
  const tagged = groupTag === null ? [] : [`request_tags ->> ${values.add(groupTag)}::text AS tag`];
  const events = (...more: string[]): string =>
    `SELECT ${[...ONE_EVENT, ...tagged].join(', ')} FROM usage_event WHERE ${[...matching, ...more].join(' AND ')}`;
  const since = ({ from }: Times): string[] =>
    from === null ? [] : [`created_at >= ${values.add(from)}::timestamptz`];
  const until = ({ before }: Times): string[] =>
    before === null ? [] : [`created_at < ${values.add(before)}::timestamptz`];
  if (tag !== null || groupTag !== null) {
    const more = tag === null ? [] : [tagSql(tag, values)];
    return events(...since(times), ...until(times), ...more);
  }
  const whole = wholeSlots(times);
  if (whole === null) return events(...since(times), ...until(times));
  const parts = [
    `SELECT ${[...GROUPED, ...SUMMED].join(', ')} FROM usage_slot WHERE ${[
      ...matching,
      ...(whole.from ? [`slot >= ${values.add(whole.from)}::timestamptz`] : []),
      ...(whole.before ? [`slot < ${values.add(whole.before)}::timestamptz`] : []),
    ].join(' AND ')}`,
    events(`error_code = 'gateway_crash'`, ...since(whole), ...until(whole)),
  ];
  if (times.from && whole.from && times.from < whole.from)
    parts.push(events(...since(times), ...until({ from: null, before: whole.from })));
  if (times.before && whole.before && whole.before < times.before)
    parts.push(events(...since({ from: whole.before, before: null }), ...until(times)));
  return parts.join(' UNION ALL ');
}

function tagSql({ name, value }: Tag, values: Values): string {
  const tag = `request_tags ->> ${values.add(name)}::text`;
  return value === null ? `${tag} IS NOT NULL` : `${tag} = ${values.add(value)}::text`;
}

/** null where not one whole slot lies in between. */
function wholeSlots({ from, before }: Times): Times | null {
  const first = from && new Date(Math.ceil(from.getTime() / SLOT_MS) * SLOT_MS);
  const end = before && new Date(Math.floor(before.getTime() / SLOT_MS) * SLOT_MS);
  return first !== null && end !== null && first >= end ? null : { from: first, before: end };
}

/** One event as the classes of a slot: a one where it belongs. */
function oneOf(column: string): string {
  const place = durationClassSql(column);
  const each = Array.from({ length: DURATION_CLASSES }, (_, n) => `coalesce((${n + 1} = ${place})::int, 0)`);
  return `ARRAY[${each.join(', ')}]`;
}
