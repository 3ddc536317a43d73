import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface MigrationFile {
  /** Name of its folder: `<timestamp>_<name>`. */
  name: string;
  sql: string;
  /** SHA-256 of the script in hex, as Prisma stores it. */
  checksum: string;
}

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
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}
