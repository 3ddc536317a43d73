import { csvOf, type Cell } from '../table/csv.js';
import { nameOf } from './bars-of.js';
import type { Series, SeriesValues } from './usage.queries.js';

const HEAD = [
  ...['group', 'id', 'spend_usd', 'requests', 'errors', 'input_tokens', 'output_tokens'],
  ...['latency_p50_ms', 'latency_p95_ms', 'first_token_p50_ms'],
];

/** Returns the sums of the groups, and that of all in the last row, as a spreadsheet takes them: amounts are exact. */
export function totalsCsv({ groups, totals, total }: Series): string {
  const rowOf = (name: string, id: string, values: SeriesValues): Cell[] => [
    ...[name, id, values.cost_usd, values.requests, values.errors],
    ...[values.prompt_tokens, values.completion_tokens],
    ...[values.latency_p50_ms, values.latency_p95_ms, values.ttft_p50_ms],
  ];
  const rows = groups.map((group) => rowOf(nameOf(group), group.id, totals[group.id]));
  return csvOf(HEAD, [...rows, rowOf('Total', '', total)]);
}
