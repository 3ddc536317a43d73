import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Schemas } from '../api/schemas.js';

export type AuditRow = Schemas['AuditRecord'];
type AuditPage = Schemas['CursorPageOfAuditRecord'];

interface AuditFilter {
  actor: string | undefined;
  action: string | undefined;
  /** null = no bound. */
  since: string | null;
  until: string | null;
}

/** Newest first; older pages are read by their cursor, which costs the same however far back. */
export function useAuditLog(
  org: string,
  filter: AuditFilter,
): UseInfiniteQueryResult<InfiniteData<AuditPage>> {
  const { actor, action, since, until } = filter;
  const query = {
    ...(actor ? { actor } : {}),
    ...(action ? { action } : {}),
    ...(since === null ? {} : { since }),
    ...(until === null ? {} : { until }),
  };
  return useInfiniteQuery({
    queryKey: [org, 'audit', query],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.GET('/v1/orgs/{id}/audit-log', {
          params: {
            path: { id: org },
            query: { ...query, limit: 50, ...(pageParam ? { cursor: pageParam } : {}) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });
}
