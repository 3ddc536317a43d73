import { useNavigate, useSearch } from '@tanstack/react-router';

export type Params = Readonly<Record<string, string>>;
export type Patch = Readonly<Record<string, string | null | undefined>>;

/** The query string as plain text; what is empty stays out of it. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(search).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  const text = new URLSearchParams(shown).toString();
  return text === '' ? '' : `?${text}`;
}

/** State of a page in its URL. A change of a filter goes back to the first page. */
export function useParamsOfUrl(): [Params, (patch: Patch) => void] {
  const search: Params = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (patch: Patch): void => {
    const rest = 'page' in patch ? search : { ...search, page: undefined };
    void navigate({ to: '.', search: { ...rest, ...patch }, replace: true });
  };
  return [search, change];
}
