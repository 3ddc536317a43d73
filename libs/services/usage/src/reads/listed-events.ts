import type { UsageDatabase } from '../postgres/usage-database.js';
import { EVENT_SQL, type EventColumns } from './event-wire.js';
import { rowsAfter, type PageQuery } from './find-page.js';
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

/** Returns events in their order. One that stood for a died process may have gone since its id was read. */
export async function eventsNamed({ pool }: UsageDatabase, ids: readonly string[]): Promise<EventColumns[]> {
  const { rows } = await pool.query<EventColumns>(
    `SELECT ${EVENT_SQL} FROM usage_event WHERE id = ANY($1::text[]) ORDER BY created_at DESC, id DESC`,
    [ids],
  );
  return rows;
}
