import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface MigrationFile {
  /** Name of its folder: `<timestamp>_<name>`. */
  name: string;
  sql: string;
  /** SHA-256 of the script in hex, as Prisma stores it. */
  checksum: string;
  /** Oldest release that runs on the schema after it; null where the script does not say. */
  compatibleWith: string | null;
}

/** First line of a script: the oldest release that runs on the schema after it. */
const COMPATIBLE_WITH = /^-- compatible-with: (\d+\.\d+\.\d+)$/m;
/** Statements that PostgreSQL runs in no transaction, with the name of their index. */
const CONCURRENT =
  /^(?:create\s+(?:unique\s+)?|drop\s+)index\s+concurrently\s+(?:if\s+(?:not\s+)?exists\s+)?"?(\w+)/i;

/** The migrations of `<schemaDir>/migrations/<name>/migration.sql`, oldest first. */
export function readMigrations(schemaDir: string): MigrationFile[] {
  const folder = join(schemaDir, 'migrations');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { name, sql, checksum, compatibleWith: compatibleWithOf(sql) };
    });
}

/** The release that the first line of a script names; null where it names none. */
export function compatibleWithOf(sql: string): string | null {
  return COMPATIBLE_WITH.exec(sql.split('\n', 1)[0])?.[1] ?? null;
}

/** True if a release such as 0.9.0 comes before another such as 0.10.0. */
export function isOlderRelease(release: string, other: string): boolean {
  return release.localeCompare(other, 'en', { numeric: true }) < 0;
}

/**
 * Returns the index that a script builds or drops beside writes; null for any other script. Such a script is one statement,
 * outside a transaction.
 */
export function concurrentIndex(sql: string): string | null {
  return CONCURRENT.exec(sql.replace(/^\s*--.*$/gm, '').trimStart())?.[1] ?? null;
}
