import pg from 'pg';
import { connectClient } from './connect-client.js';
import { concurrentIndex, readMigrations, type MigrationFile } from './migration-files.js';
import { indexOfPartitions } from './partitioned-index.js';
import {
  appliedMigrations,
  compareHistory,
  createHistory,
  quoted,
  recordMigration,
  unknownSentence,
} from './migration-history.js';
import { searchPath } from './search-path.js';

export interface MigrateOptions {
  /** postgresql://… of an account that may create the schema. */
  url: string;
  /** Folder with schema.prisma and migrations/. */
  schemaDir: string;
  /** The service's PostgreSQL schema; created when absent. */
  schema: string;
  /** Time to wait for another process that migrates. Default 60 s. */
  lockTimeoutMs?: number;
  /** Time to wait for a table that is in use, at each of 20 tries: whoever reads it meanwhile waits too. Default 3 s. */
  tableLockMs?: number;
  /** Version of this release. Without it every migration that it lacks is refused. */
  release?: string;
}

const LOCK_TIMEOUT_MS = 60_000;
/** Time between two looks for the lock. */
const LOOK_MS = 200;
const TABLE_LOCK_MS = 3_000;
const TABLE_LOCK_TRIES = 20;
/** Time between two tries: whoever waited behind the last one is served first. */
const BETWEEN_TRIES_S = 1;
const LOCK_NOT_AVAILABLE = '55P03';
const CONNECT_TIMEOUT_MS = 10_000;
/** Time after which PostgreSQL stops the script of a process that was killed. */
const DEAD_CLIENT_MS = 1_000;

/**
 * Applies the migrations that the database lacks, in order, each in one transaction with its row of the history. An
 * index that is built beside writes is a script of its own, outside a transaction. Safe to run in several processes at
 * once, and again after a kill at any point.
 * @returns the names of those applied.
 * @throws Error with one sentence: what PostgreSQL said of which migration, or that the histories differ.
 */
export async function applyMigrations(options: MigrateOptions): Promise<string[]> {
  const { schema, schemaDir, lockTimeoutMs = LOCK_TIMEOUT_MS, tableLockMs = TABLE_LOCK_MS } = options;
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
    await lock(client, schema, lockTimeoutMs);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`);
    const { missing, unknown, edited } = compareHistory(
      files,
      await appliedMigrations(client, schema),
      options.release,
    );
    if (unknown.length > 0) throw new Error(unknownSentence(schema, unknown[0], options.release));
    if (edited.length > 0)
      throw new Error(`Migration ${edited[0]} was changed after schema "${schema}" had it.`);
    if (missing.length > 0) await createHistory(client, schema);
    for (const file of files.filter(({ name }) => missing.includes(name))) {
      const index = concurrentIndex(file.sql);
      if (index === null) await apply(client, schema, file, tableLockMs);
      else await applyConcurrently(client, schema, file, index);
    }
    return missing;
  } finally {
    await client.end();
  }
}

/**
 * Takes the lock, which lasts until the connection ends. It is asked for again and again: a statement that waits for it
 * would hold a snapshot, which an index that is built beside writes waits for, and neither would end.
 */
async function lock(client: pg.Client, schema: string, waitMs: number): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const { rows } = await client.query<{ is_held: boolean }>(
      'SELECT pg_try_advisory_lock(hashtext($1)) AS is_held',
      [`migrate ${schema}`],
    );
    if (rows[0].is_held) return;
    if (waitedMs >= waitMs) throw new Error(`Another process migrates schema "${schema}" and has not ended.`);
    await client.query('SELECT pg_sleep($1)', [LOOK_MS / 1_000]);
  }
}

/** Applies a script in one transaction; where a table is in use, again and again. */
async function apply(
  client: pg.Client,
  schema: string,
  file: MigrationFile,
  tableLockMs: number,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = ${tableLockMs}`);
      // One query, which PostgreSQL splits itself: texts and function bodies may hold semicolons.
      await client.query(file.sql);
      await recordMigration(client, schema, file);
      await client.query('COMMIT');
      return;
    } catch (cause) {
      if (!isLocked(cause) || tries === TABLE_LOCK_TRIES) throw failed(schema, file, cause);
      await client.query('ROLLBACK');
      await client.query('SELECT pg_sleep($1)', [BETWEEN_TRIES_S]);
    }
  }
}

/**
 * Applies the one statement of a script outside a transaction. It takes no lock that readers or writers wait for, so it
 * may wait for theirs. Its index is dropped first where a killed process left it unfinished.
 */
async function applyConcurrently(
  client: pg.Client,
  schema: string,
  file: MigrationFile,
  index: string,
): Promise<void> {
  try {
    await client.query('SET lock_timeout = 0');
    const statements = (await indexOfPartitions(client, file.sql, index)) ?? [{ index, sql: file.sql }];
    for (const statement of statements) {
      if (statement.index !== null) await dropUnfinished(client, schema, statement.index);
      await client.query(statement.sql);
    }
    await recordMigration(client, schema, file);
  } catch (cause) {
    throw failed(schema, file, cause);
  }
}

/** Drops an index that a killed process left unfinished. */
async function dropUnfinished(client: pg.Client, schema: string, index: string): Promise<void> {
  const { rows } = await client.query(
    `SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = $2 AND NOT i.indisvalid`,
    [schema, index],
  );
  if (rows.length > 0) await client.query(`DROP INDEX CONCURRENTLY ${quoted(schema)}.${quoted(index)}`);
}

function isLocked(cause: unknown): boolean {
  return cause instanceof pg.DatabaseError && cause.code === LOCK_NOT_AVAILABLE;
}

function failed(schema: string, file: MigrationFile, cause: unknown): Error {
  const said = cause instanceof pg.DatabaseError ? faultOf(cause, file.sql) : textOf(cause);
  return new Error(`Migration ${file.name} of schema "${schema}" failed: ${said}`, { cause });
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
