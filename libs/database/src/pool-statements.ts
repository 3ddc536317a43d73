import type pg from 'pg';
import type { SqlStatements } from './idempotency-table.js';

/** Statements of a pool, or of one of its connections, as a Prisma client has them. */
export function poolStatements(pool: Pick<pg.ClientBase, 'query'>): SqlStatements {
  const run = ([first, ...rest]: TemplateStringsArray, values: unknown[]) =>
    pool.query(
      rest.reduce((text, part, at) => `${text}$${at + 1}${part}`, first),
      values,
    );
  return {
    $executeRaw: async (query, ...values) => (await run(query, values)).rowCount ?? 0,
    $queryRaw: async <T>(query: TemplateStringsArray, ...values: unknown[]) =>
      (await run(query, values)).rows as T,
  };
}
