import {
  useInfiniteQuery,
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

export type UsageEvent = Schemas['UsageEventRecord'];
export type Rejection = Schemas['RejectionView'];
export type Lookup = Schemas['RequestLookup'];

const ROWS = 100;
const LIVE_EVERY_MS = 3_000;

export interface RequestFilter {
  since: string;
  /** Absent = up to now. */
  until?: string;
  model?: string;
  status?: string;
  keyId?: string;
  isLive: boolean;
}

/** Returns the filter's members of the body, as the list and its export send them. */
export function bodyOfFilter({ since, until, model, status, keyId }: RequestFilter): {
  since: string;
  until?: string;
  model?: string[];
  status?: string[];
  key_id?: string;
} {
  return {
    since,
    ...(until ? { until } : {}),
    ...(model ? { model: [model] } : {}),
    ...(status ? { status: [status] } : {}),
    ...(keyId ? { key_id: keyId } : {}),
  };
}

/** Pages of events, newest first. The cursor of the last row keeps a page where newer rows come meanwhile. */
export function useEvents(
  org: string | null,
  requested: RequestFilter,
): UseInfiniteQueryResult<InfiniteData<Schemas['UsageEventsPage']>> {
  const filter = bodyOfFilter(requested);
  const { isLive } = requested;
  return useInfiniteQuery({
    queryKey: [org, 'events', filter],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.POST('/v1/usage/events', {
          body: {
            org_id: askedOrg(org),
            ...filter,
            limit: ROWS,
            ...(pageParam === null ? {} : { cursor: pageParam }),
            ...(isLive ? { refresh: true } : freshness(Date.now())),
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: cursor }) => cursor ?? undefined,
    ...(isLive && { refetchInterval: LIVE_EVERY_MS }),
  });
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

export function useRejections(
  org: string | null,
  { since, until, model, keyId, isLive }: RequestFilter,
): UseInfiniteQueryResult<InfiniteData<Schemas['RejectionsPage']>> {
  const filter = bodyOfFilter({ since, until, model, keyId, isLive });
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

/** Reads the refusal of a request, whatever its age; null where it was not refused, or is not known. */
export function useRefusal(org: string | null, id: string): UseQueryResult<Rejection | null> {
  return useQuery({
    queryKey: [org, 'request', id, 'refusal'],
    queryFn: async () => {
      const body = { ...(org === null ? {} : { org_id: org }), request_id: id, limit: 1, refresh: true };
      const { rejections } = await bodyOf(api.POST('/v1/usage/rejections', { body }));
      return rejections[0] ?? null;
    },
  });
}

/** Reads the current count of the limit that refused; null where the caller may not see it. */
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

/** Reads the spend of the cap that refused. */
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
