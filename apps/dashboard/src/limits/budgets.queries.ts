import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Schemas } from '../api/schemas.js';

export type Budget = Schemas['BudgetRecord'];

/** Reads the spend caps of an organization, that nearest to its end first. The spend is of now. */
export function useBudgets(
  org: string,
  { limit, offset = 0 }: { limit: number; offset?: number },
): UseQueryResult<Schemas['BudgetsRecord']> {
  const query = { limit, offset };
  return useQuery({
    queryKey: [org, 'budgets', query],
    queryFn: () => bodyOf(api.GET('/v1/orgs/{id}/budgets', { params: { path: { id: org }, query } })),
    placeholderData: (shown) => shown,
    staleTime: 0,
  });
}
