import { Injectable } from '@nestjs/common';
import { ApiError, type Granularity, type SeriesValues, type UsageSeries } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { DURATION_CLASSES, percentileOf } from '../posting/duration-classes.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { eventRows, tagOf, type EventFilter } from './row-filter.js';
import { placeTag } from './tag-days.js';
import { usageSource, type Asked } from './usage-source.js';
import { Values } from './values.js';
import type { View } from './view.js';

export interface SeriesQuestion {
  view: View;
  filter: EventFilter;
  from: Date;
  before: Date;
  granularity: Granularity;
  timeZone: string;
  /** Member that the body names; null = one group. */
  groupBy: string | null;
  top: number;
}

export type Series = Pick<UsageSeries, 'buckets' | 'totals' | 'total'> & { groups: string[] };

interface SeriesRow {
  start: Date | null;
  /** null = beyond the top. */
  grp: string | null;
  isAll: boolean;
  requests: string;
  errors: string;
  prompt: string;
  completion: string;
  cached: string;
  cost: string;
  latency: string[];
  ttft: string[];
}

const GROUP_COLUMNS: Record<string, string> = {
  model: 'model',
  key: 'key_id',
  member: 'member_id',
  team: 'team_id',
  endpoint: 'endpoint',
  status: 'status',
};
const BUCKET_MS: Record<Granularity, number> = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 28 * 86_400_000,
};
const BUCKETS_MAX = 2_000;
const UTC_NAMES: ReadonlySet<string> = new Set(['UTC', 'Etc/UTC', 'GMT', 'Etc/GMT']);
const TAG_PREFIX = 'tag:';
const UNKNOWN_ZONE = '22023';
const OTHER = 'other';
const ALL = 'all';
const NONE = 'none';

/** Sums of buckets of time and groups. Buckets begin where the named zone's hours, days, weeks and months do. */
@Injectable()
export class SeriesStore {
  constructor(private readonly database: UsageDatabase) {}

  /** Throws ApiError `validation_error` for too many buckets and for a zone that PostgreSQL does not know. */
  async read(question: SeriesQuestion): Promise<Series> {
    const { view, filter, from, before, granularity } = question;
    if ((before.getTime() - from.getTime()) / BUCKET_MS[granularity] > BUCKETS_MAX)
      throw refused('granularity', `The range has more than ${BUCKETS_MAX} buckets.`);
    const starts = await this.starts(question);
    const listed = { conditions: eventRows(view, filter), times: { from, before }, tag: tagOf(filter) };
    const query = { ...listed, ...groupOf(question), isByDay: isByDay(question) };
    const values = new Values();
    const sql = seriesSql({ ...query, ...(await placeTag(this.database, query)) }, question, {
      starts,
      values,
    });
    const { rows } = await this.database.pool.query<SeriesRow>(sql, values.list);
    return seriesOf(rows, starts);
  }

  /**
   * Days are counted on the zone's calendar, hours on the clock: a day may have 23 of them. One zone moves its clocks by
   * half an hour: its hours begin elsewhere from then on.
   */
  private async starts({ from, before, granularity, timeZone }: SeriesQuestion): Promise<Date[]> {
    const sql =
      granularity === 'hour'
        ? `SELECT DISTINCT date_trunc('hour', at, $3) AS start FROM generate_series(date_trunc('hour', $1::timestamptz, $3),
             $2::timestamptz - interval '1 ms', interval '15 minutes') AS at ORDER BY 1`
        : `SELECT at AT TIME ZONE $3 AS start FROM generate_series(
             date_trunc('${granularity}', $1::timestamptz AT TIME ZONE $3),
             ($2::timestamptz - interval '1 ms') AT TIME ZONE $3, interval '1 ${granularity}') AS at ORDER BY 1`;
    try {
      const { rows } = await this.database.pool.query<{ start: Date }>(sql, [from, before, timeZone]);
      return rows.map(({ start }) => start);
    } catch (failure) {
      if ((failure as { code?: unknown }).code === UNKNOWN_ZONE)
        throw refused('time_zone', 'time_zone is not a known IANA name.');
      throw failure;
    }
  }
}

/**
 * Returns the query per bucket and group; rows without a bucket are totals of groups, the one without both is that of
 * all. Each row finds its bucket among their starts, which costs less than asking for the zone's clock. A tag that a
 * caller calls `other` is of the rest: two groups of one name would hide each other.
 */
