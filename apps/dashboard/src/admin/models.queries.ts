import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';
import { ROWS_OF_CATALOGUE } from './catalogue.queries.js';

export type AdminModel = Schemas['AdminModelRecord'];
export type AdminRoute = AdminModel['routes'][number];
export type Price = Schemas['PriceRecord'];

/** Reads all models, those included that nobody can call, narrowed by words of their name and by whether they can be. */
export function useAdminModels(
  asked: { q?: string; availability?: string },
  page: number,
): UseQueryResult<Schemas['PageOfAdminModelRecord']> {
  const { q, availability } = asked;
  const query = {
    ...(q ? { q } : {}),
    ...(availability ? { availability: availability as AdminModel['availability']['status'] } : {}),
    ...{ limit: ROWS_OF_CATALOGUE, offset: (page - 1) * ROWS_OF_CATALOGUE },
  };
  return useQuery({
    queryKey: ['edits', 'all', query],
    queryFn: () => bodyOf(api.GET('/v1/admin/models', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

const OF_MODELS = new Set<unknown>(['feed', 'models', 'model', 'edits']);

/** Sets the whole price of one route, with its windows; it follows nothing from then on. */
export function useSetPrice(
  model: string,
  { provider, upstream_model }: AdminRoute,
): UseMutationResult<AdminModel, Problem, Price> {
  const [brand = '', ...name] = model.split('/');
  const path = { brand, name: name.join('/') };
  return useWrite({
    write: (price) => {
      const body: object = { routes: [{ provider, upstream_model, price }] };
      return bodyOf(
        api.PATCH('/v1/admin/models/{brand}/{name}', {
          params: { path },
          body,
        }),
      );
    },
    touches: ([noun]) => OF_MODELS.has(noun),
  });
}
