import { testPostgres, type TestDatabase } from '@gateway/testing';
import type pg from 'pg';
import { inTransaction } from './in-transaction.js';
import { postgresPool } from './postgres-pool.js';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await testPostgres();
  const { url } = database;
  pool = postgresPool({ url, schema: 'worked', maxConnections: 2, statementTimeoutMs: 5_000 });
  await pool.query('CREATE SCHEMA worked; CREATE TABLE worked.kept (id int)');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const kept = async (): Promise<unknown[]> => (await pool.query('SELECT id FROM kept ORDER BY id')).rows;

it('keeps all of the work, or none of it where it fails, and throws what it threw', async () => {
  expect(
    await inTransaction(pool, async (client) => client.query('INSERT INTO kept VALUES (1)')),
  ).toBeDefined();
  const failure = new Error('no');
  const failing = inTransaction(pool, async (client) => {
    await client.query('INSERT INTO kept VALUES (2)');
    throw failure;
  });
  await expect(failing).rejects.toBe(failure);
  expect(await kept()).toEqual([{ id: 1 }]);
});

it('throws what the work threw where the connection is lost, and gives the connection back to nobody', async () => {
  const failure = new Error('found out later');
  const lost = inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    await pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await ended;
    throw failure;
  });
  await expect(lost).rejects.toBe(failure);
  expect(await Promise.all([kept(), kept()])).toEqual([[{ id: 1 }], [{ id: 1 }]]);
});
