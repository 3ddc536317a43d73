import type pg from 'pg';
import type { MigrationFile } from './migration-files.js';

export interface AppliedMigration {
  name: string;
  checksum: string;
}

/** The difference between a database's migrations and this release's. */
export interface HistoryDifference {
  /** Migrations of this release that the database lacks. */
  missing: string[];
  /** Migrations of the database that this release lacks. */
  unknown: string[];
  /** Migrations of both, with another text. */
  edited: string[];
}

/** Creates the history table of a schema; nothing where it is there. */
export async function createHistory(database: Pick<pg.Client, 'query'>, schema: string): Promise<void> {
  // The table of Prisma, column for column: its own tools read what was applied here.
  await database.query(`CREATE TABLE IF NOT EXISTS ${historyTable(schema)} (
    id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
    migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`);
}

/** Records a migration in its own transaction: it is recorded if and only if it was committed. */
export async function recordMigration(
  database: Pick<pg.Client, 'query'>,
  schema: string,
  { name, checksum }: AppliedMigration,
): Promise<void> {
  await database.query(
    `INSERT INTO ${historyTable(schema)} (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES (gen_random_uuid()::text, $1, $2, clock_timestamp(), 1)`,
    [checksum, name],
  );
}

/** Migrations that were committed in this PostgreSQL schema. */
export async function appliedMigrations(
  database: Pick<pg.Client, 'query'>,
  schema: string,
): Promise<AppliedMigration[]> {
  const { rows: found } = await database.query<{ table: string | null }>(
    'SELECT to_regclass($1)::text AS table',
    [historyTable(schema)],
  );
  if (found[0].table === null) return [];
  const { rows } = await database.query<AppliedMigration>(
    `SELECT migration_name AS name, checksum FROM ${historyTable(schema)}
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows;
}

export function compareHistory(files: MigrationFile[], applied: AppliedMigration[]): HistoryDifference {
  const known = new Map(files.map((file) => [file.name, file.checksum]));
  const present = new Set(applied.map((migration) => migration.name));
  return {
    missing: files.filter((file) => !present.has(file.name)).map((file) => file.name),
    unknown: applied.filter(({ name }) => !known.has(name)).map(({ name }) => name),
    edited: applied
      .filter(({ name, checksum }) => known.has(name) && known.get(name) !== checksum)
      .map(({ name }) => name),
  };
}

export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

function historyTable(schema: string): string {
  return `${quoted(schema)}._prisma_migrations`;
}