function seriesSql(
  query: Asked & { group: string | null },
  { top }: SeriesQuestion,
  { starts, values }: { starts: readonly Date[]; values: Values },
): string {
  const { group } = query;
  const sorted = `${values.add(starts)}::timestamptz[]`;
  const bucketOf = (moment: string): string => `(${sorted})[width_bucket(${moment}, ${sorted})]`;
  const asked = { ...query, series: { bucketOf, group } };
  const beyond = values.add(top + 1);
  return `WITH summed AS MATERIALIZED (
      SELECT ${bucketOf('slot')} AS start,
        coalesce(nullif(${group ?? `'${ALL}'`}, ''), '${NONE}') AS grp, sum(requests) AS requests,
        coalesce(sum(requests) FILTER (WHERE status = 'error'), 0) AS errors, sum(prompt_tokens) AS prompt,
        sum(completion_tokens) AS completion, sum(cached_tokens) AS cached, sum(cost) AS cost,
        ${classSums('latency')} AS latency, ${classSums('ttft')} AS ttft
      FROM (${usageSource(asked, values)}) AS source GROUP BY 1, 2 HAVING sum(requests) > 0
    ), ranked AS (
      SELECT grp, row_number() OVER (ORDER BY grp = '${OTHER}', sum(cost) DESC, sum(requests) DESC, grp) AS rank
      FROM summed GROUP BY grp
    ), folded AS (
      SELECT summed.*, CASE WHEN rank <= ${values.add(top)} AND grp <> '${OTHER}' THEN grp END AS shown,
        CASE WHEN grp = '${OTHER}' THEN ${beyond} ELSE least(rank, ${beyond}) END AS place
      FROM summed JOIN ranked USING (grp)
    )
    SELECT start, shown AS grp, grouping(shown) = 1 AS "isAll", sum(requests) AS requests, sum(errors) AS errors,
      sum(prompt) AS prompt, sum(completion) AS completion, sum(cached) AS cached, sum(cost)::text AS cost,
      ${classSums('latency')}::text[] AS latency, ${classSums('ttft')}::text[] AS ttft
    FROM folded GROUP BY GROUPING SETS ((start, shown), (shown), ()) HAVING count(*) > 0 ORDER BY min(place)`;
}

function groupOf({ groupBy }: SeriesQuestion): { groupTag: string | null; group: string | null } {
  const groupTag = groupBy?.startsWith(TAG_PREFIX) ? groupBy.slice(TAG_PREFIX.length) : null;
  return { groupTag, group: groupTag !== null ? 'tag' : groupBy === null ? null : GROUP_COLUMNS[groupBy] };
}

function isByDay({ granularity, timeZone }: SeriesQuestion): boolean {
  return granularity !== 'hour' && UTC_NAMES.has(timeZone);
}

function classSums(column: string): string {
  const sums = Array.from({ length: DURATION_CLASSES }, (_, n) => `sum(${column}[${n + 1}])`);
  return `ARRAY[${sums.join(', ')}]`;
}

function seriesOf(rows: readonly SeriesRow[], starts: readonly Date[]): Series {
  // Maps, because callers name groups: an object sorts numbers first and takes no `__proto__`.
  const byStart = new Map(starts.map((start) => [start.getTime(), new Map<string, SeriesValues>()]));
  const totals = new Map<string, SeriesValues>();
  let total = NOTHING;
  for (const row of rows) {
    const values = valuesOf(row);
    if (row.isAll) total = values;
    else if (row.start === null) totals.set(row.grp ?? OTHER, values);
    else byStart.get(row.start.getTime())?.set(row.grp ?? OTHER, values);
  }
  const buckets = [...byStart].map(([at, values]) => ({
    start: new Date(at).toISOString(),
    values: Object.fromEntries(values),
  }));
  return { groups: [...totals.keys()], buckets, totals: Object.fromEntries(totals), total };
}

const NOTHING: SeriesValues = {
  requests: 0,
  errors: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cost_usd: '0',
  latency_p50_ms: null,
  latency_p95_ms: null,
  ttft_p50_ms: null,
};

function valuesOf(row: SeriesRow): SeriesValues {
  const [latency, ttft] = [row.latency.map(Number), row.ttft.map(Number)];
  return {
    requests: Number(row.requests),
    errors: Number(row.errors),
    prompt_tokens: Number(row.prompt),
    completion_tokens: Number(row.completion),
    cached_tokens: Number(row.cached),
    cost_usd: Usd.parse(row.cost).toString(),
    latency_p50_ms: percentileOf(latency, 0.5),
    latency_p95_ms: percentileOf(latency, 0.95),
    ttft_p50_ms: percentileOf(ttft, 0.5),
  };
}

function refused(field: string, msg: string): ApiError {
  return new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'value_error', loc: [field], msg }],
  });
}
