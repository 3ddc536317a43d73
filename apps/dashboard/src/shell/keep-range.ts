import { stringifySearch, type Params } from './search-params.js';

/** Name of the store, as the links read it. */
const RANGES = 'ranges';
const ORGS_MAX = 20;
const CHARS_MAX = 200;

type Place = Pick<Storage, 'getItem' | 'setItem'>;

/** Stores of ranges: picked days are old tomorrow, and end with the tab; a length of time stays. */
export interface Places {
  tab: Place;
  browser: Place;
}

/** Keeps what a person picked by hand for an organization, of the last 20. A browser may keep nothing. */
export function keepRange(places: () => Places, org: string, picked: Params): void {
  try {
    const { tab, browser } = places();
    const isDays = picked.from !== undefined;
    write(tab, org, isDays ? picked : {});
    if (!isDays) write(browser, org, picked);
  } catch {
    // The next link names no range.
  }
}

function write(place: Place, org: string, picked: Params): void {
  const others = Object.entries(kept(place)).filter(([one]) => one !== org);
  const text = stringifySearch(picked).slice(0, CHARS_MAX);
  const all = text === '' ? others : [...others, [org, text]];
  place.setItem(RANGES, JSON.stringify(Object.fromEntries(all.slice(-ORGS_MAX))));
}

/** Returns the ranges by organization, the last one last; unreadable ones are left out. */
function kept(place: Place): object {
  try {
    return Object(JSON.parse(place.getItem(RANGES) ?? '{}')) as object;
  } catch {
    return {};
  }
}
