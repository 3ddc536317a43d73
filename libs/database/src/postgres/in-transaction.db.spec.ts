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

it('runs work that may be repeated again where it was chosen to end a deadlock, and no other', async () => {
  await pool.query(
    'CREATE TABLE worked.locked (id int PRIMARY KEY); INSERT INTO worked.locked VALUES (1), (2)',
  );
  const deadlock = (
    mayRepeat: boolean,
  ): { runs: number[]; ended: Promise<PromiseSettledResult<string>[]> } => {
    const runs: number[] = [];
    let meet = (): void => undefined;
    const both = new Promise<void>((resolve) => (meet = resolve));
    const lockBoth = (first: number, second: number): Promise<string> =>
      inTransaction(
        pool,
        async (client) => {
          await client.query('SELECT 1 FROM locked WHERE id = $1 FOR UPDATE', [first]);
          runs.push(first);
          if (runs.length >= 2) meet();
          await both;
          await client.query('SELECT 1 FROM locked WHERE id = $1 FOR UPDATE', [second]);
          return 'done';
        },
        { mayRepeat },
      );
    return { runs, ended: Promise.allSettled([lockBoth(1, 2), lockBoth(2, 1)]) };
  };
  const repeated = deadlock(true);
  expect(await repeated.ended).toEqual(Array(2).fill({ status: 'fulfilled', value: 'done' }));
  expect(repeated.runs.length).toBeGreaterThanOrEqual(3);
  const once = await deadlock(false).ended;
  expect(once.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: '40P01' } });
});

it('repeats work at most three times', async () => {
  const conflicts = async (times: number): Promise<number> => {
    let runs = 0;
    await inTransaction(
      pool,
      async (client) => {
        runs += 1;
        if (runs <= times)
          await client.query("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$");
      },
      { mayRepeat: true },
    );
    return runs;
  };
  expect(await conflicts(3)).toBe(4);
  await expect(conflicts(4)).rejects.toMatchObject({ code: '40P01' });
});
