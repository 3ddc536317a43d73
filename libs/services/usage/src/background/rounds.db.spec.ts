import { eventually, testDatabase, type TestDatabase } from '@gateway/testing';
import pg from 'pg';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';

const HOUR_MS = 3_600_000;

let place: TestDatabase;
let pool: pg.Pool;
let app: UsageApp;

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  pool = new pg.Pool({ connectionString: place.url, options: '-c search_path=usage' });
  // The server may end what pg has not closed yet, when the database is dropped.
  pool.on('error', () => undefined);
  const made = (hours: number): Date => new Date(Date.now() - hours * HOUR_MS);
  await pool.query(
    `INSERT INTO idempotency (scope, key, body_digest, created_at) VALUES ('s', 'old', 'd', $1), ('s', 'new', 'd', $2)`,
    [made(25), made(23)],
  );
  app = await startUsageApp(place.url);
}, 600_000);
afterAll(async () => {
  await app.close();
  await pool.end();
  await place.drop();
});

it('forgets answers of creates a day after they were given, and none before', async () => {
  const kept = async (): Promise<string[]> =>
    (await pool.query<{ key: string }>('SELECT key FROM idempotency')).rows.map(({ key }) => key);
  await eventually(async () => !(await kept()).includes('old'));
  expect(await kept()).toEqual(['new']);
});
