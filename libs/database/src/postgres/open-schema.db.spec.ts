import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { fixedClock, testPostgres, type TestDatabase } from '@gateway/testing';
import { openSchema } from './open-schema.js';

describe('openSchema', () => {
  let database: TestDatabase;
  let schemaDir: string;
  beforeEach(async () => {
    database = await testPostgres();
    schemaDir = mkdtempSync(join(tmpdir(), 'open-schema-'));
    mkdirSync(join(schemaDir, 'migrations', '20260101000000_first'), { recursive: true });
    writeFileSync(
      join(schemaDir, 'migrations', '20260101000000_first', 'migration.sql'),
      'CREATE TABLE a (n int)',
    );
  });
  afterEach(async () => {
    await database.drop();
    rmSync(schemaDir, { recursive: true });
  });

  it('reports what a start waits for at once and every 10 s, until another process has migrated', async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('SELECT pg_advisory_lock(hashtext($1))', ['migrate keys']);
    const clock = fixedClock('2026-01-01T00:00:00Z');
    const lines: string[] = [];
    const opened = openSchema({
      ...{ url: database.url, schemaDir, schema: 'keys', migrates: true, clock },
      report: (line) => lines.push(line),
    });
    const migrating = (seconds: number): string =>
      `waiting for PostgreSQL to migrate schema "keys", for ${seconds} s`;
    expect(lines).toEqual([migrating(0)]);
    await clock.advance(9_999);
    expect(lines).toEqual([migrating(0)]);
    await clock.advance(10_001);
    expect(lines).toEqual([migrating(0), migrating(10), migrating(20)]);
    await other.end();
    await opened;
    expect(lines.slice(3)).toEqual(['waiting for PostgreSQL to check schema "keys", for 0 s']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('refuses a schema that was not migrated, and reports nothing more', async () => {
    const clock = fixedClock('2026-01-01T00:00:00Z');
    const options = { url: database.url, schemaDir, schema: 'keys', migrates: false, clock };
    await expect(openSchema({ ...options, report: () => undefined })).rejects.toThrow(
      'run the migrate job first',
    );
    expect(clock.pendingTimers).toBe(0);
  });
});
