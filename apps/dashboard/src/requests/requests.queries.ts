import {
  useInfiniteQuery,
  useQueries,
  useQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { askedOrg, keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { freshness } from '../api/fresh-reads.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';
import { useMe } from '../session/me.queries.js';
import { bodyOfFilters, type UsageFilters } from '../shell/usage-filter.js';
import { bodyOfRows, type RowFilters } from './row-filters.js';

export type UsageEvent = Schemas['UsageEventRecord'];
export type Rejection = Schemas['RejectionView'];
export type Lookup = Schemas['RequestLookup'];

const ROWS = 100;
const LIVE_EVERY_MS = 3_000;

export interface RequestFilter {
  since: string;
  /** Absent = up to now. */
  until?: string;
  filters: UsageFilters;
  isLive: boolean;
  /** Order and filters of the list alone. */
  rows?: RowFilters;
}

/** Returns the filter's members of the body, as the list and its export send them. */
export function bodyOfFilter({
  since,
  until,
  filters,
}: RequestFilter): { since: string; until?: string } & ReturnType<typeof bodyOfFilters> {
  return { since, ...(until ? { until } : {}), ...bodyOfFilters(filters) };
}

/**
 * Pages of events, newest first or in the order that was asked for. The cursor of the last row keeps a page where newer
 * rows come meanwhile; another order has offsets alone.
 */
export function useEvents(
  org: string | null,
  requested: RequestFilter,
): UseInfiniteQueryResult<InfiniteData<Schemas['UsageEventsPage']>> {
  const { isLive, rows = {} } = requested;
  const filter = { ...bodyOfFilter(requested), ...bodyOfRows(rows) };
  return useInfiniteQuery({
    queryKey: [org, 'events', filter],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.POST('/v1/usage/events', {
          body: {
            org_id: askedOrg(org),
            ...filter,
            limit: ROWS,
            ...(typeof pageParam === 'number' ? { offset: pageParam } : pageParam && { cursor: pageParam }),
            ...(isLive ? { refresh: true } : freshness(Date.now())),
          },
        }),
      ),
    initialPageParam: null as string | number | null,
    getNextPageParam: ({ next_cursor: cursor, offset, limit, total }) =>
      cursor ?? (isByOffset(rows) && offset + limit < total ? offset + limit : undefined),
    ...(isLive && { refetchInterval: LIVE_EVERY_MS }),
  });
}

function isByOffset(rows: RowFilters): boolean {
  return Object.keys(rows).length > 0;
}

export type Counts = Schemas['UsageSeries'];

const COUNTS_STALE_MS = 60_000;

/**
 * Reads the sums of the list of the same filter, by status. Once a filter and range, also while the list is live: sums
 * over a long range take turns with the list.
 */
export function useCounts(
  org: string | null,
  filter: RequestFilter,
  { granularity, zone }: { granularity: 'hour' | 'day'; zone: string },
): UseQueryResult<Counts> {
  const by = { granularity, time_zone: zone, group_by: 'status' };
  const body = { org_id: askedOrg(org), ...bodyOfFilter(filter), ...by };
  return useQuery({
    queryKey: [org, 'series', body],
    queryFn: () => bodyOf(api.POST('/v1/usage/series', { body: { ...body, ...freshness(Date.now()) } })),
    staleTime: COUNTS_STALE_MS,
  });
}

/** Pages of rejections, newest first. They have no outcome to filter by. */
export function useRejections(
  org: string | null,
  { filters: { status: _status, ...filters }, ...requested }: RequestFilter,
): UseInfiniteQueryResult<InfiniteData<Schemas['RejectionsPage']>> {
  const filter = bodyOfFilter({ ...requested, filters });
  const { isLive } = requested;
  return useInfiniteQuery({
    queryKey: [org, 'rejections', filter],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.POST('/v1/usage/rejections', {
          body: {
            org_id: askedOrg(org),
            ...filter,
            limit: ROWS,
            offset: pageParam,
            ...(isLive ? { refresh: true } : freshness(Date.now())),
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, rejections }) =>
      rejections.length === limit ? offset + limit : undefined,
    ...(isLive && { refetchInterval: LIVE_EVERY_MS }),
  });
}

export type Contents = Schemas['RequestContentRecord'];

/** Reads when asked by hand: each read is in the audit log. */
export function useContents(id: string): UseMutationResult<Contents, Problem, void> {
  return useWrite({
    write: () => bodyOf(api.GET('/v1/usage/requests/{id}/content', { params: { path: { id } } })),
  });
}

export function useLookup(org: string | null, id: string): UseQueryResult<Lookup> {
  const query = org === null ? {} : { org_id: org };
  return useQuery({
    queryKey: [org, 'request', id],
    queryFn: () => bodyOf(api.GET('/v1/usage/requests/{id}', { params: { path: { id }, query } })),
  });
}

const MEMBERS_MAX = 200;

/** Reads the name of the member whom a key belongs to; null where the caller may not see it, or is told no name. */
export function useKeyOwner(org: string | null, keyId: string): UseQueryResult<string | null> {
  return useQuery({
    queryKey: ['key', keyId, 'owner', org],
    queryFn: async () => {
      const query = { ...keysOf(org), limit: MEMBERS_MAX };
      const [{ created_by: owner }, { members }] = await Promise.all([
        bodyOf(api.GET('/v1/keys/{id}', { params: { path: { id: keyId } } })),
        bodyOf(api.GET('/v1/keys/filter-options', { params: { query } })),
      ]);
      return members.find(({ id }) => id === owner)?.name ?? null;
    },
    // The page is whole without it: a key that was deleted has no owner to name.
    retry: false,
  });
}

/** Reads who served each attempt, for super admins; everybody is told the provider that served the request. */
export function useAttemptProviders({
  request_id: id,
  provider,
  attempts,
}: Lookup): ReadonlyMap<number, string> {
  const isSuperAdmin = useMe().data?.is_super_admin === true;
  const all = useQuery({
    queryKey: ['request', id, 'providers'],
    enabled: isSuperAdmin && attempts.length > 1,
    queryFn: () =>
      bodyOf(api.GET('/v1/admin/usage/requests/{request_id}', { params: { path: { request_id: id } } })),
    // The page is whole without it.
    retry: false,
  }).data;
  const served = attempts.filter((one) => one.served).map(({ n }) => ({ n, provider }));
  const named = [...served, ...(all?.attempts ?? [])];
  return new Map(
    named.flatMap(({ n, provider: name }): [number, string][] => (name === null ? [] : [[n, name]])),
  );
}

const LABELS_MAX = 20;

/** Reads the labels of some keys; a key that was deleted, or is not shown to the reader, has none. */
export function useKeyLabels(ids: readonly string[]): ReadonlyMap<string, string> {
  const reads = useQueries({
    queries: ids.slice(0, LABELS_MAX).map((id) => ({
      queryKey: ['key', id, 'name'],
      queryFn: async () => {
        const record = await bodyOf(api.GET('/v1/keys/{id}', { params: { path: { id } } }));
        return record.label ?? record.masked_key;
      },
      retry: false,
    })),
  });
  return new Map(
    reads.flatMap(({ data }, at): [string, string][] => (data === undefined ? [] : [[ids[at], data]])),
  );
}

/** Reads the rejection of a request, whatever its age; null where it was not rejected, or is not known. */
export function useRejection(org: string | null, id: string): UseQueryResult<Rejection | null> {
  return useQuery({
    queryKey: [org, 'request', id, 'rejection'],
    queryFn: async () => {
      const body = { ...(org === null ? {} : { org_id: org }), request_id: id, limit: 1, refresh: true };
      const { rejections } = await bodyOf(api.POST('/v1/usage/rejections', { body }));
      return rejections[0] ?? null;
    },
  });
}

/** Reads the current count of the limit that rejected the request; null where the caller may not see it. */
export function useRateNow(
  org: string | null,
  { scope, limit_type: type, key_id }: Rejection,
): UseQueryResult<Schemas['RateMetric'] | null> {
  const query = { ...(org === null ? {} : { org_id: org }), key_id, refresh: true };
  return useQuery({
    queryKey: [org, 'rate-now', query, scope, type],
    enabled: isScope(scope) && isRate(type),
    queryFn: async () => {
      const { scopes } = await bodyOf(api.GET('/v1/usage/rate-limits', { params: { query } }));
      return isScope(scope) && isRate(type) ? (scopes[scope]?.[type] ?? null) : null;
    },
    staleTime: 0,
  });
}

/** Reads the spend of the cap that rejected the request. */
export function useCapNow({
  scope,
  key_id: id,
}: Rejection): UseQueryResult<Schemas['ScopeLimitRecord'] | null> {
  return useQuery({
    queryKey: ['cap-now', id, scope],
    enabled: isScope(scope),
    queryFn: async () => {
      const { scopes } = await bodyOf(api.GET('/v1/keys/{id}/limits', { params: { path: { id } } }));
      return isScope(scope) ? scopes[scope] : null;
    },
    staleTime: 0,
  });
}

type Scope = keyof Schemas['RateLimitState']['scopes'];

function isScope(text: string | null): text is Scope {
  return text !== null && ['key', 'team_member', 'member', 'team', 'org'].includes(text);
}

function isRate(text: string | null): text is 'rpm' | 'rpd' | 'tpm' {
  return text === 'rpm' || text === 'rpd' || text === 'tpm';
}
