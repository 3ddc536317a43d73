import { exactUsd } from '../format/money.js';
import type { Params } from '../shell/search-params.js';

/** Filters and order of the list that no sum has, as the address holds them. */
export interface RowFilters {
  sort?: string;
  min_cost_usd?: string;
  min_latency_ms?: string;
  stream?: string;
}

const NAMES = ['sort', 'min_cost_usd', 'min_latency_ms', 'stream'] as const;
const SORTED: Readonly<Record<string, string>> = {
  created_at: 'Time',
  prompt_tokens: 'Input',
  completion_tokens: 'Output',
  ttft_ms: 'First token',
  latency_ms: 'Latency',
  cost_usd: 'Cost',
};
const MS = 1_000;

export function rowFiltersOf(url: Params): RowFilters {
  return Object.fromEntries(NAMES.flatMap((name) => (url[name] ? [[name, url[name]]] : [])));
}

/** Returns the members of the body of the list. What is no number goes as it is: the gateway says what is wrong with it. */
export function bodyOfRows({ min_latency_ms: latency, stream, ...texts }: RowFilters): {
  sort?: string;
  min_cost_usd?: string;
  min_latency_ms?: number;
  stream?: boolean;
} {
  return {
    ...texts,
    ...(latency !== undefined && { min_latency_ms: Number(latency) }),
    ...(stream !== undefined && { stream: stream === 'yes' }),
  };
}

/** Returns a filter or the order in words. */
export function rowFilterWords(name: string, value: string): { kind: string | undefined; value: string } {
  if (name === 'min_cost_usd') return { kind: 'Cost from', value: exactUsd(value) };
  if (name === 'min_latency_ms') return { kind: 'Latency from', value: `${Number(value) / MS} s` };
  if (name === 'stream') return { kind: undefined, value: value === 'yes' ? 'Streamed' : 'In one piece' };
  const by = value.replace('-', '');
  const [first, last] = by === 'created_at' ? ['newest', 'oldest'] : ['largest', 'smallest'];
  return { kind: 'Sorted by', value: `${SORTED[by] ?? by}, ${value.startsWith('-') ? first : last} first` };
}

/** Kinds of filters that the list has beside those of usage. */
export const ROW_KINDS = [
  {
    value: 'min_cost_usd',
    label: 'Cost from, in dollars',
    typed: { placeholder: '0.50, then Enter', pattern: '[0-9]{1,12}([.][0-9]{1,12})?' },
  },
  {
    value: 'min_latency_ms',
    label: 'Latency from, in seconds',
    typed: { placeholder: '2.5, then Enter', pattern: '[0-9]{1,5}([.][0-9]{1,3})?' },
    // The address has it in the measure of the list.
    toUrl: (seconds: string): string => String(Math.round(Number(seconds) * MS)),
  },
  {
    value: 'stream',
    label: 'Stream',
    choices: [
      { value: 'yes', label: 'Streamed' },
      { value: 'no', label: 'In one piece' },
    ],
  },
] as const;
