import { SystemClock } from '@gateway/platform';
import { testDatabase } from '@gateway/testing';
import pg from 'pg';
import { MIGRATED, startUsageApp } from '../usage.fixture.js';

const HOUR_MS = 3_600_000;

export const place = await testDatabase(MIGRATED);
export const pool = new pg.Pool({ connectionString: place.url, options: '-c search_path=usage' });
// The server may end what pg has not closed yet, when the database is dropped.
pool.on('error', () => undefined);
const nowMs = new SystemClock().now();
const made = (hours: number): Date => new Date(nowMs - hours * HOUR_MS);
await pool.query(
  `INSERT INTO idempotency (scope, key, body_digest, created_at) VALUES ('s', 'old', 'd', $1), ('s', 'new', 'd', $2)`,
  [made(25), made(23)],
);
/** The service that the parts of rounds.db.spec.ts share: it finds one old and one new answer of a create. */
export const app = await startUsageApp(place.url);
afterAll(async () => {
  await app.close();
  await pool.end();
  await place.drop();
});
