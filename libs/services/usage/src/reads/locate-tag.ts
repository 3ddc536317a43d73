import { tagNumberSql } from '../posting/slot-tags.js';
import { SLOT_MS } from '../posting/sums.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { Located } from './events-sql.js';
import type { Listed, Tag } from './row-filter.js';
import { Values } from './values.js';

/**
 * Asks which quarters of an hour have events of the filter's tag; null without a tag, while none is noted, and for
 * one that is in most of them: such events are read as all others.
 */
export async function locateTag({ pool }: UsageDatabase, listed: Listed): Promise<Located | null> {
  const { tag, conditions, times } = listed;
  const account = conditions.find(({ column }) => column === 'account_id');
  if (tag === null || account === undefined) return null;
  const values = new Values();
  const number = tagNumberSql(`${values.add(textOf(tag))}::text`);
  const within = [
    `account_id = ANY(${values.add(account.anyOf)}::text[])`,
    'slot >= tags_from',
    'slot < tags_to',
  ];
  if (times.from) within.push(`slot > ${values.add(new Date(times.from.getTime() - SLOT_MS))}::timestamptz`);
  if (times.before) within.push(`slot < ${values.add(times.before)}::timestamptz`);
  const { rows } = await pool.query<{ slots: Date[] | null; all: string; from: Date; to: Date }>(
    `SELECT tags_from AS "from", tags_to AS "to", count(slot) AS "all",
       array_agg(slot) FILTER (WHERE tags IS NULL OR tags @> ARRAY[${number}]) AS slots
     FROM spend_window LEFT JOIN usage_tag ON ${within.join(' AND ')} GROUP BY tags_from, tags_to`,
    values.list,
  );
  const [{ slots, all, from, to }] = rows;
  const found = slots ?? [];
  return from >= to || found.length * 2 > Number(all) ? null : { slots: found, from, to };
}

function textOf({ name, value }: Tag): string {
  return value === null ? name : `${name}=${value}`;
}
