import type pg from 'pg';
import type { MigrationFile } from './migration-files.js';

export interface AppliedMigration {
  name: string;
  checksum: string;
}

/** What a database and this release say of each other. */
export interface HistoryDifference {
  /** In this release, not in the database. */
  missing: string[];
  /** In the database, not in this release. */
  unknown: string[];
  /** In both, with another text. */
  edited: string[];
}

/** Migrations that ran to their end in this PostgreSQL schema. */
export async function appliedMigrations(
  database: Pick<pg.Pool, 'query'>,
  schema: string,
): Promise<AppliedMigration[]> {
  if (!(await hasHistory(database, schema))) return [];
  const { rows } = await database.query<AppliedMigration>(
    `SELECT migration_name AS name, checksum FROM ${historyTable(schema)}
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows;
}

export async function hasHistory(database: Pick<pg.Pool, 'query'>, schema: string): Promise<boolean> {
  const { rows } = await database.query<{ found: string | null }>('SELECT to_regclass($1)::text AS found', [
    historyTable(schema),
  ]);
  return rows[0].found !== null;
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

export function historyTable(schema: string): string {
  return `${quoted(schema)}._prisma_migrations`;
}

export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
