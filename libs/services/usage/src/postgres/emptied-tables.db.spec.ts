import pg from 'pg';
import { eventually, testDatabase, type TestDatabase } from '@gateway/testing';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { emptyTables } from './emptied-tables.fixture.js';

let place: TestDatabase;
let app: UsageApp;
beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
});
afterAll(async () => {
  await app.close();
  await place.drop();
});

/** Returns a connection beside the pool, which statements that wait for locks can use up. */
async function connection(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: place.url, options: '-c search_path=usage' });
  await client.connect();
  return client;
}

it('empties tables that a transaction locks in the other order, whichever of the two PostgreSQL ends', async () => {
  const [other, watcher] = await Promise.all([connection(), connection()]);
  try {
    await other.query('BEGIN; LOCK TABLE producer');
    const emptied = emptyTables(app.database.pool, 'usage_event, producer');
    await eventually(async () => {
      const { rows } = await watcher.query(
        `SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'
         AND relation = 'producer'::regclass
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rows.length === 1;
    });
    await other
      .query('LOCK TABLE usage_event')
      .catch(({ code }: { code: string }) => expect(code).toBe('40P01'));
    await other.query('ROLLBACK');
    await emptied;
  } finally {
    await Promise.all([other.end(), watcher.end()]);
  }
});
