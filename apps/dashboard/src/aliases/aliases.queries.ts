import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Alias = Schemas['AliasRecord'];
export type AliasBody = Omit<Schemas['CreateAliasBody'], 'org_id'>;

export const ALIASES_A_PAGE = 50;
const MODEL_CHOICES = 50;
const ONE = '/v1/aliases/{id}';

export function useAliases(org: string, page: number): UseQueryResult<Schemas['PageOfAliasRecord']> {
  const query = { org_id: org, limit: ALIASES_A_PAGE, offset: (page - 1) * ALIASES_A_PAGE };
  return useQuery({
    queryKey: [org, 'aliases', query],
    queryFn: () => bodyOf(api.GET('/v1/aliases', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

/** Reads ids of models by a bounded search, to choose from. */
export function useModelChoices(q: string): UseQueryResult<string[]> {
  return useQuery({
    queryKey: ['models', 'alias-choices', q],
    queryFn: async () => {
      const query = { limit: MODEL_CHOICES, ...(q === '' ? {} : { q }) };
      return (await bodyOf(api.GET('/v1/models/search', { params: { query } }))).data.map(({ id }) => id);
    },
    placeholderData: (shown) => shown,
  });
}

function useAliasWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, touches: ([, noun]) => noun === 'aliases' });
}

/** Creates one, or changes the one that is named. */
export function useSaveAlias(
  org: string,
  id: string | undefined,
  idempotencyKey: string,
): UseMutationResult<Alias, Problem, AliasBody> {
  return useAliasWrite((sent) =>
    bodyOf(
      id === undefined
        ? api.POST('/v1/aliases', {
            headers: { 'Idempotency-Key': idempotencyKey },
            body: { org_id: org, ...sent },
          })
        : api.PATCH(ONE, {
            params: { path: { id } },
            body: { name: sent.name, targets: sent.targets, description: sent.description },
          }),
    ),
  );
}

export function useSwitchAlias(id: string): UseMutationResult<Alias, Problem, { is_enabled: boolean }> {
  return useAliasWrite((body) => bodyOf(api.PATCH(ONE, { params: { path: { id } }, body })));
}

export function useDeleteAlias(id: string): UseMutationResult<unknown, Problem, void> {
  return useAliasWrite(() => bodyOf<unknown>(api.DELETE(ONE, { params: { path: { id } } })));
}

/** Reads what callers were answered beside the shadows of an alias. */
export function useShadowTotals(id: string): UseQueryResult<Schemas['AliasShadowPage']['totals']> {
  return useQuery({
    queryKey: ['platform', 'alias-shadow', id],
    queryFn: async () => {
      const params = { path: { id }, query: { limit: 1 } };
      return (await bodyOf(api.GET('/v1/admin/aliases/{id}/shadow', { params }))).totals;
    },
  });
}

/** Sets the shadow of any organization's alias; null removes it. */
export function useSaveShadow(id: string): UseMutationResult<Alias, Problem, Alias['shadow']> {
  return useAliasWrite((shadow) =>
    bodyOf(api.PATCH('/v1/admin/aliases/{id}', { params: { path: { id } }, body: { shadow } })),
  );
}
