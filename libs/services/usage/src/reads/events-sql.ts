import type { Tag } from './row-filter.js';
import type { Values } from './values.js';

/** The place of a tag's events: in these quarters of an hour, or outside of what is noted. */
export interface Located {
  slots: Date[];
  from: Date;
  to: Date;
}

/** SQL after FROM: the events that match, sought where they are located. */
export function eventsSql(matching: readonly string[], located: Located | null, values: Values): string {
  const where = (...more: string[]): string => `usage_event WHERE ${[...matching, ...more].join(' AND ')}`;
  if (located === null) return where();
  const { slots, from, to } = located;
  // OFFSET 0 keeps the planner from reading all events first and comparing each with the slots.
  return `(
    SELECT event.* FROM unnest(${values.add(slots)}::timestamptz[]) AS located(slot) CROSS JOIN LATERAL (
      SELECT * FROM ${where('created_at >= slot', `created_at < slot + interval '15 minutes'`)} OFFSET 0) AS event
    UNION ALL SELECT * FROM ${where(`created_at < ${values.add(from)}::timestamptz`)}
    UNION ALL SELECT * FROM ${where(`created_at >= ${values.add(to)}::timestamptz`)}
  ) AS usage_event`;
}

export function tagSql({ name, value }: Tag, values: Values): string {
  const tag = `request_tags ->> ${values.add(name)}::text`;
  return value === null ? `${tag} IS NOT NULL` : `${tag} = ${values.add(value)}::text`;
}
