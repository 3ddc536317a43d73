import { useQuery } from '@tanstack/react-query';
import { keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';

const NAMES_MAX = 200;

/** Ids of one thing each, as addresses filter by them. */
export interface FilterIds {
  key_id?: string | undefined;
  member_id?: string | undefined;
  team_id?: string | undefined;
}

/**
 * Reads the names of the key, the person and the team that a page is filtered by. Returns the id where there is no name:
 * the key was deleted, or the person has left.
 */
export function useFilterNames(org: string | null, ids: FilterIds): FilterIds {
  const { key_id: key, member_id: member, team_id: team } = ids;
  const query = { ...keysOf(org), limit: NAMES_MAX };
  const options = useQuery({
    queryKey: [org, 'filter-names', query],
    enabled: member !== undefined || team !== undefined,
    queryFn: () => bodyOf(api.GET('/v1/keys/filter-options', { params: { query } })),
    retry: false,
  }).data;
  const label = useQuery({
    queryKey: ['key', key, 'name'],
    enabled: key !== undefined,
    queryFn: async () => {
      const record = await bodyOf(api.GET('/v1/keys/{id}', { params: { path: { id: key ?? '' } } }));
      return record.label ?? record.masked_key;
    },
    retry: false,
  }).data;
  const nameOf = (rows: readonly { id: string; name: string }[] | undefined, id: string | undefined) =>
    rows?.find((row) => row.id === id)?.name ?? id;
  return {
    key_id: label ?? key,
    member_id: nameOf(options?.members, member),
    team_id: nameOf(options?.teams, team),
  };
}
