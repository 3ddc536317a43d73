import { testPostgres, type TestDatabase } from '@gateway/testing';
import type pg from 'pg';
import { postgresPool } from './postgres-pool.js';
import { prismaAdapterOver } from './prisma-adapter.js';

describe('the adapter of Prisma', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let adapter: Awaited<ReturnType<ReturnType<typeof prismaAdapterOver>['connect']>>;

  beforeEach(async () => {
    database = await testPostgres();
    pool = postgresPool({
      url: database.url,
      schema: 'public',
      maxConnections: 1,
      statementTimeoutMs: 5_000,
    });
    adapter = await prismaAdapterOver(pool, 'public').connect();
  });
  afterEach(async () => {
    await adapter.dispose();
    await database.drop();
  });

  async function ask(sql: string, value: number): Promise<unknown[][]> {
    const { rows } = await adapter.queryRaw({
      sql,
      args: [value],
      argTypes: [{ scalarType: 'int', arity: 'scalar' }],
    });
    return rows;
  }
  async function prepared(): Promise<string[]> {
    const { rows } = await pool.query<{ statement: string }>('SELECT statement FROM pg_prepared_statements');
    return rows.map(({ statement }) => statement);
  }

  it('plans a statement once for a connection, whatever its values', async () => {
    expect(await ask('SELECT $1::int + 1 AS n', 1)).toEqual([[2]]);
    expect(await ask('SELECT $1::int + 1 AS n', 41)).toEqual([[42]]);
    expect(await ask('SELECT $1::int + 2 AS n', 1)).toEqual([[3]]);
    expect((await prepared()).toSorted()).toEqual(['SELECT $1::int + 1 AS n', 'SELECT $1::int + 2 AS n']);
  });

  it('keeps 500 at most: those after them are answered, too', async () => {
    for (let n = 0; n < 502; n += 1) expect(await ask(`SELECT $1::int + ${n} AS n`, 1)).toEqual([[n + 1]]);
    expect(await prepared()).toHaveLength(500);
  });
});
