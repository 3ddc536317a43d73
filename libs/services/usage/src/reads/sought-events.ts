import { ApiError, type UsageEventsBody } from '@gateway/contracts';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { tagSql } from './events-sql.js';
import { rowsAfter, type EventName } from './find-page.js';
import type { Listed } from './row-filter.js';
import { Values } from './values.js';

/** Order and filters that neither an index nor a sum has: each event of the range is looked at. */
export type Sought = Pick<UsageEventsBody, 'sort' | 'min_cost_usd' | 'min_latency_ms' | 'stream'>;

/** Events that one read looks at: a second of a busy database at the most. */
const LOOKED_AT_MAX = 100_000;

/** Columns of the orders. */
const COLUMNS: Readonly<Record<string, string>> = {
  created_at: 'created_at',
  cost_usd: 'cost',
  latency_ms: 'latency_ms',
  ttft_ms: 'ttft_ms',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
};

/** True for a read that looks at each event of its range. */
export function isSought({ sort, min_cost_usd: cost, min_latency_ms: latency, stream }: Sought): boolean {
  return [sort, cost, latency, stream].some((asked) => asked !== null && asked !== undefined);
}

/** Throws ApiError `validation_error` beside a cursor, which is of the order of time. */
export function refuseCursor({ cursor }: UsageEventsBody): void {
  if (cursor === null || cursor === undefined) return;
  const msg = 'cursor goes with no sort and no filter by cost, latency or stream: use offset.';
  throw new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'cursor_invalid', loc: ['cursor'], msg }],
  });
}

/** Throws ApiError `bad_request` for a range of more events than a read looks at. */
export function refuseMany(count: number): void {
  if (count <= LOOKED_AT_MAX) return;
  const [most, found] = [LOOKED_AT_MAX, count].map((figure) => figure.toLocaleString('en-US'));
  throw new ApiError('bad_request', {
    message: `Requests are sorted, or sought by cost, latency or stream, among at most ${most}; this range has ${found}. Choose a shorter range or one key.`,
    param: 'since',
  });
}

/** Returns the names of the events of a page in its order. What has no such value comes last in both directions. */
export async function soughtNames(
  { pool }: UsageDatabase,
  listed: Listed,
  { sort, limit, offset, ...sought }: Sought & Pick<UsageEventsBody, 'limit' | 'offset'>,
): Promise<(EventName & { id: string })[]> {
  const values = new Values();
  const by = sort ?? '-created_at';
  const direction = by.startsWith('-') ? 'DESC' : 'ASC';
  const { rows } = await pool.query<EventName & { id: string }>(
    `SELECT request_id, unit, id FROM usage_event WHERE ${matchingSql(listed, sought, values).join(' AND ')}
     ORDER BY ${COLUMNS[by.replace('-', '')]} ${direction} NULLS LAST, created_at DESC, id DESC
     LIMIT ${values.add(limit)} OFFSET ${values.add(offset)}`,
    values.list,
  );
  return rows;
}

/** Returns the count of all pages. */
export async function countSought({ pool }: UsageDatabase, listed: Listed, sought: Sought): Promise<number> {
  const values = new Values();
  const { rows } = await pool.query<{ total: string }>(
    `SELECT count(*)::text AS total FROM usage_event WHERE ${matchingSql(listed, sought, values).join(' AND ')}`,
    values.list,
  );
  return Number(rows[0].total);
}

function matchingSql(
  { conditions, times, tag }: Listed,
  { min_cost_usd: cost, min_latency_ms: latency, stream }: Omit<Sought, 'sort'>,
  values: Values,
): string[] {
  const matching = rowsAfter({ conditions, times, after: null }, values);
  if (tag !== null) matching.push(tagSql(tag, values));
  if (cost != null) matching.push(`cost >= ${values.add(cost)}::numeric`);
  if (latency != null) matching.push(`latency_ms >= ${values.add(latency)}::float8`);
  if (stream != null) matching.push(`stream = ${values.add(stream)}::boolean`);
  return matching;
}
