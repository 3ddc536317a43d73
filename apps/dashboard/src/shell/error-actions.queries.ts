import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Schemas } from '../api/schemas.js';
import { useSession } from '../api/session.js';

export type ErrorEntry = Schemas['ErrorCatalogue']['codes'][string];

/** Reads the gateway's entry for a code; null while it is not known, and for a code of the dashboard's or a proxy's. */
export function useErrorEntry(code: string): ErrorEntry | null {
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
  return table.data?.codes[code] ?? null;
}
