import { PrismaPg } from '@prisma/adapter-pg';
import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { readMigrations, type MigrationFile } from './migration-files.js';
import { appliedMigrations, compareHistory, hasHistory, historyTable, quoted } from './migration-history.js';
import { searchPath } from './postgres-pool.js';
import { NO_FILTER, withSchemaEngine } from './schema-engine.js';

export interface MigrateOptions {
  /** postgresql://… of an account that may create the schema. */
  url: string;
  /** Folder with schema.prisma and migrations/. */
  schemaDir: string;
  /** The service's PostgreSQL schema; created when absent. */
  schema: string;
  /** How long to wait for another process that migrates the same database. Default 60 s. */
  lockTimeoutMs?: number;
}

const LOCK_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** One lock for all schemas of a database: the engine takes one of its own there and waits for it 10 s only. */
const LOCK = 'gateway-migrate';
const COMMITTED = 'the script was committed';

/**
 * Applies the migrations that the database lacks, in order, each in one transaction. Safe to run in several processes
 * at once, and again after a kill at any point.
 * @returns the names of those applied.
 * @throws Error with one sentence: what PostgreSQL said of which migration, or that the histories differ.
 */
export async function applyMigrations(options: MigrateOptions): Promise<string[]> {
  const { schema, schemaDir } = options;
  const files = readMigrations(schemaDir);
  // One connection for the lock and for the scripts: while the server still runs a dead process's script, the lock holds.
  const pool = new pg.Pool({
    connectionString: options.url,
    options: searchPath(schema),
    max: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 0,
  });
  pool.on('error', () => undefined); // The next query says so.
  try {
    await pool.query(`SET lock_timeout = ${options.lockTimeoutMs ?? LOCK_TIMEOUT_MS}`);
    await pool.query('SELECT pg_advisory_lock(hashtext($1))', [LOCK]);
    await pool.query('SET lock_timeout = 0');
    await pool.query(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`);
    if (await hasHistory(pool, schema)) await settleInterrupted(pool, schema);
    const { missing, unknown, edited } = compareHistory(files, await appliedMigrations(pool, schema));
    if (unknown.length > 0)
      throw new Error(`Schema "${schema}" is newer than this release: it has ${unknown[0]}.`);
    if (edited.length > 0)
      throw new Error(`Migration ${edited[0]} was changed after schema "${schema}" had it.`);
    return missing.length === 0 ? [] : await applyMissing(pool, files, options);
  } finally {
    await pool.end();
  }
}

/** What a killed process began. Scripts are atomic, and each notes in its own transaction that it was committed. */
async function settleInterrupted(pool: pg.Pool, schema: string): Promise<void> {
  const open = 'finished_at IS NULL AND rolled_back_at IS NULL';
  await pool.query(
    `UPDATE ${historyTable(schema)} SET finished_at = now(), applied_steps_count = 1 WHERE ${open} AND logs = $1`,
    [COMMITTED],
  );
  await pool.query(`UPDATE ${historyTable(schema)} SET rolled_back_at = now() WHERE ${open}`);
}

async function applyMissing(
  pool: pg.Pool,
  files: MigrationFile[],
  { schema, schemaDir }: MigrateOptions,
): Promise<string[]> {
  const scripts = new WholeScripts(pool, schema);
  try {
    return await withSchemaEngine(scripts, async (engine) => {
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: migrationList(schemaDir, files),
        filters: NO_FILTER,
      });
      return appliedMigrationNames;
    });
  } catch (cause) {
    throw new Error(`The migrations of schema "${schema}" failed: ${scripts.fault ?? textOf(cause)}`, {
      cause,
    });
  }
}

function migrationList(schemaDir: string, files: MigrationFile[]) {
  return {
    baseDir: schemaDir,
    shadowDbInitScript: '',
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    migrationDirectories: files.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: sql } },
    })),
  };
}

/**
 * Prisma's adapter splits a script at every semicolon, those in texts and function bodies too, and runs the pieces one
 * by one. Here a script is one query, which PostgreSQL runs whole or not at all.
 */
class WholeScripts extends PrismaPg {
  /** What PostgreSQL said, which the engine does not pass on in full. */
  fault: string | undefined;

  constructor(
    private readonly pool: pg.Pool,
    private readonly schemaName: string,
  ) {
    super(pool, { schema: schemaName });
  }

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    adapter.executeScript = (script) => this.run(script);
    return adapter;
  }

  private async run(script: string): Promise<void> {
    const note = (await hasHistory(this.pool, this.schemaName))
      ? `\n;UPDATE ${historyTable(this.schemaName)} SET logs = '${COMMITTED}' WHERE finished_at IS NULL AND rolled_back_at IS NULL;`
      : '';
    try {
      await this.pool.query(script + note);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      this.fault = `${error.message} (${error.code ?? 'no code'}${lineOf(script, error.position)})`;
      throw new DriverAdapterError({
        kind: 'postgres',
        code: error.code ?? 'N/A',
        severity: error.severity ?? 'ERROR',
        message: error.message,
        detail: error.detail,
        column: error.column,
        hint: error.hint,
      });
    }
  }
}

function lineOf(script: string, position: string | undefined): string {
  if (position === undefined) return '';
  const line = script.slice(0, Number(position)).split('\n').length;
  return `, line ${line}: ${
    script
      .split('\n')
      .at(line - 1)
      ?.trim() ?? ''
  }`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
