import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Org = Schemas['OrgRecord'];
export type AdminKey = Schemas['AdminKeyRecord'];
export type AdminScope = Schemas['CreateAdminKeyBody']['scopes'][number];

export function useOrgRecord(id: string): UseQueryResult<Org> {
  return useQuery({
    queryKey: [id, 'org'],
    queryFn: () => bodyOf(api.GET('/v1/orgs/{id}', { params: { path: { id } } })),
  });
}

export function useChangeOrg(id: string): UseMutationResult<Org, Problem, Schemas['UpdateOrgBody']> {
  return useWrite({
    write: (body) => bodyOf(api.PATCH('/v1/orgs/{id}', { params: { path: { id } }, body })),
    touches: (key) => key[0] === 'orgs' || key[1] === 'org',
  });
}

/** Hidden at once, and gone. */
export function useRemoveContents(org_id: string): UseMutationResult<unknown, Problem, void> {
  return useWrite({
    write: () => bodyOf<unknown>(api.DELETE('/v1/usage/contents', { params: { query: { org_id } } })),
  });
}

const ADMIN_KEYS_MAX = 200;

export function useAdminKeys(org: string): UseQueryResult<AdminKey[]> {
  const query = { org_id: org, limit: ADMIN_KEYS_MAX };
  return useQuery({
    queryKey: [org, 'admin-keys'],
    queryFn: async () => (await bodyOf(api.GET('/v1/admin-keys', { params: { query } }))).data,
  });
}

export function useCreateAdminKey(
  idempotencyKey: string,
  after: (created: Schemas['CreatedAdminKey']) => void,
): UseMutationResult<Schemas['CreatedAdminKey'], Problem, Schemas['CreateAdminKeyBody']> {
  return useWrite({
    write: (body) =>
      bodyOf(api.POST('/v1/admin-keys', { body, headers: { 'Idempotency-Key': idempotencyKey } })),
    after,
    touches: (key) => key[1] === 'admin-keys',
  });
}

export function useDeleteAdminKey(): UseMutationResult<unknown, Problem, string> {
  return useWrite({
    write: (id) =>
      bodyOf(api.DELETE('/v1/admin-keys/{id}', { params: { path: { id } } })) as Promise<unknown>,
    touches: (key) => key[1] === 'admin-keys',
  });
}
