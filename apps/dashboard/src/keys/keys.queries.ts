import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { askedOrg, keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Key = Schemas['ApiKeyRecord'];
export type KeyChange = Schemas['UpdateKeyBody'];
export type KeyLimits = Schemas['KeyLimitsRecord'];

export const KEYS_A_PAGE = 50;

interface KeyFilter {
  label?: string;
  status?: string;
  sort?: string;
  page: number;
}

export function useKeys(
  org: string | null,
  filter: KeyFilter,
): UseQueryResult<Schemas['PageOfApiKeyRecord']> {
  const { label, status, sort, page } = filter;
  const query = {
    ...keysOf(org),
    ...(label ? { label } : {}),
    ...(isStatus(status) ? { status } : {}),
    ...(sort ? { sort } : {}),
    limit: KEYS_A_PAGE,
    offset: (page - 1) * KEYS_A_PAGE,
  };
  return useQuery({
    queryKey: [org, 'keys', query],
    queryFn: () => bodyOf(api.GET('/v1/keys', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

function isStatus(text: string | undefined): text is 'active' | 'suspended' {
  return text === 'active' || text === 'suspended';
}

/** Names of the people whose keys the caller may see. */
export function useKeyOwners(org: string | null): UseQueryResult<Schemas['KeyFilterOptions']> {
  const query = { ...keysOf(org), limit: 200 };
  return useQuery({
    queryKey: [org, 'key-owners'],
    queryFn: () => bodyOf(api.GET('/v1/keys/filter-options', { params: { query } })),
  });
}

const CHOICES_MAX = 200;

/** Reads the routing policies that a key of the organization can be put under; none for an own account. */
export function usePolicyNames(org: string | null): UseQueryResult<{ id: string; name: string }[]> {
  const query = { org_id: org ?? '', limit: CHOICES_MAX };
  return useQuery({
    queryKey: [org, 'routing-policies', query],
    enabled: org !== null,
    queryFn: () => bodyOf(api.GET('/v1/routing-policy-templates', { params: { query } })),
    select: ({ data }) => data,
  });
}

/** Reads the providers that a key can be pinned to. */
export function usePinnable(): UseQueryResult<Schemas['PinnableProvider'][]> {
  const query = { limit: CHOICES_MAX };
  return useQuery({
    queryKey: ['pinnable-providers'],
    queryFn: async () => (await bodyOf(api.GET('/v1/providers/pinnable', { params: { query } }))).data,
  });
}

export function useKey(id: string): UseQueryResult<Key> {
  return useQuery({
    queryKey: ['key', id],
    queryFn: () => bodyOf(api.GET('/v1/keys/{id}', { params: { path: { id } } })),
  });
}

export function useKeyLimits(id: string): UseQueryResult<KeyLimits> {
  return useQuery({
    queryKey: ['key', id, 'limits'],
    queryFn: () => bodyOf(api.GET('/v1/keys/{id}/limits', { params: { path: { id } } })),
  });
}

export type RateState = Schemas['RateLimitState'];

/** Counted in this minute and day: read anew each time. */
export function useRates(org: string | null, id: string): UseQueryResult<RateState> {
  const query = { ...(org === null ? {} : { org_id: org }), key_id: id, refresh: true };
  return useQuery({
    queryKey: ['key', id, 'rates', query],
    queryFn: () => bodyOf(api.GET('/v1/usage/rate-limits', { params: { query } })),
    staleTime: 0,
  });
}

const DAY_MS = 86_400_000;

/** Reads how many requests of a key ended in the last 24 hours. Usage is read of an organization alone. */
export function useDayOfRequests(org: string | null, key: string): UseQueryResult<number> {
  return useQuery({
    queryKey: ['key', key, 'day'],
    enabled: org !== null,
    queryFn: async () => {
      const since = new Date(Date.now() - DAY_MS).toISOString();
      const body = { org_id: askedOrg(org), key_id: key, since, granularity: 'day' as const, refresh: true };
      return (await bodyOf(api.POST('/v1/usage/series', { body }))).total.requests;
    },
    staleTime: 0,
  });
}

/** The list, the key and its limits are read anew after each write. */
function useKeyWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
  after?: (answer: Answer) => void,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, after, touches: (key) => key[0] === 'key' || key[1] === 'keys' });
}

export function useCreateKey(
  idempotencyKey: string,
  after: (created: Schemas['CreatedApiKey']) => void,
): UseMutationResult<Schemas['CreatedApiKey'], Problem, Schemas['CreateKeyBody']> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return useKeyWrite((body) => bodyOf(api.POST('/v1/keys', { body, headers })), after);
}

export function useChangeKey(id: string): UseMutationResult<Key, Problem, KeyChange> {
  return useKeyWrite((body) => bodyOf(api.PATCH('/v1/keys/{id}', { params: { path: { id } }, body })));
}

export function useRotateKey(
  id: string,
  after: (rotated: Schemas['RotatedApiKey']) => void,
): UseMutationResult<Schemas['RotatedApiKey'], Problem, { grace_seconds: number }> {
  return useKeyWrite(
    (body) => bodyOf(api.POST('/v1/keys/{id}/rotate', { params: { path: { id } }, body })),
    after,
  );
}

export function useSuspendKey(id: string, after: () => void): UseMutationResult<Key, Problem, void> {
  return useKeyWrite(() => bodyOf(api.DELETE('/v1/keys/{id}', { params: { path: { id } } })), after);
}

export function useReactivateKey(id: string): UseMutationResult<Key, Problem, void> {
  return useKeyWrite(() => bodyOf(api.POST('/v1/keys/{id}/reactivate', { params: { path: { id } } })));
}
