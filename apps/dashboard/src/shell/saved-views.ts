import type { Params } from './search-params.js';

/** A name for what a page's address shows. */
export interface View {
  name: string;
  search: Params;
}

const VIEWS_MAX = 20;
const NAME_CHARS_MAX = 60;

/** Views that this browser keeps of a page; what cannot be read is none. */
export function readViews(storage: Pick<Storage, 'getItem'>, place: string): View[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(keyOf(place)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView).slice(0, VIEWS_MAX) : [];
  } catch {
    return [];
  }
}

/** The newest first; one of the same name takes its place. @returns what is kept then. */
export function keepView(storage: Pick<Storage, 'getItem' | 'setItem'>, place: string, view: View): View[] {
  const name = view.name.trim().slice(0, NAME_CHARS_MAX);
  const others = readViews(storage, place).filter((one) => one.name !== name);
  return write(storage, place, name === '' ? others : [{ ...view, name }, ...others].slice(0, VIEWS_MAX));
}

export function dropView(storage: Pick<Storage, 'getItem' | 'setItem'>, place: string, name: string): View[] {
  return write(
    storage,
    place,
    readViews(storage, place).filter((one) => one.name !== name),
  );
}

function write(storage: Pick<Storage, 'setItem'>, place: string, views: View[]): View[] {
  storage.setItem(keyOf(place), JSON.stringify(views));
  return views;
}

function keyOf(place: string): string {
  return `views ${place}`;
}

function isView(value: unknown): value is View {
  if (typeof value !== 'object' || value === null) return false;
  const { name, search } = value as Partial<View>;
  return (
    typeof name === 'string' &&
    typeof search === 'object' &&
    search !== null &&
    Object.values(search).every((text) => typeof text === 'string')
  );
}
