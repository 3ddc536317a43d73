import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { askedOrg } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

const LOOK_EVERY_MS = 2_000;
const NEWEST = 5;

export type Seen =
  | { kind: 'request'; event: Schemas['UsageEventRecord'] }
  | { kind: 'refusal'; refusal: Schemas['RejectionView'] };

/** The key of the first steps; its secret is in the answer alone. */
export function useFirstKey(org: string | null): UseMutationResult<Schemas['CreatedApiKey'], Problem, void> {
  return useWrite({
    write: () =>
      bodyOf(
        api.POST('/v1/keys', {
          body: { label: 'First steps', ...(org === null ? {} : { org_id: org }) },
          headers: { 'Idempotency-Key': newIdempotencyKey() },
        }),
      ),
    touches: (key) => key[1] === 'keys',
  });
}

/** The newest request or refusal of the organization since a moment; asked for again until there is one. */
export function useFirstRequest(org: string | null, since: string | null): UseQueryResult<Seen | null> {
  return useQuery({
    queryKey: [org, 'first-request', since],
    enabled: org !== null && since !== null,
    queryFn: async (): Promise<Seen | null> => {
      const body = { org_id: askedOrg(org), since: since ?? undefined, limit: NEWEST, refresh: true };
      const { events } = await bodyOf(api.POST('/v1/usage/events', { body }));
      if (events.length > 0) return { kind: 'request', event: events[0] };
      const { rejections } = await bodyOf(api.POST('/v1/usage/rejections', { body }));
      return rejections.length > 0 ? { kind: 'refusal', refusal: rejections[0] } : null;
    },
    refetchInterval: ({ state }) => (state.data?.kind === 'request' ? false : LOOK_EVERY_MS),
    staleTime: 0,
  });
}
