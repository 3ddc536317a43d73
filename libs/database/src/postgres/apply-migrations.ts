import pg from 'pg';
import { connectClient } from './connect-client.js';
import { readMigrations, type MigrationFile } from './migration-files.js';
import {
  appliedMigrations,
  compareHistory,
  createHistory,
  quoted,
  recordMigration,
} from './migration-history.js';
import { searchPath } from './search-path.js';

export interface MigrateOptions {
  /** postgresql://… of an account that may create the schema. */
  url: string;
  /** Folder with schema.prisma and migrations/. */
  schemaDir: string;
  /** The service's PostgreSQL schema; created when absent. */
  schema: string;
  /** Time to wait for another process that migrates, and for a table that is in use. Default 60 s. */
  lockTimeoutMs?: number;
}

const LOCK_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Time after which PostgreSQL stops the script of a process that was killed. */
const DEAD_CLIENT_MS = 1_000;

/**
 * Applies the migrations that the database lacks, in order, each in one transaction with its row of the history. Safe
 * to run in several processes at once, and again after a kill at any point.
 * @returns the names of those applied.
 * @throws Error with one sentence: what PostgreSQL said of which migration, or that the histories differ.
 */
export async function applyMigrations(options: MigrateOptions): Promise<string[]> {
  const { schema, schemaDir, lockTimeoutMs = LOCK_TIMEOUT_MS } = options;
  const files = readMigrations(schemaDir);
  // One connection for the lock and for the scripts: while the server still runs a dead process's script, the lock holds.
  const client = new pg.Client({
    connectionString: options.url,
    options: `${searchPath(schema)} -c client_connection_check_interval=${DEAD_CLIENT_MS}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: lockTimeoutMs,
    keepAlive: true,
  });
  client.on('error', () => undefined); // The query under way rejects.
  await connectClient(client);
  try {
    await lock(client, schema);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`);
    const { missing, unknown, edited } = compareHistory(files, await appliedMigrations(client, schema));
    if (unknown.length > 0)
      throw new Error(`Schema "${schema}" is newer than this release: it has ${unknown[0]}.`);
    if (edited.length > 0)
      throw new Error(`Migration ${edited[0]} was changed after schema "${schema}" had it.`);
    if (missing.length > 0) await createHistory(client, schema);
    for (const file of files.filter(({ name }) => missing.includes(name))) await apply(client, schema, file);
    return missing;
  } finally {
    await client.end();
  }
}

/** Takes the lock, which lasts until the connection ends. */
async function lock(client: pg.Client, schema: string): Promise<void> {
  try {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [`migrate ${schema}`]);
  } catch (cause) {
    throw new Error(`Another process migrates schema "${schema}" and has not ended: ${textOf(cause)}`, {
      cause,
    });
  }
}

/** The script is one query, which PostgreSQL splits itself: texts and function bodies may hold semicolons. */
async function apply(client: pg.Client, schema: string, file: MigrationFile): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(file.sql);
    await recordMigration(client, schema, file);
    await client.query('COMMIT');
  } catch (cause) {
    const said = cause instanceof pg.DatabaseError ? faultOf(cause, file.sql) : textOf(cause);
    throw new Error(`Migration ${file.name} of schema "${schema}" failed: ${said}`, { cause });
  }
}

function faultOf({ message, code, position }: pg.DatabaseError, script: string): string {
  return `${message} (${code ?? 'no code'}${lineOf(script, position)})`;
}

function lineOf(script: string, position: string | undefined): string {
  if (position === undefined) return '';
  const line = script.slice(0, Number(position)).split('\n').length;
  return `, line ${line}: ${script.split('\n')[line - 1]?.trim() ?? ''}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
