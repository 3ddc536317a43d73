import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';

export interface Balance {
  available_usd: string;
}

/** Money is read anew each time. */
export function useBalance(org: string | null): UseQueryResult<Balance> {
  const query = org === null ? {} : { org_id: org };
  return useQuery({
    queryKey: [org, 'balance'],
    queryFn: async () => (await bodyOf(api.GET('/v1/balance', { params: { query } }))) as unknown as Balance,
    staleTime: 0,
  });
}
