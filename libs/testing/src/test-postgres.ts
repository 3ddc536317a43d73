import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { askGuard, textOf } from './guard-client.js';
import { keepDatabase } from './leftovers/keep.js';
import { ownServer } from './own-server.js';
import type { OwnServer } from './own-server.js';

export interface TestDatabase {
  /** postgresql://… of a superuser, without a schema parameter. */
  url: string;
  /** Ends all its connections and removes it. Call it in afterAll. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** The folder that holds migrations/<name>/migration.sql. */
  schemaDir: string;
  /** Migrates as the service does; default: the SQL files in the order of their folders' names, nothing else. */
  migrate?: (url: string) => Promise<unknown>;
}

/** A fresh, empty database on the PostgreSQL that this run shares. */
export async function testPostgres(): Promise<TestDatabase> {
  return createDatabase(await sharedUrl(), 'template0');
}

/** A PostgreSQL of the test's own, to kill, freeze and restart. `address` is the url of its database `postgres`. */
export function ownPostgres(): Promise<OwnServer> {
  return ownServer('postgres');
}

/** A fresh database with the migrations of one service, copied from a template that is migrated once per run. */
export async function testDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const server = await sharedUrl();
  return createDatabase(server, await migratedTemplate(server, options));
}

async function sharedUrl(): Promise<string> {
  return textOf(await askGuard('/shared', { kind: 'postgres' }), 'address');
}

async function createDatabase(server: string, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await withClient(server, (client) => client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`));
  const url = withName(server, name);
  return {
    url,
    drop: async () => {
      await keepDatabase(url);
      await withClient(server, (client) => client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`));
    },
  };
}

/** The name says what is in it, so a template that exists is right, also on a server that outlives the run. */
async function migratedTemplate(server: string, options: TestDatabaseOptions): Promise<string> {
  const scripts = migrationScripts(options.schemaDir);
  const digest = createHash('sha256').update(options.schemaDir).update(scripts.join('\0'));
  if (options.migrate) digest.update(options.migrate.toString());
  const template = `template_${digest.digest('hex').slice(0, 24)}`;
  const draft = `${template}_draft`;
  return withClient(server, async (client) => {
    // Held by this connection: of several workers one migrates and the others wait for it.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [template]);
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (found.rowCount !== 0) return template;

    await client.query(`DROP DATABASE IF EXISTS "${draft}" WITH (FORCE)`);
    await client.query(`CREATE DATABASE "${draft}" TEMPLATE template0`);
    const migrate = options.migrate ?? ((url) => runScripts(url, scripts));
    await migrate(withName(server, draft));
    await client.query(`ALTER DATABASE "${draft}" RENAME TO "${template}"`);
    return template;
  });
}

function migrationScripts(schemaDir: string): string[] {
  const folder = join(schemaDir, 'migrations');
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names
    .map((entry) => entry.name)
    .sort()
    .map((name) => readFileSync(join(folder, name, 'migration.sql'), 'utf8'));
}

async function runScripts(url: string, scripts: string[]): Promise<void> {
  await withClient(url, async (client) => {
    for (const script of scripts) await client.query(script);
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withName(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
