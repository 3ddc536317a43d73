import { useOwnZone } from '../session/me.queries.js';
import { useOrg } from './org.queries.js';
import { parseSearch, type Params } from './search-params.js';

/**
 * Pages with a range, and what it is where their address names none. Nothing but the frame imports this file: what pages share
 * with it would be a part of the first load of its own.
 */
const OTHERWISE: Readonly<Record<string, string>> = { '/usage': '7d', '/requests': '24h' };

/**
 * Returns the range for a link to a page: the one picked; nothing where that is the page's own, or nothing can be read.
 */
export function keptRange(
  places: () => readonly Pick<Storage, 'getItem'>[],
  org: string,
  path: string,
): Params {
  try {
    const texts: unknown[] = places().map((place) => textOf(place, org));
    const { range, ...rest } = parseSearch(texts.find((text) => typeof text === 'string') ?? '');
    return range === undefined || range === OTHERWISE[path] ? rest : { ...rest, range };
  } catch {
    return {};
  }
}

function textOf(place: Pick<Storage, 'getItem'>, org: string): unknown {
  return (JSON.parse(place.getItem('ranges') ?? '{}') as Record<string, unknown>)[org];
}

const inBrowser = (): Storage[] => [sessionStorage, localStorage];

/**
 * Returns the range and zone for links within the organization, by the page's path: an address says all that it shows.
 */
export function useRangeOfLink(): (path: string) => Params {
  const { slug } = useOrg();
  const zone = useOwnZone();
  return (path) =>
    path in OTHERWISE ? { ...(zone !== 'UTC' && { zone }), ...keptRange(inBrowser, slug, path) } : {};
}
