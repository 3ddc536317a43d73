import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Credential = Schemas['PlatformCredentialRecord'];
export type TestedCredential = Schemas['TestedPlatformCredential'];
export type CredentialTest = Schemas['ProviderKeyTest'];

const PATH = '/v1/admin/providers/{slug}/credentials';
const ONE = '/v1/admin/providers/{slug}/credentials/{id}';
/** A provider has 64 at most. */
const ALL = 200;

/** Reads the platform's credentials at a provider. Their state changes by itself, so it is read anew each time. */
export function useCredentials(slug: string): UseQueryResult<Credential[]> {
  const params = { path: { slug }, query: { limit: ALL } };
  return useQuery({
    queryKey: ['credentials', slug],
    queryFn: async () => (await bodyOf(api.GET(PATH, { params }))).data,
    staleTime: 0,
  });
}

function useCredentialWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, touches: ([noun]) => noun === 'credentials' || noun === 'providers' });
}

export function useAddCredential(
  slug: string,
  idempotencyKey: string,
): UseMutationResult<TestedCredential, Problem, Schemas['CreatePlatformCredentialBody']> {
  const options = { params: { path: { slug } }, headers: { 'Idempotency-Key': idempotencyKey } };
  return useCredentialWrite((body) => bodyOf(api.POST(PATH, { ...options, body })));
}

export function useChangeCredential({
  provider: slug,
  id,
}: Credential): UseMutationResult<Credential, Problem, Schemas['UpdatePlatformCredentialBody']> {
  return useCredentialWrite((body) => bodyOf(api.PATCH(ONE, { params: { path: { slug, id } }, body })));
}

export function useRotateCredential({
  provider: slug,
  id,
}: Credential): UseMutationResult<TestedCredential, Problem, Schemas['RotatePlatformCredentialBody']> {
  const params = { path: { slug, id } };
  return useCredentialWrite((body) => bodyOf(api.POST(`${ONE}/rotate`, { params, body })));
}

export function useTestCredential({
  provider: slug,
  id,
}: Credential): UseMutationResult<CredentialTest, Problem, void> {
  return useCredentialWrite(() => bodyOf(api.POST(`${ONE}/test`, { params: { path: { slug, id } } })));
}

export function useRemoveCredential({
  provider: slug,
  id,
}: Credential): UseMutationResult<unknown, Problem, void> {
  return useCredentialWrite(() => bodyOf(api.DELETE(ONE, { params: { path: { slug, id } } })));
}
