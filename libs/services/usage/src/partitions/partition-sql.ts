import type pg from 'pg';

/** Partition that holds ids of no month that is there: of clocks that are far ahead. */
export const DEFAULT_PARTITION = 'usage_event_default';
/** Longest wait for a table in use: whoever comes meanwhile waits behind it. */
export const LOCK_MS = 800;
const LOCK = 'partitions of usage_event';

/** True if events are in partitions. */
export async function isPartitioned(database: Pick<pg.ClientBase, 'query'>): Promise<boolean> {
  const { rowCount } = await database.query(
    `SELECT FROM pg_class WHERE oid = to_regclass('usage_event') AND relkind = 'p'`,
  );
  return rowCount === 1;
}

/** SQL by which of several processes one at a time works on partitions, until its transaction ends. */
export const TAKE_TURN = `SELECT pg_advisory_xact_lock(hashtext('${LOCK}'))`;

/**
 * SQL of an empty table like usage_event, not yet a partition. It gets what a partition does not take from its parent: unique
 * indexes without request_id, which keep events apart within it, and which columns PostgreSQL keeps no statistics of.
 */
export async function newTableSql(name: string, database: Pick<pg.ClientBase, 'query'>): Promise<string[]> {
  const { rows } = await database.query<{ column: string; target: number }>(
    `SELECT DISTINCT attname AS column, attstattarget::int AS target FROM pg_attribute
     WHERE attrelid IN (SELECT 'usage_event'::regclass UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = 'usage_event'::regclass)
       AND attnum > 0 AND NOT attisdropped AND attstattarget >= 0 ORDER BY 1`,
  );
  const statistics = rows.map(({ column, target }) => `ALTER COLUMN "${column}" SET STATISTICS ${target}`);
  return [
    `CREATE TABLE "${name}" (LIKE usage_event INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)`,
    `CREATE UNIQUE INDEX ON "${name}" (id)`,
    `CREATE UNIQUE INDEX ON "${name}" (producer, epoch, seq)`,
    ...(statistics.length === 0 ? [] : [`ALTER TABLE "${name}" ${statistics.join(', ')}`]),
  ];
}

/** SQL literal of a text. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
