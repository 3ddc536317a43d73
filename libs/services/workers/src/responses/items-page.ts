import type { ItemsQuery } from '@gateway/contracts';

type Json = Record<string, unknown>;

export interface ItemsPage {
  object: 'list';
  data: Json[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

export const PAGE = 20;

/** A page of items that are at hand whole; `asc` is their own order. */
export function itemsPage(
  items: readonly Json[],
  { limit = PAGE, order = 'desc', after }: ItemsQuery,
): ItemsPage {
  const ordered = order === 'asc' ? [...items] : [...items].reverse();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  return listOf(ordered.slice(from, from + limit), from + limit < ordered.length);
}

/** A page that was cut out already. */
export function listOf(items: readonly Json[], has_more: boolean): ItemsPage {
  const data = items.map(listedItem);
  const idOf = (item: Json | undefined): string | null => (typeof item?.id === 'string' ? item.id : null);
  return {
    object: 'list',
    data,
    first_id: idOf(data.at(0)),
    last_id: idOf(data.at(-1)),
    has_more,
  };
}

const TYPES_WITH_STATUS: readonly unknown[] = ['message', 'function_call', 'function_call_output'];

/** An item as a list shows it, whatever short form it was sent in: its type, its status, its content as parts. */
export function listedItem(item: Json): Json {
  const type = item.type ?? 'message';
  if (!TYPES_WITH_STATUS.includes(type)) return item;
  const listed: Json = { ...item, type, status: item.status ?? 'completed' };
  if (type !== 'message' || typeof item.content !== 'string') return listed;
  const { content: text } = item;
  listed.content = [
    item.role === 'assistant' ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text },
  ];
  return listed;
}
