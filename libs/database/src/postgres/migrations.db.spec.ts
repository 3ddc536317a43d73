import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  eventually,
  startProgram,
  testDatabase,
  testPostgres,
  type Program,
  type TestDatabase,
} from '@gateway/testing';
import { applyMigrations } from './apply-migrations.js';
import { assertSchemaKnown } from './assert-schema-known.js';
import { postgresPool } from './postgres-pool.js';

const FIRST = `-- A text with a semicolon, a function body: both break where a script is split at semicolons.
CREATE TABLE plan (id int PRIMARY KEY, name text NOT NULL DEFAULT 'a;b');
CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN n := n * 2; RETURN n; END $$;
INSERT INTO plan (id) VALUES (1)`;

let database: TestDatabase;
let schemaDir: string;

beforeEach(async () => {
  database = await testPostgres();
  schemaDir = mkdtempSync(join(tmpdir(), 'migrations-'));
  write('20260101000000_first', FIRST);
});

afterEach(async () => {
  await database.drop();
  rmSync(schemaDir, { recursive: true });
});

function write(name: string, sql: string): void {
  mkdirSync(join(schemaDir, 'migrations', name), { recursive: true });
  writeFileSync(join(schemaDir, 'migrations', name, 'migration.sql'), sql);
}

function migrate(schema = 'keys'): Promise<string[]> {
  return applyMigrations({ url: database.url, schemaDir, schema });
}

/** The same in a process of its own, which is there once its output matches. */
function startMigrating(readyWhen: RegExp): Promise<Program> {
  const loader = join(process.cwd(), 'tools/infra/run-ts.mjs');
  const script = join(import.meta.dirname, 'migrate.fixture.ts');
  const args = ['--import', loader, script, database.url, schemaDir, 'keys'];
  return startProgram({ command: process.execPath, args, readyWhen });
}

