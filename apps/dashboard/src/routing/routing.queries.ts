import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type PolicyTemplate = Schemas['RoutingPolicyTemplateRecord'];
export type Policy = Schemas['RoutingPolicy'];

export const POLICIES_A_PAGE = 50;
const PROVIDERS_MAX = 200;

export function usePolicies(
  org: string,
  page: number,
): UseQueryResult<Schemas['PageOfRoutingPolicyTemplateRecord']> {
  const query = { org_id: org, limit: POLICIES_A_PAGE, offset: (page - 1) * POLICIES_A_PAGE };
  return useQuery({
    queryKey: [org, 'routing-policies', query],
    queryFn: () => bodyOf(api.GET('/v1/routing-policy-templates', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

export function usePolicy(id: string | undefined): UseQueryResult<PolicyTemplate> {
  return useQuery({
    queryKey: ['routing-policy', id],
    enabled: id !== undefined,
    queryFn: () =>
      bodyOf(api.GET('/v1/routing-policy-templates/{id}', { params: { path: { id: id ?? '' } } })),
  });
}

/** Providers that a policy may name. */
export function useProviders(): UseQueryResult<Schemas['PinnableProvider'][]> {
  return useQuery({
    queryKey: ['pinnable-providers'],
    queryFn: async () =>
      (await bodyOf(api.GET('/v1/providers/pinnable', { params: { query: { limit: PROVIDERS_MAX } } }))).data,
  });
}

function usePolicyWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({
    write,
    touches: ([first, noun]) => first === 'routing-policy' || noun === 'routing-policies',
  });
}

export interface SentPolicy {
  name: string;
  routing_policy: Schemas['RoutingPolicyBody'];
}

/** Creates one, or changes the one that is named. */
export function useSavePolicy(
  org: string,
  id: string | undefined,
  idempotencyKey: string,
): UseMutationResult<PolicyTemplate, Problem, SentPolicy> {
  return usePolicyWrite((sent) =>
    bodyOf(
      id === undefined
        ? api.POST('/v1/routing-policy-templates', {
            body: { org_id: org, ...sent },
            headers: { 'Idempotency-Key': idempotencyKey },
          })
        : api.PATCH('/v1/routing-policy-templates/{id}', { params: { path: { id } }, body: sent }),
    ),
  );
}

export function useDeletePolicy(): UseMutationResult<unknown, Problem, string> {
  return usePolicyWrite((id) =>
    bodyOf(api.DELETE('/v1/routing-policy-templates/{id}', { params: { path: { id } } })),
  );
}
