import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import { rolesIn, type Me, type Role } from './rights.js';

/** Who is signed in and which organizations they are in. */
export function useMe(): UseQueryResult<Me> {
  return useQuery({ queryKey: ['me'], queryFn: () => bodyOf(api.GET('/auth/me')) });
}

/** The zone of every time and range: the person's own, else UTC, in which the ledger and caps count. */
export function useZone(): string {
  return useMe().data?.user.time_zone ?? 'UTC';
}

/** What the person is where `org` is open. */
export function useRoles(org: string): Role[] {
  const me = useMe().data;
  return me === undefined ? [] : rolesIn(me, org);
}
