import type pg from 'pg';
import { isOlderRelease, type MigrationFile } from './migration-files.js';

export interface AppliedMigration {
  name: string;
  checksum: string;
  /** Oldest release that runs on the schema after it; null where its script did not say. */
  compatibleWith: string | null;
}

/** The difference between a database's migrations and this release's. */
export interface HistoryDifference {
  /** Migrations of this release that the database lacks. */
  missing: string[];
  /** Migrations of the database that this release lacks and does not run with. */
  unknown: AppliedMigration[];
  /** Migrations of both, with another text. */
  edited: string[];
}

const COMPATIBLE_WITH = 'compatible-with: ';

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
  { name, checksum, compatibleWith }: AppliedMigration,
): Promise<void> {
  // In a column of Prisma's, so that the table stays Prisma's own: a release that lacks the script reads it there.
  const logs = compatibleWith === null ? null : `${COMPATIBLE_WITH}${compatibleWith}`;
  await database.query(
    `INSERT INTO ${historyTable(schema)} (id, checksum, migration_name, finished_at, applied_steps_count, logs)
     VALUES (gen_random_uuid()::text, $1, $2, clock_timestamp(), 1, $3)`,
    [checksum, name, logs],
  );
}

/**
 * SQL that notes a change of the schema which no script made: releases before `release` refuse the schema from then on.
 */
export function compatibleFrom(schema: string, name: string, release: string): string {
  const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
  return `INSERT INTO ${historyTable(schema)} (id, checksum, migration_name, finished_at, applied_steps_count, logs)
     VALUES (gen_random_uuid()::text, '', ${text(name)}, clock_timestamp(), 1, ${text(COMPATIBLE_WITH + release)})`;
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
  const { rows } = await database.query<{ name: string; checksum: string; logs: string | null }>(
    `SELECT migration_name AS name, checksum, logs FROM ${historyTable(schema)}
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows.map(({ logs, ...migration }) => ({
    ...migration,
    compatibleWith: logs?.startsWith(COMPATIBLE_WITH) ? logs.slice(COMPATIBLE_WITH.length) : null,
  }));
}

/** Compares the scripts of `release` with what a database has had. */
export function compareHistory(
  files: MigrationFile[],
  applied: AppliedMigration[],
  release: string | undefined,
): HistoryDifference {
  const known = new Map(files.map((file) => [file.name, file.checksum]));
  const present = new Set(applied.map((migration) => migration.name));
  return {
    missing: files.filter((file) => !present.has(file.name)).map((file) => file.name),
    unknown: applied.filter(
      ({ name, compatibleWith }) => !known.has(name) && !runsWith(release, compatibleWith),
    ),
    edited: applied
      .filter(({ name, checksum }) => known.has(name) && known.get(name) !== checksum)
      .map(({ name }) => name),
  };
}

/** Sentence of a start that is refused by a migration which its release lacks. */
export function unknownSentence(
  schema: string,
  { name, compatibleWith }: AppliedMigration,
  release: string | undefined,
): string {
  const needed =
    compatibleWith === null
      ? 'it names no older release that runs with it'
      : `it needs release ${compatibleWith} or newer`;
  return `Schema "${schema}" has the migration ${name}, which this release${release === undefined ? '' : ` (${release})`} lacks, and ${needed}: deploy the newer release.`;
}

function runsWith(release: string | undefined, compatibleWith: string | null): boolean {
  return release !== undefined && compatibleWith !== null && !isOlderRelease(release, compatibleWith);
}

export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

function historyTable(schema: string): string {
  return `${quoted(schema)}._prisma_migrations`;
}
