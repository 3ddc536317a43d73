import type { Params } from '../shell/search-params.js';

/** Filters that the address holds, by their names in the API. */
const NAMES = ['model', 'key_id', 'member_id', 'team_id', 'endpoint', 'status'] as const;
type Name = (typeof NAMES)[number];
export type UsageFilters = Partial<Record<Name, string>>;

/** The filter that has the requests of one group alone. */
export const FILTER_OF: Readonly<Record<string, Name>> = {
  model: 'model',
  key: 'key_id',
  member: 'member_id',
  team: 'team_id',
  endpoint: 'endpoint',
  status: 'status',
};

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
const ONE: Readonly<Record<string, string>> = {
  key_id: 'Of one key',
  member_id: 'Of one member',
  team_id: 'Of one team',
};

/** A filter in words: the ids of keys and people say nothing. */
export function saidOf([name, value]: [string, string]): string {
  return name === 'status' ? (STATUSES[value] ?? value) : (ONE[name] ?? value);
}
