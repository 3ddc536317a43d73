import { FixedClock, seededRandom, testPostgres, type TestDatabase } from '@gateway/testing';
import type pg from 'pg';
import { WorkersDatabase } from '../postgres/workers-database.js';
import { MIGRATED } from '../workers.fixture.js';
import { BatchStore } from './batches.store.js';

const START = '2026-11-24T10:00:00Z';
const ROWS = 20_000;

describe('the provider’s batches that no other batch of ours is', () => {
  let test: TestDatabase;
  let database: WorkersDatabase;
  const storeOn = (on: WorkersDatabase): BatchStore =>
    new BatchStore(on, new FixedClock(START), seededRandom(1));

  /** A tenth of them were at their provider: of these half are there, half have ended. */
  beforeAll(async () => {
    test = await testPostgres();
    await MIGRATED.migrate(test.url);
    database = new WorkersDatabase({ url: test.url, maxConnections: 1, onIdleError: () => undefined });
    await database.pool.query(
      `INSERT INTO batches (id, key_id, account_id, request_id, endpoint, model, provider, input_file_id, status,
         created_at, expires_at, upstream)
       SELECT 'b-' || n, 'key', 'acct', 'req-' || n, '/v1/messages', 'm', 'p', 'f', 'completed', $1, $1,
         CASE n % 20 WHEN 0 THEN json_build_object('kind', 'at', 'state', json_build_object('id', 'up-' || n))
           WHEN 1 THEN json_build_object('kind', 'ended', 'id', 'up-' || n) END
       FROM generate_series(1, ${ROWS}) n`,
      [START],
    );
    await database.pool.query('ANALYZE batches');
  });
  afterAll(async () => {
    await database.onApplicationShutdown();
    await test.drop();
  });

  it('BAT-04 are those whose id neither an open nor an ended one has', async () => {
    const ids = ['up-20', 'up-x', 'up-21', 'up-40', 'up-22'];
    expect(await storeOn(database).unclaimed('b-40', ids)).toEqual(['up-x', 'up-40', 'up-22']);
  });

  it('are found by an index, not by reading every batch', async () => {
    const plan: string[] = [];
    const query = async (text: string, values: unknown[]): Promise<pg.QueryResult> => {
      const found = await database.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
      plan.push(...found.rows.map((row) => row['QUERY PLAN']));
      return { ...found, rows: [] };
    };
    const ids = Array.from({ length: 20 }, (_, n) => `up-${n}`);
    await storeOn({ pool: { query } } as unknown as WorkersDatabase).unclaimed('b-1', ids);
    expect(plan.join('\n')).toContain('batches_upstream_id');
    expect(plan.join('\n')).not.toContain('Seq Scan on batches');
  });
});
