import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';

/** A connection keeps the statements that have a name for its life, so their number is bounded. */
const STATEMENTS_MAX = 500;

/**
 * Returns the adapter for a generated Prisma client, over a pool that batch statements and the outbox relay use too.
 * `$disconnect` ends the pool.
 */
export function prismaAdapterOver(pool: pg.Pool, schema: string): PrismaPg {
  return new PrismaPg(pool, { schema, disposeExternalPool: true, statementNameGenerator: statementNames() });
}

/** Names by text: a connection plans a named statement once. Those past the bound have none and are planned each time. */
function statementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined || names.size >= STATEMENTS_MAX) return known ?? '';
    const name = `prisma-${names.size}`;
    names.set(sql, name);
    return name;
  };
}
