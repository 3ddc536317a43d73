import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type ProviderKey = Schemas['ProviderKeyRecord'];
type ProviderKeyTest = Schemas['ProviderKeyTest'];

export const PROVIDER_KEYS_A_PAGE = 50;

export function useProviderKeys(
  org: string | null,
  page: number,
): UseQueryResult<Schemas['PageOfProviderKeyRecord']> {
  const query = {
    ...(org === null ? {} : { org_id: org }),
    limit: PROVIDER_KEYS_A_PAGE,
    offset: (page - 1) * PROVIDER_KEYS_A_PAGE,
  };
  return useQuery({
    queryKey: [org, 'provider-keys', query],
    queryFn: () => bodyOf(api.GET('/v1/provider-keys', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

/** Providers that serve a model here, by their slugs. */
export function useProviders(): UseQueryResult<Schemas['PinnableProvider'][]> {
  return useQuery({
    queryKey: ['pinnable-providers'],
    queryFn: async () =>
      (await bodyOf(api.GET('/v1/providers/pinnable', { params: { query: { limit: 200 } } }))).data,
  });
}

function useProviderKeyWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, touches: ([, noun]) => noun === 'provider-keys' });
}

export function useAddProviderKey(
  idempotencyKey: string,
): UseMutationResult<ProviderKey, Problem, Schemas['CreateProviderKeyBody']> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return useProviderKeyWrite((body) => bodyOf(api.POST('/v1/provider-keys', { headers, body })));
}

export function useChangeProviderKey(
  id: string,
): UseMutationResult<ProviderKey, Problem, Schemas['UpdateProviderKeyBody']> {
  return useProviderKeyWrite((body) =>
    bodyOf(api.PATCH('/v1/provider-keys/{id}', { params: { path: { id } }, body })),
  );
}

export function useTestProviderKey(id: string): UseMutationResult<ProviderKeyTest, Problem, void> {
  return useProviderKeyWrite(() =>
    bodyOf(api.POST('/v1/provider-keys/{id}/test', { params: { path: { id } } })),
  );
}

export function useDeleteProviderKey(id: string): UseMutationResult<unknown, Problem, void> {
  return useProviderKeyWrite(() =>
    bodyOf(api.DELETE('/v1/provider-keys/{id}', { params: { path: { id } } })),
  );
}
