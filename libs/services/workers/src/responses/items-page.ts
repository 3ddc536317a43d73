import type { ItemsQuery } from '@gateway/contracts';

type Json = Record<string, unknown>;

export interface ItemsPage {
  object: 'list';
  data: Json[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

const PAGE = 20;

/** A page of items that are at hand whole; `asc` is their own order. */
export function itemsPage(
  items: readonly Json[],
  { limit = PAGE, order = 'desc', after }: ItemsQuery,
): ItemsPage {
  const ordered = order === 'asc' ? [...items] : [...items].reverse();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const data = ordered.slice(from, from + limit);
  const idOf = (item: Json | undefined): string | null => (typeof item?.id === 'string' ? item.id : null);
  return {
    object: 'list',
    data,
    first_id: idOf(data.at(0)),
    last_id: idOf(data.at(-1)),
    has_more: from + limit < ordered.length,
  };
}
