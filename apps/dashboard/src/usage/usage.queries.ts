import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Series = Schemas['UsageSeries'];
export type SeriesValues = Schemas['SeriesValues'];
type Granularity = Series['granularity'];

export interface SeriesFilter {
  since: string;
  groupBy: string;
  granularity: Granularity;
  zone: string;
}

const TOP = 8;
const STALE_MS = 60_000;

/** The server cuts the range into days and hours of the zone; the rest of the groups is `other`, so that all add up. */
export function useSeries(org: string | null, filter: SeriesFilter): UseQueryResult<Series> {
  const { since, groupBy, granularity, zone } = filter;
  const body = { org_id: org, since, granularity, time_zone: zone, group_by: groupBy, top: TOP };
  return useQuery({
    queryKey: [org, 'series', body],
    queryFn: () => bodyOf(api.POST('/v1/usage/series', { body })),
    staleTime: STALE_MS,
    placeholderData: (shown) => shown,
  });
}

/** A link to a CSV that works once: the browser writes it to the disk by itself. */
export function useExport(
  org: string | null,
): UseMutationResult<Schemas['UsageExportRecord'], Problem, { since: string; time_zone: string }> {
  return useWrite({
    write: (range) => bodyOf(api.POST('/v1/usage/exports', { body: { org_id: org, ...range } })),
  });
}
