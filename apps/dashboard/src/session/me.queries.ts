import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { api, bodyOf } from '../api/call.js';
import { isZone } from '../format/zone.js';
import { rolesIn, type Me, type Role } from './rights.js';

/** Reads the person who is signed in and their organizations. */
export function useMe(): UseQueryResult<Me> {
  return useQuery({ queryKey: ['me'], queryFn: () => bodyOf(api.GET('/auth/me')) });
}

/** Tells whether there are balances here: they are shown until the deployment says that it bills nobody. */
export function useIsBilled(): boolean {
  const options = useQuery({
    queryKey: ['sign-in-options'],
    queryFn: () => bodyOf<unknown>(api.GET('/auth/options')) as Promise<{ billing?: string }>,
    staleTime: Infinity,
  });
  return options.data?.billing !== 'off';
}

/** The person's own zone, else UTC, in which the ledger and caps count. */
export function useOwnZone(): string {
  return useMe().data?.user.time_zone ?? 'UTC';
}

const zoneOf = ({ zone }: { zone?: string }): string | undefined => zone;

/** The zone of every time and range: that of the address, else the person's own. */
export function useZone(): string {
  const own = useOwnZone();
  const named = useSearch({ strict: false, select: zoneOf });
  return named !== undefined && isZone(named) ? named : own;
}

/** Returns the person's roles where `org` is open. */
export function useRoles(org: string): Role[] {
  const me = useMe().data;
  return me === undefined ? [] : rolesIn(me, org);
}
