import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readMigrations } from '@gateway/database';
import { lintMigration } from './migration-lint.js';

/** The last script that was applied before scripts were judged: their texts cannot change any more. */
const LAST_FREE = '20261127200000_video_begins';

const judged = (sql: string): Promise<string[]> => lintMigration(`-- compatible-with: 0.2.0\n${sql}`);

describe('the migrations of the services', () => {
  const services = join(process.cwd(), 'libs', 'services');
  const files = readdirSync(services)
    .map((service) => join(services, service, 'prisma'))
    .filter((folder) => existsSync(folder))
    .flatMap(readMigrations);

  it('leave the way back and hold no table for long', async () => {
    expect(files.length).toBeGreaterThanOrEqual(49);
    for (const { name, sql } of files.filter(({ name }) => name > LAST_FREE))
      expect([name, await lintMigration(sql)]).toEqual([name, []]);
  });

  it('were not all so: a sum of history and a plain index of the old ones are found', async () => {
    const old = async (name: string) =>
      (await lintMigration(files.find((file) => file.name.endsWith(name))?.sql ?? '')).join('\n');
    expect(await old('_usage_slots')).toContain('InsertStmt reads or changes rows');
    expect(await old('_conversation_sizes')).toContain('UpdateStmt reads or changes rows');
  });
});

describe('lintMigration', () => {
  it.each([
    'CREATE TABLE a (n int NOT NULL); CREATE INDEX i ON a (n); ALTER TABLE a ADD CONSTRAINT c CHECK (n > 0);',
    'ALTER TABLE a ADD COLUMN b text, ALTER COLUMN c DROP NOT NULL, ALTER COLUMN d SET DEFAULT 1;',
    'ALTER TABLE a ADD COLUMN b boolean NOT NULL DEFAULT false, ADD COLUMN c timestamptz NOT NULL DEFAULT now(), ADD COLUMN d text[] DEFAULT ARRAY[]::text[];',
    'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON a (b);',
    'ALTER TABLE a ADD CONSTRAINT c CHECK (n > 0) NOT VALID;',
    'ALTER TABLE a VALIDATE CONSTRAINT c;',
    'ALTER TABLE a ADD CONSTRAINT c UNIQUE USING INDEX i;',
    "INSERT INTO a VALUES (1, 'x;y');",
    "CREATE TYPE kind AS ENUM ('a'); COMMENT ON TABLE a IS 'b';",
    '-- unused-since: 0.2.0\nALTER TABLE a DROP COLUMN b; DROP TABLE c;',
    '-- unused-since: 0.1.0\nDROP INDEX CONCURRENTLY IF EXISTS i;',
  ])('takes %s', async (sql) => {
    expect(await judged(sql)).toEqual([]);
  });

  it.each([
    ['DROP TABLE a;', 'DROP'],
    ['ALTER TABLE a DROP COLUMN b;', 'DROP'],
    ['ALTER TABLE a RENAME COLUMN b TO c;', 'RENAME'],
    ['ALTER TABLE a RENAME TO c;', 'RENAME'],
    ['ALTER TABLE a ADD COLUMN b int NOT NULL;', 'a.b: NOT NULL needs a DEFAULT'],
    ['ALTER TABLE a ALTER COLUMN b SET NOT NULL;', 'a.b: NOT NULL reads every row'],
    ['ALTER TABLE a ALTER COLUMN b TYPE text;', 'a.b: another type'],
    [
      'ALTER TABLE a ADD COLUMN b uuid DEFAULT gen_random_uuid();',
      'a.b: its DEFAULT is computed for each row',
    ],
    ['ALTER TABLE a ADD COLUMN b int GENERATED ALWAYS AS IDENTITY;', 'a.b: add its constraint by itself'],
    ['ALTER TABLE a ADD COLUMN b int REFERENCES c (n);', 'a.b: add its constraint by itself'],
    ['CREATE INDEX i ON a (b);', 'i: build an index with CREATE INDEX CONCURRENTLY IF NOT EXISTS'],
    ['CREATE INDEX CONCURRENTLY i ON a (b);', 'IF NOT EXISTS'],
    ['CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON a (b); CREATE TABLE c (n int);', 'a script of its own'],
    ['CREATE TABLE c (n int); CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON a (b);', 'a script of its own'],
    ['UPDATE a SET b = 1;', 'UpdateStmt'],
    ['DELETE FROM a;', 'DeleteStmt'],
    ['INSERT INTO a SELECT * FROM b;', 'InsertStmt'],
    ['WITH x AS (UPDATE a SET b = 1 RETURNING b) INSERT INTO c VALUES (1);', 'InsertStmt'],
    ['WITH x AS (UPDATE a SET b = 1 RETURNING b) SELECT 1;', 'SelectStmt'],
    ['CREATE TABLE a AS SELECT * FROM b;', 'CreateTableAsStmt'],
    ['DO $$ BEGIN UPDATE a SET b = 1; END $$;', 'DoStmt'],
    ['ALTER TABLE a ADD CONSTRAINT c CHECK (n > 0);', 'a.c: add a constraint with NOT VALID'],
    ['ALTER TABLE a SET LOGGED;', 'a: AT_SetLogged is not known'],
    ['TRUNCATE a;', 'TruncateStmt'],
    ['-- unused-since: 0.3.0\nDROP TABLE a;', 'Releases before 0.3.0 read what is dropped'],
    ['-- unused-since: 0.2.0\nDROP INDEX i;', 'DROP INDEX CONCURRENTLY'],
  ])('refuses %s', async (sql, fault) => {
    expect(await judged(sql)).toEqual([expect.stringContaining(fault)]);
  });

  it('refuses a script whose first line names no release', async () => {
    const fault = [expect.stringContaining('The first line has to be')];
    expect(await lintMigration('CREATE TABLE a (n int);')).toEqual(fault);
    expect(await lintMigration('\n-- compatible-with: 0.2.0\nCREATE TABLE a (n int);')).toEqual(fault);
    expect(await lintMigration('-- compatible-with: next\nCREATE TABLE a (n int);')).toEqual(fault);
  });
});
