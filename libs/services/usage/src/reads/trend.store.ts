import { Injectable } from '@nestjs/common';
import type { Granularity, SpendTrend } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type { Times } from '@gateway/platform';
import { UsageDatabase } from '../postgres/usage-database.js';
import type { Condition } from './row-filter.js';
import { usageSource } from './usage-source.js';
import { Values } from './values.js';

type Trend = Pick<SpendTrend, 'buckets' | 'total_usd'>;

/** Number of buckets of a window, the current one included. */
const BUCKETS: Record<Granularity, number> = { hour: 48, day: 30, week: 12, month: 12 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONDAY_MS = 4 * DAY_MS;

/** Spend per bucket of UTC. */
@Injectable()
export class TrendStore {
  constructor(private readonly database: UsageDatabase) {}

  async read(conditions: readonly Condition[], granularity: Granularity, times: Times): Promise<Trend> {
    const values = new Values();
    const source = usageSource({ conditions, times, tag: null, isByDay: granularity !== 'hour' }, values);
    const first = `${values.add(times.from)}::timestamptz AT TIME ZONE 'UTC'`;
    const last = `(${values.add(times.before)}::timestamptz - interval '1 ms') AT TIME ZONE 'UTC'`;
    const { rows } = await this.database.pool.query<{
      start: Date;
      spend: string;
      requests: string;
      average: string;
      total: string;
    }>(
      `WITH spent AS (
         SELECT date_trunc('${granularity}', slot, 'UTC') AS start, sum(cost) AS spend, sum(requests) AS requests
         FROM (${source}) AS source GROUP BY 1
       ), bucket AS (
         SELECT at AT TIME ZONE 'UTC' AS start FROM generate_series(${first}, ${last}, interval '1 ${granularity}') AS at
       )
       SELECT start, coalesce(spend, 0)::text AS spend, coalesce(requests, 0)::text AS requests,
         round(avg(coalesce(spend, 0)) OVER (ORDER BY start ROWS 2 PRECEDING), 12)::text AS average,
         sum(coalesce(spend, 0)) OVER ()::text AS total
       FROM bucket LEFT JOIN spent USING (start) ORDER BY start`,
      values.list,
    );
    const buckets = rows.map(({ start, spend, requests, average }) => ({
      start: start.toISOString(),
      spend_usd: Usd.parse(spend).toString(),
      requests: Number(requests),
      moving_average_usd: Usd.parse(average).toString(),
    }));
    return { buckets, total_usd: Usd.parse(rows.at(0)?.total ?? '0').toString() };
  }
}

/** Returns the window from the start of the oldest bucket until now. */
export function trendWindow(granularity: Granularity, now: number): { from: Date; before: Date } {
  return { from: new Date(firstBucket(granularity, now)), before: new Date(now + 1) };
}

function firstBucket(granularity: Granularity, now: number): number {
  const back = BUCKETS[granularity] - 1;
  switch (granularity) {
    case 'hour':
      return floorTo(now, HOUR_MS, 0) - back * HOUR_MS;
    case 'day':
      return floorTo(now, DAY_MS, 0) - back * DAY_MS;
    // The epoch was a Thursday.
    case 'week':
      return floorTo(now, 7 * DAY_MS, MONDAY_MS) - back * 7 * DAY_MS;
    case 'month': {
      const today = new Date(now);
      return Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back, 1);
    }
  }
}

function floorTo(at: number, stepMs: number, offsetMs: number): number {
  return Math.floor((at - offsetMs) / stepMs) * stepMs + offsetMs;
}
