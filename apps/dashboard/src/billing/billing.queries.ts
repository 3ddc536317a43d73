import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Schemas } from '../api/schemas.js';

/** Money is read anew each time. */
export function useBalance(org: string | null): UseQueryResult<Schemas['BalanceRecord']> {
  const query = { refresh: true, ...(org === null ? {} : { org_id: org }) };
  return useQuery({
    queryKey: [org, 'balance', query],
    queryFn: () => bodyOf(api.GET('/v1/balance', { params: { query } })),
    staleTime: 0,
  });
}

export type Trend = Schemas['SpendTrend'];

export function useSpendTrend(org: string): UseQueryResult<Trend> {
  const query = { org_id: org, granularity: 'day' as const };
  return useQuery({
    queryKey: [org, 'spend-trend', query],
    queryFn: () => bodyOf(api.GET('/v1/usage/spend-trend', { params: { query } })),
    staleTime: 60_000,
  });
}
