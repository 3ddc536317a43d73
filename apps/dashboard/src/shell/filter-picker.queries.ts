import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { keysOf } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';

const CHOICES = 50;

/** One value that a filter can take. */
export interface Choice {
  value: string;
  label: string;
}

type Kind = 'model' | 'key_id' | 'member_id' | 'team_id';

/** Reads values of a kind of filter by a bounded search; nothing for a kind that has none to choose from. */
export function useFilterChoices(org: string | null, kind: string, q: string): UseQueryResult<Choice[]> {
  return useQuery({
    queryKey: [org, 'filter-choices', kind, q],
    enabled: isKind(kind),
    queryFn: () => (isKind(kind) ? READS[kind](org, q) : []),
    placeholderData: (shown) => shown,
  });
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(READS, kind);
}

const READS: Readonly<Record<Kind, (org: string | null, q: string) => Promise<Choice[]>>> = {
  model: async (_org, q) => {
    const query = { limit: CHOICES, ...(q === '' ? {} : { q }) };
    const { data } = await bodyOf(api.GET('/v1/models/search', { params: { query } }));
    return data.map(({ id }) => ({ value: id, label: id }));
  },
  key_id: async (org, q) => {
    const query = { ...keysOf(org), limit: CHOICES, ...(q === '' ? {} : { label: q }) };
    const { data } = await bodyOf(api.GET('/v1/keys', { params: { query } }));
    return data.map(({ id, label, masked_key: masked }) => ({ value: id, label: label ?? masked }));
  },
  member_id: async (org, q) => namesOf((await optionsOf(org, q)).members),
  team_id: async (org, q) => namesOf((await optionsOf(org, q)).teams),
};

function optionsOf(org: string | null, q: string) {
  const query = { ...keysOf(org), limit: CHOICES, ...(q === '' ? {} : { q }) };
  return bodyOf(api.GET('/v1/keys/filter-options', { params: { query } }));
}

function namesOf(rows: readonly { id: string; name: string }[]): Choice[] {
  return rows.map(({ id, name }) => ({ value: id, label: name }));
}
