import { useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { askedOrg } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { freshness } from '../api/fresh-reads.js';
import type { Schemas } from '../api/schemas.js';
import { bodyOfFilters, filterOf, type UsageFilters } from '../shell/usage-filter.js';

export type Series = Schemas['UsageSeries'];
export type SeriesValues = Schemas['SeriesValues'];
type Granularity = Series['granularity'];

export interface SeriesFilter {
  since: string;
  /** Absent = up to now. */
  until?: string;
  /** Null = all requests in one group, `all`. */
  groupBy: string | null;
  granularity: Granularity;
  zone: string;
  filters: UsageFilters;
  /** Groups that are named, the dearest first. Default 8. */
  top?: number;
}

const TOP = 8;
const STALE_MS = 60_000;

/** The server cuts the range into days and hours of the zone; the rest of the groups is `other`, so that all add up. */
function bodyOfFilter(
  org: string | null,
  { since, until, groupBy, granularity, zone, filters, top = TOP }: SeriesFilter,
): Schemas['UsageSeriesBody'] {
  const range = until === undefined ? { since } : { since, until };
  const asked = { ...range, ...bodyOfFilters(filters) };
  const groups = groupBy === null ? {} : { group_by: groupBy, top };
  return { org_id: askedOrg(org), ...asked, granularity, time_zone: zone, ...groups };
}

/** Reads a series. With `keepsShown` the former answer stays until the next has come. */
export function useSeries(
  org: string | null,
  filter: SeriesFilter,
  { isNeeded = true, keepsShown = true } = {},
): UseQueryResult<Series> {
  return useQuery({
    enabled: isNeeded,
    ...seriesRead(org, filter),
    ...(keepsShown && { placeholderData: (shown: Series | undefined) => shown }),
  });
}

function seriesRead(org: string | null, filter: SeriesFilter) {
  const body = bodyOfFilter(org, filter);
  return {
    queryKey: [org, 'series', body],
    queryFn: () => bodyOf(api.POST('/v1/usage/series', { body: { ...body, ...freshness(Date.now()) } })),
    staleTime: STALE_MS,
  };
}

/** A group that is split by another. */
export interface Split {
  group: string;
  read: UseQueryResult<Series>;
}

/** Reads each of these groups in the groups of another, in one bucket a month: its sums alone are shown. */
export function useSplits(
  org: string | null,
  filter: SeriesFilter & { groupBy: string },
  { second, groups }: { second: string; groups: readonly string[] },
): Split[] {
  const reads = useQueries({
    queries: groups.map((group) => ({
      ...seriesRead(org, {
        ...filter,
        ...{ groupBy: second, granularity: 'month' },
        filters: { ...filter.filters, ...filterOf(filter.groupBy, group) },
      }),
    })),
  });
  return groups.map((group, at) => ({ group, read: reads[at] }));
}
