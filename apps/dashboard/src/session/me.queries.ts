import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Me } from './rights.js';

/** Who is signed in and which organizations they are in. */
export function useMe(): UseQueryResult<Me> {
  return useQuery({ queryKey: ['me'], queryFn: () => bodyOf<unknown>(api.GET('/auth/me')) as Promise<Me> });
}
