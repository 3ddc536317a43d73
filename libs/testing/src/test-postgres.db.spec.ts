import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from './eventually.js';
import type { TestDatabase } from './test-postgres.js';
import { ownPostgres, testDatabase, testPostgres } from './test-postgres.js';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('testPostgres', () => {
  const open: TestDatabase[] = [];
  afterAll(() => Promise.all(open.map((database) => database.drop())));

  it('gives two callers two empty databases of one PostgreSQL 18', async () => {
    const [first, second] = [await testPostgres(), await testPostgres()];
    open.push(first, second);
    await query(first.url, 'CREATE TABLE mine (n int)');
    expect(await query(first.url, 'SELECT * FROM mine')).toEqual([]);
    await expect(query(second.url, 'SELECT * FROM mine')).rejects.toThrow('does not exist');
    expect(await query(second.url, 'SHOW server_version')).toEqual([
      { server_version: expect.stringMatching(/^18/) },
    ]);
  });

  it('removes a database also while a connection is open', async () => {
    const database = await testPostgres();
    const client = new pg.Client({ connectionString: database.url });
    client.on('error', () => undefined); // The drop ends it, as it should.
    await client.connect();
    await database.drop();
    await expect(query(database.url, 'SELECT 1')).rejects.toThrow('does not exist');
  });
});

describe('testDatabase', () => {
  it('migrates once and copies the result for each caller, also at the same time', async () => {
    const schemaDir = mkdtempSync(join(tmpdir(), 'gw-schema-'));
    for (const [name, sql] of [
      ['20260101_first', "CREATE TABLE plan (id int, text text DEFAULT 'a;b');"],
      ['20260102_second', 'ALTER TABLE plan ADD COLUMN n int; INSERT INTO plan (id) VALUES (1);'],
    ]) {
      mkdirSync(join(schemaDir, 'migrations', name), { recursive: true });
      writeFileSync(join(schemaDir, 'migrations', name, 'migration.sql'), sql);
    }
    const databases = await Promise.all(Array.from({ length: 4 }, () => testDatabase({ schemaDir })));
    await query(databases[0].url, 'DELETE FROM plan');
    for (const [index, database] of databases.entries()) {
      const rows = await query(database.url, 'SELECT text, n FROM plan');
      expect(rows).toEqual(index === 0 ? [] : [{ text: 'a;b', n: null }]);
    }
    await Promise.all(databases.map((database) => database.drop()));
    rmSync(schemaDir, { recursive: true });
  });
});

describe('ownPostgres', () => {
  it('comes back at the same address after kill -9', async () => {
    const server = await ownPostgres();
    await query(server.address, 'CREATE TABLE kept (n int)');
    server.kill();
    await eventually(() =>
      query(server.address, 'SELECT 1').then(
        () => false,
        () => true,
      ),
    );
    await server.restart();
    expect(await query(server.address, 'SELECT * FROM kept')).toEqual([]);
    await server.drop();
  });
});
