import { csvOf, type Cell } from '../table/csv.js';
import { nameOf } from './bars-of.js';
import type { Series, SeriesValues } from './usage.queries.js';

const SPEND = ['group', 'id', 'spend_usd'];
const BEFORE = ['spend_before_usd'];
const OTHERS = [
  ...['requests', 'errors', 'input_tokens', 'output_tokens'],
  ...['latency_p50_ms', 'latency_p95_ms', 'first_token_p50_ms'],
];

/**
 * Returns the sums of the groups, and that of all in the last row, as a spreadsheet takes them: amounts are exact. Beside
 * the spend stands that of the period before, where it is compared; it is empty where it is not known of the group.
 */
export function totalsCsv({ groups, totals, total }: Series, before: Series | undefined): string {
  const rowOf = (name: string, id: string, values: SeriesValues, beforeUsd: string | null): Cell[] => [
    ...[name, id, values.cost_usd, ...(before === undefined ? [] : [beforeUsd])],
    ...[values.requests, values.errors, values.prompt_tokens, values.completion_tokens],
    ...[values.latency_p50_ms, values.latency_p95_ms, values.ttft_p50_ms],
  ];
  const rows = groups.map((group) =>
    rowOf(nameOf(group), group.id, totals[group.id], spendBefore(before, group.id)),
  );
  const last = rowOf('Total', '', total, before?.total.cost_usd ?? null);
  return csvOf([...SPEND, ...(before === undefined ? [] : BEFORE), ...OTHERS], [...rows, last]);
}

/**
 * Returns the spend of a group in the period before. Null where that is not known: of `other`, whose groups differ, and of
 * a group that may be among the others there.
 */
export function spendBefore(before: Series | undefined, group: string): string | null {
  if (before === undefined || group === 'other') return null;
  if (Object.hasOwn(before.totals, group)) return before.totals[group].cost_usd;
  return before.groups.some(({ id }) => id === 'other') ? null : '0';
}
