import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Feed = Schemas['CatalogueFeedState'];
export type Sync = Schemas['CatalogueSync'];
export type Pending = Schemas['PendingPage'];
export type PendingChange = Schemas['PendingChange'];
type AdminModel = Schemas['AdminModelRecord'];
export type Edit = AdminModel['edits'][number];

export const ROWS_OF_CATALOGUE = 50;

/** Reads what is read of the signed catalogue, and how its last reading ended. */
export function useFeed(): UseQueryResult<Feed> {
  return useQuery({
    queryKey: ['feed', 'state'],
    queryFn: () => bodyOf(api.GET('/v1/admin/catalogue/feed')),
    staleTime: 0,
  });
}

/** Reads the changes that wait for a super admin. */
export function usePending(page: number): UseQueryResult<Pending> {
  const query = { limit: ROWS_OF_CATALOGUE, offset: (page - 1) * ROWS_OF_CATALOGUE };
  return useQuery({
    queryKey: ['feed', 'pending', query],
    queryFn: () => bodyOf(api.GET('/v1/admin/catalogue/pending', { params: { query } })),
    placeholderData: (shown) => shown,
    staleTime: 0,
  });
}

const OF_CATALOGUE = new Set<unknown>(['feed', 'models', 'model', 'edits']);

function useCatalogueWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, touches: ([noun]) => OF_CATALOGUE.has(noun) });
}

export function useSync(): UseMutationResult<Sync, Problem, void> {
  return useCatalogueWrite(() => bodyOf(api.POST('/v1/admin/catalogue/sync', { body: {} })));
}

/** Applies or dismisses changes of the document that was read; without models all of them. */
export function useSettle(
  verb: 'apply' | 'dismiss',
): UseMutationResult<Sync, Problem, Schemas['PendingChangesBody']> {
  return useCatalogueWrite((body) => bodyOf(api.POST(`/v1/admin/catalogue/pending/${verb}`, { body })));
}

/** Reads the models that have edits of an operator, those whose data has moved under an edit alone on demand. */
export function useEdited(
  page: number,
  isDrifted: boolean,
): UseQueryResult<Schemas['PageOfAdminModelRecord']> {
  const query = {
    ...{ layer: 'operator' as const, limit: ROWS_OF_CATALOGUE, offset: (page - 1) * ROWS_OF_CATALOGUE },
    ...(isDrifted ? { is_drifted: true } : {}),
  };
  return useQuery({
    queryKey: ['edits', query],
    queryFn: () => bodyOf(api.GET('/v1/admin/models', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

/** Removes one edit of a model: the layer below holds again, and is followed. */
export function useFollow(model: string): UseMutationResult<unknown, Problem, Edit> {
  const [brand = '', ...name] = model.split('/');
  const path = { brand, name: name.join('/') };
  return useCatalogueWrite(({ field, provider, upstream_model }) => {
    const query = { field, ...(provider && { provider }), ...(upstream_model && { upstream_model }) };
    return bodyOf<unknown>(api.DELETE('/v1/admin/models/{brand}/{name}/edits', { params: { path, query } }));
  });
}
