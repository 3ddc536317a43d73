import {
  useInfiniteQuery,
  useQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Schemas } from '../api/schemas.js';

export type UsageEvent = Schemas['UsageEventRecord'];
export type Rejection = Schemas['RejectionView'];
export type Lookup = Schemas['RequestLookup'];

const ROWS = 100;
const LIVE_EVERY_MS = 3_000;

export interface RequestFilter {
  since: string;
  model?: string;
  status?: string;
  keyId?: string;
  isLive: boolean;
}

/** Pages of events, newest first, by offset. */
export function useEvents(
  org: string | null,
  { since, model, status, keyId, isLive }: RequestFilter,
): UseInfiniteQueryResult<InfiniteData<Schemas['UsageEventsPage']>> {
  const filter = {
    since,
    ...(model ? { model: [model] } : {}),
    ...(status ? { status: [status] } : {}),
    ...(keyId ? { key_id: keyId } : {}),
  };
  return useInfiniteQuery({
    queryKey: [org, 'events', filter],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.POST('/v1/usage/events', {
          body: {
            org_id: org,
            ...filter,
            limit: ROWS,
            offset: pageParam,
            ...(isLive ? { refresh: true } : {}),
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, total }) => (offset + limit < total ? offset + limit : undefined),
    refetchInterval: isLive ? LIVE_EVERY_MS : false,
  });
}

export function useRejections(
  org: string | null,
  { since, model, isLive }: RequestFilter,
): UseInfiniteQueryResult<InfiniteData<Schemas['RejectionsPage']>> {
  const filter = { since, ...(model ? { model: [model] } : {}) };
  return useInfiniteQuery({
    queryKey: [org, 'rejections', filter],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.POST('/v1/usage/rejections', {
          body: { org_id: org, ...filter, limit: ROWS, offset: pageParam },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, rejections }) =>
      rejections.length === limit ? offset + limit : undefined,
    refetchInterval: isLive ? LIVE_EVERY_MS : false,
  });
}

export function useLookup(org: string | null, id: string): UseQueryResult<Lookup> {
  const query = org === null ? {} : { org_id: org };
  return useQuery({
    queryKey: [org, 'request', id],
    queryFn: () => bodyOf(api.GET('/v1/usage/requests/{id}', { params: { path: { id }, query } })),
  });
}
