import { applyMigrations, postgresPool } from '@gateway/database';
import { testDatabase, type TestDatabase } from '@gateway/testing';
import type pg from 'pg';
import { SCHEMA, SCHEMA_DIR } from '../postgres/keys-database.js';
import { findKeyByHmac, findKeyById, findKeyOf, findKeysByHmac } from './principal.store.js';

/** PostgreSQL takes the prepared plan from the sixth run on, where it does not think a new one better. */
const RUNS = 8;

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  // One connection, because plans belong to it.
  pool = postgresPool({ url: database.url, schema: SCHEMA, maxConnections: 1, statementTimeoutMs: 5_000 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

describe('looking a key up', () => {
  it.each([
    ['keys-by-hmac', (n: number) => findKeysByHmac(pool, [[`new${n}`, `old${n}`]], new Date())],
    ['key-by-hmac', (n: number) => findKeyByHmac(pool, [`new${n}`, `old${n}`], new Date())],
    ['key-by-id', (n: number) => findKeyById(pool, 'acct_1', `key_${n}`)],
    ['key-of', (n: number) => findKeyOf(pool, ['acct_1'], `key_${n}`)],
  ])('%s is planned once a connection, so that unknown keys cost no planning', async (name, look) => {
    for (let run = 0; run < RUNS; run += 1) await look(run);
    const { rows } = await pool.query<{ generic_plans: string }>(
      'SELECT generic_plans FROM pg_prepared_statements WHERE name = $1',
      [name],
    );
    expect(Number(rows[0]?.generic_plans)).toBeGreaterThan(0);
  });
});
