import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import { useSession } from '../api/session.js';

/** What to do about a code, by the gateway's own table; null while that is not known, and for a code of the dashboard's. */
export function useErrorAction(code: string): string | null {
  const table = useQuery({
    queryKey: ['errors'],
    queryFn: () => bodyOf(api.GET('/v1/errors')),
    // A credential is needed, and a card is no reason to ask again and again.
    enabled: useSession().state === 'in',
    staleTime: Infinity,
    retry: false,
    retryOnMount: false,
    refetchInterval: false,
  });
  return table.data?.codes[code]?.action ?? null;
}
