import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Me } from './rights.js';

/** Who is signed in and which organizations they are in. */
export function useMe(): UseQueryResult<Me> {
  return useQuery({ queryKey: ['me'], queryFn: () => bodyOf(api.GET('/auth/me')) });
}

/** The zone of every time and range: the person's own, else UTC, in which the ledger and caps count. */
export function useZone(): string {
  return useMe().data?.user.time_zone ?? 'UTC';
}
