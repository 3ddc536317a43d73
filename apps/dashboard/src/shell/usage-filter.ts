import type { Params } from './search-params.js';

/** Filters that the address holds, by their names in the API. */
const NAMES = ['model', 'key_id', 'member_id', 'team_id', 'endpoint', 'status', 'tag'] as const;
type Name = (typeof NAMES)[number];
export type UsageFilters = Partial<Record<Name, string>>;

/** Filters by their groups, for those groups that are named by one word. */
const FILTER_OF: Readonly<Record<string, Name>> = {
  model: 'model',
  key: 'key_id',
  member: 'member_id',
  team: 'team_id',
  endpoint: 'endpoint',
  status: 'status',
};
const TAG = 'tag:';

/** Returns the filter that has the requests of one group alone: of `tag:feature` that of `feature=<group>`. */
export function filterOf(groupBy: string, group: string): UsageFilters {
  return groupBy.startsWith(TAG)
    ? { tag: `${groupBy.slice(TAG.length)}=${group}` }
    : { [FILTER_OF[groupBy]]: group };
}

export function filtersOf(url: Params): UsageFilters {
  return Object.fromEntries(NAMES.flatMap((name) => (url[name] ? [[name, url[name]]] : [])));
}

/** Returns the filters as the reads of usage take them: models and statuses as lists. */
export function bodyOfFilters({ model, status, ...one }: UsageFilters): {
  model?: string[];
  status?: string[];
} & Omit<UsageFilters, 'model' | 'status'> {
  return { ...one, ...(model && { model: [model] }), ...(status && { status: [status] }) };
}

const STATUSES: Readonly<Record<string, string>> = { error: 'Errors', success: 'Successes' };
const KINDS: Readonly<Partial<Record<Name, string>>> = {
  model: 'Model',
  key_id: 'Key',
  member_id: 'Member',
  team_id: 'Team',
  endpoint: 'Endpoint',
  tag: 'Tag',
};

/** A filter in words: its kind, and its name where `names` has one, because ids say nothing. */
export function saidOf(
  [name, value]: [string, string],
  names: Readonly<Record<string, string | undefined>>,
): { kind: string | undefined; value: string } {
  if (name === 'status') return { kind: undefined, value: STATUSES[value] ?? value };
  return { kind: KINDS[name as Name], value: names[name] ?? value };
}
