import { useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Schemas } from '../api/schemas.js';

export type Model = Schemas['ModelView'];
export type Offer = Schemas['ProviderOffer'];
export type Step = Schemas['PriceStep'];
export type Pricing = Schemas['PricingView'];

export const MODELS_A_PAGE = 50;

interface ModelFilter {
  q?: string;
  brand?: string;
  type?: string;
  capability?: string;
  /** `all` = also models that nobody here has a credential for. */
  state?: string;
  /** Order of the server's list; what it does not know is its own. */
  sort?: string;
  page: number;
}

const SORTS = ['name', '-name', 'context_length', '-context_length'] as const;
const TYPES = ['text', 'embedding', 'image', 'audio', 'tts', 'stt', 'video'] as const;

export function useModels(filter: ModelFilter): UseQueryResult<Schemas['FoundModels']> {
  const { q, brand, type, capability, state, page } = filter;
  const sort = SORTS.find((one) => one === filter.sort);
  const known = TYPES.find((one) => one === type);
  const query = {
    ...(state === 'all' ? {} : { available: true }),
    ...(q ? { q } : {}),
    ...(brand ? { brand } : {}),
    ...(known ? { type: known } : {}),
    ...(capability ? { capability: [capability] } : {}),
    ...(sort ? { sort } : {}),
    limit: MODELS_A_PAGE,
    offset: (page - 1) * MODELS_A_PAGE,
  };
  return useQuery({
    queryKey: ['models', query],
    queryFn: () => bodyOf(api.GET('/v1/models/search', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

export function useModel(path: { brand: string; name: string }): UseQueryResult<Model> {
  return useQuery({
    queryKey: ['model', path],
    queryFn: () => bodyOf(api.GET('/v1/models/{brand}/{name}', { params: { path } })),
  });
}

/** Reads up to four models at once. */
export function useModelsOf(ids: readonly string[]): UseQueryResult<Model>[] {
  return useQueries({
    queries: ids.map((id) => {
      const [brand = '', name = ''] = id.split('/');
      const path = { brand, name };
      return {
        queryKey: ['model', path],
        queryFn: () => bodyOf(api.GET('/v1/models/{brand}/{name}', { params: { path } })),
      };
    }),
  });
}

export function useOffers(path: { brand: string; name: string }): UseQueryResult<Offer[]> {
  return useQuery({
    queryKey: ['model', path, 'providers'],
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/v1/models/{brand}/{name}/providers', { params: { path, query: { limit: 200 } } }),
        )
      ).data,
  });
}

export function usePriceHistory(path: { brand: string; name: string }): UseQueryResult<Step[]> {
  return useQuery({
    queryKey: ['model', path, 'prices'],
    queryFn: async () =>
      (await bodyOf(api.GET('/v1/models/{brand}/{name}/price-history', { params: { path } }))).data,
  });
}
