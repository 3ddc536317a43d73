import { filled, objectsOf, textOf, type JsonObject } from '../body/json-object.js';
import { parseUpstreamObject } from '../body/upstream-json.js';
import type { SearchFindings, SearchRequest, SearchResult } from './search-dialect.js';

/** The names of a result's member at an engine; the first with a value counts. */
export type ResultNames = Readonly<
  Partial<Record<Exclude<keyof SearchResult, 'title' | 'score'>, readonly string[]>>
>;

/** A list of results, each with an address; null where there is no list. */
export function resultsOf(list: unknown, names: ResultNames, most: number): SearchResult[] | null {
  if (!Array.isArray(list)) return null;
  return objectsOf(list)
    .flatMap((found) => resultOf(found, names) ?? [])
    .slice(0, most);
}

function resultOf(found: JsonObject, names: ResultNames): SearchResult | null {
  const { url = ['url'], snippet = ['snippet'], ...others } = names;
  const address = first(found, url);
  if (address === null) return null;
  const optional: Record<string, string | number> = {};
  for (const [name, places] of Object.entries(others)) {
    const value = first(found, places);
    if (value !== null) optional[name] = value;
  }
  if (typeof found.score === 'number' && Number.isFinite(found.score)) optional.score = found.score;
  return { title: textOf(found.title), url: address, snippet: first(found, snippet) ?? '', ...optional };
}

function first(found: JsonObject, places: readonly string[]): string | null {
  for (const place of places) {
    const value = found[place];
    const text = Array.isArray(value)
      ? filled(value.filter((part) => typeof part === 'string').join(' … '))
      : filled(value);
    if (text !== null) return text;
  }
  return null;
}

/** The findings of an engine whose results are one list at the top of its answer. */
export function findingsAt(
  bytes: Uint8Array,
  member: string,
  names: ResultNames,
  { maxResults }: SearchRequest,
): SearchFindings | null {
  const results = resultsOf(parseUpstreamObject(bytes)?.[member], names, maxResults);
  return results === null ? null : { results };
}

/** One query only, which most engines take. */
export function takesOne({ queries }: SearchRequest): string | null {
  return queries.length > 1 ? 'query' : null;
}

/** The first parameter that is set of those that an engine has no word for. */
export function firstGiven(
  request: SearchRequest,
  members: Partial<Record<keyof SearchRequest, string>>,
): string | null {
  for (const [member, param] of Object.entries(members)) {
    const value = request[member as keyof SearchRequest];
    if (Array.isArray(value) ? value.length > 0 : value !== null && value !== false) return param;
  }
  return null;
}

/** Returns the query for engines that know domains by operators of the query alone. */
export function withDomains({ queries, includeDomains, excludeDomains }: SearchRequest): string {
  const included = includeDomains.map((domain) => `site:${domain}`).join(' OR ');
  const excluded = excludeDomains.map((domain) => `-site:${domain}`);
  return [queries[0], included, ...excluded].filter((part) => part !== '').join(' ');
}

/** MM/DD/YYYY of YYYY-MM-DD. */
export function american(date: string): string {
  const [year, month, day] = date.split('-');
  return `${month}/${day}/${year}`;
}
