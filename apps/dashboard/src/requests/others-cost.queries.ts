import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Schemas } from '../api/schemas.js';

const OFFERS_MAX = 200;
const MODELS_SHOWN = 50;

/** Reads the offers of a model, each with its price; nothing without a model. */
export function useOffersOf(model: string | null): UseQueryResult<Schemas['ProviderOffer'][]> {
  const [brand = '', ...name] = (model ?? '').split('/');
  const path = { brand, name: name.join('/') };
  return useQuery({
    queryKey: ['model', path, 'providers'],
    enabled: model !== null,
    queryFn: async () => {
      const params = { path, query: { limit: OFFERS_MAX } };
      return (await bodyOf(api.GET('/v1/models/{brand}/{name}/providers', { params }))).data;
    },
    // The page is whole without it: a model may have left the catalogue.
    retry: false,
  });
}

/** Reads ids of text models by a bounded search, to choose from. */
export function useTextModelChoices(q: string): UseQueryResult<string[]> {
  return useQuery({
    queryKey: ['models', 'choices', q],
    queryFn: async () => {
      const query = { type: 'text' as const, limit: MODELS_SHOWN, ...(q === '' ? {} : { q }) };
      return (await bodyOf(api.GET('/v1/models/search', { params: { query } }))).data.map(({ id }) => id);
    },
    placeholderData: (shown) => shown,
  });
}