async function query(sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('applyMigrations', () => {
  it('creates the schema, applies what is missing in order and nothing twice', async () => {
    expect(await migrate()).toEqual(['20260101000000_first']);
    write('20260102000000_second', 'ALTER TABLE plan ADD COLUMN n int;');
    expect(await migrate()).toEqual(['20260102000000_second']);
    expect(await migrate()).toEqual([]);
    expect(await query('SELECT *, keys.twice(id) AS twice FROM keys.plan')).toEqual([
      { id: 1, name: 'a;b', n: null, twice: 2 },
    ]);
  });

  it('keeps the schemas of two services in one database apart, also when both start at once, three times each', async () => {
    const applied = await Promise.all(['keys', 'usage', 'keys', 'usage', 'keys', 'usage'].map(migrate));
    expect(applied.flat()).toHaveLength(2);
    expect(await query('SELECT name FROM keys.plan UNION ALL SELECT name FROM usage.plan')).toHaveLength(2);
    const pool = postgresPool({
      url: database.url,
      schema: 'usage',
      maxConnections: 1,
      statementTimeoutMs: 1_000,
    });
    expect((await pool.query('SELECT current_schema() AS schema')).rows).toEqual([{ schema: 'usage' }]);
    await pool.end();
  });

  it('leaves nothing of a script that fails, says what PostgreSQL said, and goes on once it is mended', async () => {
    write('20260102000000_second', 'CREATE TABLE kept (n int);\nALTER TABLE missing ADD COLUMN n int;');
    await expect(migrate()).rejects.toThrow('relation "missing" does not exist (42P01');
    expect(await query("SELECT to_regclass('keys.kept') AS kept")).toEqual([{ kept: null }]);
    write('20260102000000_second', 'CREATE TABLE kept (n int);');
    expect(await migrate()).toEqual(['20260102000000_second']);
  });

  it('applies once where five processes start at the same moment, and all five go on', async () => {
    const second = 'CREATE TABLE tariff (n int); SELECT pg_sleep(0.2); INSERT INTO tariff VALUES (1);';
    write('20260102000000_second', second);
    const started = await Promise.all([1, 2, 3, 4, 5].map(() => startMigrating(/applied (\[.*\])/)));
    const applied = started.flatMap(({ ready }) => JSON.parse(ready[1]) as string[]);
    expect(applied).toEqual(['20260101000000_first', '20260102000000_second']);
    for (const process of started) process.endInput();
    expect(await Promise.all(started.map(({ ended }) => ended))).toEqual([0, 0, 0, 0, 0]);
    expect(await query('SELECT n FROM keys.tariff')).toEqual([{ n: 1 }]);
    await assertSchemaKnown({ url: database.url, schemaDir, schema: 'keys' });
  });

  it('leaves nothing of a migration whose process was killed, and the next process goes on', async () => {
    write('20260102000000_second', 'CREATE TABLE tariff (n int); SELECT pg_sleep(600);');
    const killed = await startMigrating(/migrating/);
    const asleep =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE 'CREATE TABLE tariff%'";
    await eventually(async () => (await query(asleep)).length === 1);
    await killed.kill();
    write('20260102000000_second', 'CREATE TABLE tariff (n int);');
    expect(await migrate()).toEqual(['20260102000000_second']);
    expect(await query('SELECT id FROM keys.plan')).toEqual([{ id: 1 }]);
    await assertSchemaKnown({ url: database.url, schemaDir, schema: 'keys' });
  });

  it('gives up in a sentence where another process holds the lock for too long', async () => {
    write('20260101000000_first', 'SELECT pg_sleep(600);');
    const busy = await startMigrating(/migrating/);
    const asleep =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep%'";
    await eventually(async () => (await query(asleep)).length === 1);
    const late = applyMigrations({ url: database.url, schemaDir, schema: 'keys', lockTimeoutMs: 50 });
    await expect(late).rejects.toThrow('Another process migrates schema "keys"');
    await busy.kill();
  });

  it('refuses a migration whose text was changed after it was applied', async () => {
    await migrate();
    write('20260101000000_first', `${FIRST};`);
    await expect(migrate()).rejects.toThrow('20260101000000_first was changed');
  });

  it('migrates a template once, of which each test file has a copy', async () => {
    const copies = await Promise.all(
      [1, 2].map(() =>
        testDatabase({
          schemaDir,
          migrate: (url) => applyMigrations({ url, schemaDir, schema: 'keys' }),
        }),
      ),
    );
    for (const copy of copies) {
      await assertSchemaKnown({ url: copy.url, schemaDir, schema: 'keys' });
      await copy.drop();
    }
  });

  it('builds an index beside writes in a script of its own, after dropping what a killed process left of it', async () => {
    await migrate();
    const index = 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS plan_name ON plan (name);';
    await query('INSERT INTO keys.plan (id) VALUES (2)');
    write('20260102000000_second', `-- compatible-with: 0.2.0\n${index}`);
    await expect(migrate()).rejects.toThrow('could not create unique index "plan_name"');
    const state = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('keys.plan_name')";
    expect(await query(state)).toEqual([{ indisvalid: false }]);
    await query('DELETE FROM keys.plan WHERE id = 2');
    expect(await migrate()).toEqual(['20260102000000_second']);
    expect(await query(state)).toEqual([{ indisvalid: true }]);
    expect(await migrate()).toEqual([]);
  });

  it('builds an index once where three start at once: none waits for the others in a way that the build waits for', async () => {
    await migrate();
    write('20260102000000_second', 'CREATE INDEX CONCURRENTLY IF NOT EXISTS plan_name ON plan (name);');
    const writer = new pg.Client({ connectionString: database.url });
    await writer.connect();
    await writer.query('BEGIN');
    await writer.query('INSERT INTO keys.plan (id) VALUES (2)');
    const active = (pattern: string, count: number): Promise<unknown> =>
      eventually(async () => {
        const sql = `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND query ~ '${pattern}'`;
        return (await query(sql)).length === count;
      });
    const first = migrate();
    await active('^CREATE INDEX CONCURRENTLY', 1);
    // The build waits for the writer; the others begin to wait for the build.
    const others = [migrate(), migrate()];
    await active('advisory_lock|pg_sleep', 2);
    await writer.query('COMMIT');
    await writer.end();
    expect(await Promise.all([first, ...others])).toEqual([['20260102000000_second'], [], []]);
  });

  it('builds and drops an index of a table in partitions, in each beside writes, also after a kill between two of them', async () => {
    await migrate();
    await query(`CREATE TABLE keys.part (id int, name text) PARTITION BY RANGE (id);
      CREATE TABLE keys.part_a PARTITION OF keys.part FOR VALUES FROM (0) TO (10);
      CREATE TABLE keys.part_b PARTITION OF keys.part DEFAULT; INSERT INTO keys.part VALUES (1, 'a'), (11, 'b'), (12, 'b')`);
    const index = 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS part_name ON part (name, id);';
    write('20260102000000_second', index.replace('name, id', 'id, (1 / (id - 11)), name'));
    await expect(migrate()).rejects.toThrow('division by zero');
    write('20260102000000_second', '-- compatible-with: 0.2.0\nDROP INDEX CONCURRENTLY IF EXISTS part_name;');
    expect(await migrate()).toEqual(['20260102000000_second']);
    write('20260103000000_third', index);
    expect(await migrate()).toEqual(['20260103000000_third']);
    const state = `SELECT c.relname, i.indisvalid, i.indisunique FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE c.relname LIKE 'part%name' ORDER BY 1`;
    expect(await query(state)).toEqual(
      ['part_a_part_name', 'part_b_part_name', 'part_name'].map((relname) => ({
        relname,
        ...{ indisvalid: true, indisunique: true },
      })),
    );
    write('20260104000000_fourth', 'DROP INDEX CONCURRENTLY IF EXISTS part_name;');
    await migrate();
    expect(await query(state)).toEqual([]);
  });

  it('leaves the unfinished indexes of others alone', async () => {
    await migrate();
    await query('INSERT INTO keys.plan (id) VALUES (2)');
    const others = 'CREATE UNIQUE INDEX CONCURRENTLY others ON keys.plan (name)';
    await expect(query(others)).rejects.toThrow('could not create unique index');
    write('20260102000000_second', 'CREATE INDEX CONCURRENTLY IF NOT EXISTS plan_name ON plan (name);');
    await migrate();
    expect(await query("SELECT to_regclass('keys.others')::text AS name")).toEqual([{ name: 'keys.others' }]);
  });

  it('lets go of a table that is in use after each try, and applies once it is free', async () => {
    await migrate();
    write('20260102000000_second', 'ALTER TABLE plan ADD COLUMN n int;');
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT * FROM keys.plan');
    const migrated = applyMigrations({ url: database.url, schemaDir, schema: 'keys', tableLockMs: 50 });
    const sleeping =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep($1)'";
    await eventually(async () => (await query(sleeping)).length === 1);
    await reader.query('COMMIT');
    await reader.end();
    expect(await migrated).toEqual(['20260102000000_second']);
  });
});

describe.each([
  ['assertSchemaKnown', assertSchemaKnown],
  ['applyMigrations', applyMigrations],
] as const)('%s of a release before the schema', (_, start) => {
  const begin = (release: string) => start({ url: database.url, schemaDir, schema: 'keys', release });
  const remove = (name: string) => rmSync(join(schemaDir, 'migrations', name), { recursive: true });

  it('starts where the migrations that it lacks are compatible with it', async () => {
    write('20260102000000_second', '-- compatible-with: 0.9.0\nALTER TABLE plan ADD COLUMN n int;');
    await migrate();
    remove('20260102000000_second');
    for (const release of ['0.9.0', '0.9.1', '0.10.0', '1.0.0']) await begin(release);
  });

  it('names the migration and the release that it needs where it is too old, in a sentence', async () => {
    write('20260102000000_second', '-- compatible-with: 0.10.0\nALTER TABLE plan DROP COLUMN name;');
    await migrate();
    remove('20260102000000_second');
    await expect(begin('0.9.0')).rejects.toThrow(
      'Schema "keys" has the migration 20260102000000_second, which this release (0.9.0) lacks, and it needs release 0.10.0 or newer: deploy the newer release.',
    );
  });

  it('refuses a migration that says nothing of older releases', async () => {
    write('20260102000000_second', 'SELECT 1;');
    await migrate();
    remove('20260102000000_second');
    await expect(begin('9.0.0')).rejects.toThrow('names no older release that runs with it');
  });

  it('refuses edited scripts, whatever they say', async () => {
    await migrate();
    write('20260101000000_first', `-- compatible-with: 0.1.0\n${FIRST}`);
    await expect(begin('9.0.0')).rejects.toThrow('20260101000000_first');
  });
});

describe('assertSchemaKnown', () => {
  const known = () => assertSchemaKnown({ url: database.url, schemaDir, schema: 'keys' });

  it('lets a service start on exactly its own migrations and says in a sentence what is missing', async () => {
    await expect(known()).rejects.toThrow('lacks 1 migrations from 20260101000000_first on');
    await migrate();
    await known();
    write('20260102000000_second', 'SELECT 1;');
    await expect(known()).rejects.toThrow('run the migrate job first');
  });
});
