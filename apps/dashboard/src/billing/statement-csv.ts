import { csvOf, type Cell } from '../table/csv.js';
import { kindInWords } from './money-words.js';
import type { Statement } from './billing.queries.js';
import { negative } from './statement-lines.js';

const HEAD = ['line', 'team', 'model', 'requests', 'amount_usd'];

/** Returns a statement as a spreadsheet takes it: its lines between opening and closing add up, and amounts are exact. */
export function statementCsv({ opening_usd, closing_usd, credits, usage }: Statement): string {
  const rows: Cell[][] = [
    ['Opening balance', null, null, null, opening_usd],
    ...credits.map(({ kind, amount_usd }) => [kindInWords(kind), null, null, null, amount_usd]),
    ...usage.map((row): Cell[] => [
      'Usage',
      teamName(row),
      row.model ?? 'Others',
      row.requests,
      negative(row.amount_usd),
    ]),
    ['Closing balance', null, null, null, closing_usd],
  ];
  return csvOf(HEAD, rows);
}

/** Returns the name of the team of a row; that of a deleted team is not known. */
export function teamName({
  team_id: id,
  team_name: name,
}: Pick<Statement['usage'][number], 'team_id' | 'team_name'>): string {
  return id === null ? 'No team' : (name ?? id);
}
