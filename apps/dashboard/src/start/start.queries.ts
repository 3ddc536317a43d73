import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { askedOrg, keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

const LOOK_EVERY_MS = 2_000;
const NEWEST = 5;

export type Seen =
  | { kind: 'request'; event: Schemas['UsageEventRecord'] }
  | { kind: 'rejection'; rejection: Schemas['RejectionView'] };

const CAP_USD = '5';
const LIFE_MS = 30 * 86_400_000;

/** Makes the key of the first steps, which costs little if it is forgotten. Its secret is in the answer alone. */
export function useFirstKey(org: string | null): UseMutationResult<Schemas['CreatedApiKey'], Problem, void> {
  return useWrite({
    write: () =>
      bodyOf(
        api.POST('/v1/keys', {
          body: {
            ...{ label: 'First request', spend_cap_usd: CAP_USD },
            expires_at: new Date(Date.now() + LIFE_MS).toISOString(),
            ...(org === null ? {} : { org_id: org }),
          },
          headers: { 'Idempotency-Key': newIdempotencyKey() },
        }),
      ),
    touches: (key) => key[1] === 'keys',
  });
}

const KEYS_MAX = 200;

/** Reads the keys whose request a person may wait for, those used last first. */
export function useActiveKeys(org: string | null): UseQueryResult<Schemas['PageOfApiKeyRecord']> {
  const query = { ...keysOf(org), status: 'active' as const, sort: '-last_used_at', limit: KEYS_MAX };
  return useQuery({
    queryKey: [org, 'keys', query],
    queryFn: () => bodyOf(api.GET('/v1/keys', { params: { query } })),
  });
}

/** A key and the instant from which its requests are waited for. */
export interface Awaited {
  keyId: string;
  since: string;
}

/** The newest request or rejection of a key since a moment; asked for again until there is a request. */
export function useFirstRequest(org: string | null, awaited: Awaited | null): UseQueryResult<Seen | null> {
  return useQuery({
    queryKey: [org, 'first-request', awaited],
    enabled: org !== null && awaited !== null,
    queryFn: async (): Promise<Seen | null> => {
      // Requests of others arrive meanwhile, too.
      const of = { key_id: awaited?.keyId, since: awaited?.since };
      const body = { org_id: askedOrg(org), ...of, limit: NEWEST, refresh: true };
      const { events } = await bodyOf(api.POST('/v1/usage/events', { body }));
      if (events.length > 0) return { kind: 'request', event: events[0] };
      const { rejections } = await bodyOf(api.POST('/v1/usage/rejections', { body }));
      return rejections.length > 0 ? { kind: 'rejection', rejection: rejections[0] } : null;
    },
    refetchInterval: ({ state }) => (state.data?.kind === 'request' ? false : LOOK_EVERY_MS),
    staleTime: 0,
  });
}
