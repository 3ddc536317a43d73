import { durationClassSql, DURATION_CLASSES } from '../posting/duration-classes.js';
import { CACHED_SQL } from '../posting/event-detail.js';

export interface SeriesColumns {
  /** SQL of the bucket that a moment lies in; what lies in one bucket may then come as one row. */
  bucketOf: (moment: string) => string;
  /** null = one group. */
  group: string | null;
}

/** One event as a row of sums. */
export const ONE_EVENT = [
  `date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') AS slot`,
  'key_id',
  `coalesce(team_id, '') AS team_id`,
  ...['member_id', 'model', 'endpoint', 'status', '1 AS requests', 'prompt_tokens', 'completion_tokens'],
  `${CACHED_SQL} AS cached_tokens`,
  'coalesce(cost, 0) AS cost',
  `${oneOf('latency_ms')} AS latency`,
  `${oneOf('ttft_ms')} AS ttft`,
];

/**
 * Events added up by bucket, group and class of their durations before there are arrays of classes: two of twenty counts for
 * each event cost several times as much as all else.
 */
export function eventsByBucket(
  events: string,
  tagged: readonly string[],
  { bucketOf, group }: SeriesColumns,
): string {
  const columns = [...new Set(['slot', 'status', ...(group === null ? [] : [group])])];
  const sums = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost'];
  const arrayOf = (place: string): string =>
    `ARRAY[${Array.from({ length: DURATION_CLASSES }, (_, n) => `CASE WHEN ${place} = ${n + 1} THEN requests END`).join(', ')}]`;
  return `SELECT ${[...columns, 'requests', ...sums].join(', ')}, ${arrayOf('latency_class')} AS latency, ${arrayOf('ttft_class')} AS ttft
    FROM (
      SELECT ${columns.join(', ')}, latency_class, ttft_class, count(*) AS requests, ${sums.map((name) => `sum(${name}) AS ${name}`).join(', ')}
      FROM (
        SELECT ${bucketOf('created_at')} AS slot, key_id, coalesce(team_id, '') AS team_id, member_id, model, endpoint, status,
          prompt_tokens, completion_tokens, ${CACHED_SQL} AS cached_tokens, coalesce(cost, 0) AS cost,
          ${durationClassSql('latency_ms')} AS latency_class, ${durationClassSql('ttft_ms')} AS ttft_class
          ${tagged.map((tag) => `, ${tag}`).join('')}
        FROM ${events}
      ) AS event GROUP BY ${columns.join(', ')}, latency_class, ttft_class
    ) AS summed`;
}

/** One event as the classes of a slot: a one where it belongs. */
function oneOf(column: string): string {
  const place = durationClassSql(column);
  const each = Array.from({ length: DURATION_CLASSES }, (_, n) => `coalesce((${n + 1} = ${place})::int, 0)`);
  return `ARRAY[${each.join(', ')}]`;
}
