import { useQuery, useQueryClient, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { askedOrg } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Series = Schemas['UsageSeries'];
export type SeriesValues = Schemas['SeriesValues'];
type Granularity = Series['granularity'];

export interface SeriesFilter {
  since: string;
  /** Absent = up to now. */
  until?: string;
  groupBy: string;
  granularity: Granularity;
  zone: string;
}

const TOP = 8;
const STALE_MS = 60_000;

/** The server cuts the range into days and hours of the zone; the rest of the groups is `other`, so that all add up. */
function bodyOfFilter(
  org: string | null,
  { since, until, groupBy, granularity, zone }: SeriesFilter,
): Schemas['UsageSeriesBody'] {
  const range = until === undefined ? { since } : { since, until };
  return { org_id: askedOrg(org), ...range, granularity, time_zone: zone, group_by: groupBy, top: TOP };
}

export function useSeries(org: string | null, filter: SeriesFilter): UseQueryResult<Series> {
  const body = bodyOfFilter(org, filter);
  return useQuery({
    queryKey: [org, 'series', body],
    queryFn: () => bodyOf(api.POST('/v1/usage/series', { body })),
    staleTime: STALE_MS,
    placeholderData: (shown) => shown,
  });
}

/** Reads past the server's cache of a minute, and shows that instead. */
export function useFreshSeries(
  org: string | null,
  filter: SeriesFilter,
): UseMutationResult<Series, Problem, void> {
  const body = bodyOfFilter(org, filter);
  const cache = useQueryClient();
  return useWrite({
    write: () => bodyOf(api.POST('/v1/usage/series', { body: { ...body, refresh: true } })),
    after: (series) => cache.setQueryData([org, 'series', body], series),
  });
}
