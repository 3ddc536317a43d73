import type pg from 'pg';
import { quoted } from './migration-history.js';

/** One statement; `index` is one that it builds beside writes, which a killed process may have left unfinished. */
export interface IndexStatement {
  index: string | null;
  sql: string;
}

const HEAD =
  /\bcreate\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?"?\w+"?\s+on\s+"?(\w+)"?/i;
/** Length of PostgreSQL's names. */
const NAME_MAX = 63;

/**
 * Returns the statements that do the same to a table in partitions, of which PostgreSQL builds and drops no index beside writes:
 * each partition gets its own that way, and the parent's is made of them. Null for a table that is not in partitions.
 */
export async function indexOfPartitions(
  client: Pick<pg.Client, 'query'>,
  sql: string,
  index: string,
): Promise<IndexStatement[] | null> {
  const table = HEAD.exec(sql)?.[1];
  if (table === undefined) return dropOf(client, index);
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class p JOIN pg_inherits i ON i.inhparent = p.oid JOIN pg_class c ON c.oid = i.inhrelid
     WHERE p.oid = to_regclass($1) AND p.relkind = 'p' ORDER BY 1`,
    [quoted(table)],
  );
  if (rows.length === 0) return null;
  const created = (name: string, on: string, isBeside: boolean): string =>
    sql.replace(HEAD, (head) => {
      const kind = /\bunique\b/i.test(head) ? 'UNIQUE INDEX' : 'INDEX';
      return `CREATE ${kind} ${isBeside ? 'CONCURRENTLY ' : ''}IF NOT EXISTS ${quoted(name)} ON ${on}`;
    });
  const parts = rows.map(({ name }) => ({ table: name, index: `${name}_${index}`.slice(0, NAME_MAX) }));
  return [
    { index: null, sql: created(index, `ONLY ${quoted(table)}`, false) },
    ...parts.flatMap((part) => [
      { index: part.index, sql: created(part.index, quoted(part.table), true) },
      { index: null, sql: `ALTER INDEX ${quoted(index)} ATTACH PARTITION ${quoted(part.index)}` },
    ]),
  ];
}

/** A moment's lock: PostgreSQL drops no index of a table in partitions beside writes. */
async function dropOf(client: Pick<pg.Client, 'query'>, index: string): Promise<IndexStatement[] | null> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'I'`,
    [quoted(index)],
  );
  return rowCount === 0 ? null : [{ index: null, sql: `DROP INDEX IF EXISTS ${quoted(index)}` }];
}
