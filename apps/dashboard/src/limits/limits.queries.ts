import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Simulation = Schemas['LimitSimulation'];
export type Check = Schemas['LimitCheck'];

const CHOICES = 50;

/** Keys whose label has the text, for a list to choose from. */
export function useKeyChoices(
  org: string | null,
  label: string,
): UseQueryResult<Schemas['PageOfApiKeyRecord']> {
  const query = {
    ...(org === null ? {} : { org_id: org }),
    ...(label === '' ? {} : { label }),
    status: 'active' as const,
    limit: CHOICES,
  };
  return useQuery({
    queryKey: [org, 'key-choices', query],
    queryFn: () => bodyOf(api.GET('/v1/keys', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

export type KeyLimits = Schemas['KeyLimitsRecord'];
export type Rates = Schemas['RateLimitState'];

/** What is set on each scope above a key, and on it; with what is spent. */
export function useLimitsAbove(key: string): UseQueryResult<KeyLimits> {
  return useQuery({
    queryKey: ['key', key, 'limits'],
    queryFn: () => bodyOf(api.GET('/v1/keys/{id}/limits', { params: { path: { id: key } } })),
  });
}

/** Counted in this minute and day, of each scope: read anew each time. */
export function useRatesAbove(org: string | null, key: string): UseQueryResult<Rates> {
  const query = { ...(org === null ? {} : { org_id: org }), key_id: key, refresh: true };
  return useQuery({
    queryKey: ['key', key, 'rates', query],
    queryFn: () => bodyOf(api.GET('/v1/usage/rate-limits', { params: { query } })),
    staleTime: 0,
  });
}

/** Counts nothing: it may be asked again and again. */
export function useSimulation(): UseMutationResult<Simulation, Problem, Schemas['SimulateLimitsBody']> {
  return useWrite({ write: (body) => bodyOf(api.POST('/v1/limits/simulate', { body })) });
}
