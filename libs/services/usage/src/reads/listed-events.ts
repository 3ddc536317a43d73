import type { UsageDatabase } from '../postgres/usage-database.js';
import { EVENT_SQL, type EventColumns } from './event-wire.js';
import { rowsAfter, type EventName, type PageQuery } from './find-page.js';
import { Values } from './values.js';

/** The page, read in the order of events. */
export async function eventsInOrder({ pool }: UsageDatabase, query: PageQuery): Promise<EventColumns[]> {
  const values = new Values();
  const matching = rowsAfter(query, values);
  const { rows } = await pool.query<EventColumns>(
    `SELECT ${EVENT_SQL} FROM usage_event WHERE ${matching.join(' AND ')} ORDER BY created_at DESC, id DESC
     LIMIT ${values.add(query.limit)} OFFSET ${values.add(query.offset)}`,
    values.list,
  );
  return rows;
}

/** Returns events in their order. */
export async function eventsNamed(
  { pool }: UsageDatabase,
  named: readonly EventName[],
): Promise<EventColumns[]> {
  const { rows } = await pool.query<EventColumns>(
    `SELECT ${EVENT_SQL} FROM usage_event
     WHERE (request_id, unit) IN (SELECT * FROM unnest($1::text[], $2::int[])) ORDER BY created_at DESC, id DESC`,
    [named.map(({ request_id }) => request_id), named.map(({ unit }) => unit)],
  );
  return rows;
}
