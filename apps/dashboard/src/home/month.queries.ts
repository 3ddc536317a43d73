import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { useZone } from '../session/me.queries.js';
import { rangeBefore, rangeOfUrl } from '../shell/range.js';
import { useSeries, type Series } from '../usage/usage.queries.js';

/** Groups that are compared: as many as the API shows. */
const MOST_GROUPS = 20;
const MONTH = { range: 'month' };
const HOUR_MS = 3_600_000;

export interface Month {
  now: UseQueryResult<Series>;
  /** The same part of the month before. */
  before: UseQueryResult<Series>;
  /** Part of the month that is over, above 0 and at most 1. */
  passed: number;
}

/** Reads this month by key, in days of the zone, and as much of the month before. */
export function useMonth(org: string): Month {
  const zone = useZone();
  const [openedAt] = useState(() => Date.now());
  const range = rangeOfUrl(MONTH, '7d', zone, openedAt);
  const filter = { groupBy: 'key', granularity: 'day', zone, filters: {}, top: MOST_GROUPS } as const;
  const now = useSeries(org, { ...filter, since: range.since });
  const before = useSeries(org, { ...filter, ...rangeBefore(MONTH, range, zone) }, { keepsShown: false });
  return { now, before, passed: (range.hours * HOUR_MS) / monthMs(openedAt) };
}

function monthMs(atMs: number): number {
  const at = new Date(atMs);
  const [first, next] = [0, 1].map((n) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + n, 1));
  return next - first;
}
