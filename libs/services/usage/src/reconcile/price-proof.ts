import { factSql } from '../posting/event-detail.js';
import type { PricedUnit, Reprice } from '../posting/reprice.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { Finding } from './finding.js';

interface Deps {
  database: UsageDatabase;
  reprice: Pick<Reprice, 'again' | 'knows' | 'window'>;
}

export interface PriceProof {
  findings: Finding[];
  /** Billed events whose terms cannot be read, so that nobody can say what they should have cost. */
  unpriced: number;
}

interface Row extends PricedUnit {
  request_id: string;
  unit: number;
  account_id: string;
  cost: string;
}

const AT_ONCE = 1_000;
/** Name of the price outside of every window. */
const STANDARD = 'standard';
/** Number of findings of one kind past which the price of a model is wrong, not a row. */
const FINDINGS_MAX = 10_000;

/** Prices every billed event again from its own record and the terms it names. Read part by part. */
export async function provePrices({ database, reprice }: Deps): Promise<PriceProof> {
  const prices: Finding[] = [];
  const windows: Finding[] = [];
  let unpriced = 0;
  // A snapshot that cannot be read is asked for once, not once an event.
  const isKnown = new Map<string, boolean>();
  let after: readonly [string, number] = ['', 0];
  for (;;) {
    const { rows } = await database.pool.query<Row>(
      `SELECT request_id, unit, account_id, model, ${factSql('usage')} AS usage, ${factSql('priced_from')} AS priced_from, trim_scale(cost)::text AS cost
       FROM usage_event WHERE (request_id, unit) > ($1, $2) AND cost IS NOT NULL AND ${factSql('priced_from')} IS NOT NULL
       ORDER BY request_id, unit LIMIT ${AT_ONCE}`,
      [...after],
    );
    for (const row of rows) {
      const id = row.priced_from?.snapshot_id ?? '';
      if (!isKnown.has(id)) isKnown.set(id, await reprice.knows(id));
      const expected = isKnown.get(id) ? await reprice.again(row) : null;
      const held = isKnown.get(id) ? await reprice.window(row) : undefined;
      const named = row.priced_from?.price_window ?? null;
      if (held !== undefined && held !== named && windows.length < FINDINGS_MAX)
        windows.push(windowFinding(row, held ?? STANDARD, named ?? STANDARD));
      if (expected === null) unpriced += 1;
      else if (expected !== row.cost && prices.length < FINDINGS_MAX) prices.push(finding(row, expected));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return { findings: [...prices, ...windows], unpriced };
    after = [last.request_id, last.unit];
  }
}

function windowFinding(
  { account_id: account, request_id, unit }: Row,
  expected: string,
  found: string,
): Finding {
  return { kind: 'window_differs', account, scope: `${request_id}/${unit}`, expected, found };
}

function finding({ account_id: account, request_id, unit, cost: found }: Row, expected: string): Finding {
  return { kind: 'price_differs', account, scope: `${request_id}/${unit}`, expected, found };
}
