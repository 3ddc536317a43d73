import type { UsageDatabase } from '../postgres/usage-database.js';
import { rowsAfter, type EventName, type PageQuery } from './find-page.js';
import { locateTag } from './locate-tag.js';
import type { Tag } from './row-filter.js';
import { eventsSql, tagSql } from './events-sql.js';
import { Values } from './values.js';

/** Events among which a page is looked for in their order. */
const NEWEST = 10_000;

/**
 * Names of a page of events that carry a tag, newest first. No index knows tags, because each event that comes in would pay
 * for it. What many events carry is among the newest ones. What few carry is sought in the quarters of an hour that have
 * it. PostgreSQL would take the order of events for the limit's sake: page by page of the disk, a row at a time.
 */
export async function findTagged(database: UsageDatabase, query: PageQuery, tag: Tag): Promise<EventName[]> {
  const { offset, limit } = query;
  const page = async (source: (values: Values) => string, order: string): Promise<EventName[]> => {
    const values = new Values();
    const { rows } = await database.pool.query<EventName>(
      `SELECT request_id, unit FROM ${source(values)} ORDER BY ${order} LIMIT ${values.add(limit)} OFFSET ${values.add(offset)}`,
      values.list,
    );
    return rows;
  };
  const newest = await page(
    (values) =>
      `(SELECT request_id, unit, id, created_at, request_tags FROM usage_event WHERE ${rowsAfter(query, values).join(' AND ')}
         ORDER BY created_at DESC, id DESC LIMIT ${NEWEST}) AS newest
       WHERE ${tagSql(tag, values)}`,
    'created_at DESC, id DESC',
  );
  if (newest.length === limit) return newest;
  const located = await locateTag(database, { ...query, tag });
  return page(
    (values) => eventsSql([...rowsAfter(query, values), tagSql(tag, values)], located, values),
    `created_at + interval '0' DESC, id DESC`,
  );
}
