import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATED_SCHEMA, migrationDiff } from './migration-diff.js';

/**
 * Writes the migration that leads from a service's migrations to its schema.prisma, and notes the schema it leads to.
 * @returns the path of the script; null where nothing has changed.
 */
export async function newMigration(options: {
  schemaDir: string;
  name: string;
  /** Wall time in milliseconds: the first part of the folder's name. */
  now: number;
  /** Version of this release, which runs on the schema after the script as long as the script only adds. */
  release: string;
}): Promise<string | null> {
  const { schemaDir, name, now, release } = options;
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`Name a migration like add_key_label, not "${name}".`);
  if (!existsSync(join(schemaDir, 'schema.prisma')))
    throw new Error(`There is no schema.prisma in ${schemaDir}.`);
  const script = await migrationDiff({ schemaDir });
  if (script === null) return null;

  const timestamp = new Date(now).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const folder = join(schemaDir, 'migrations', `${timestamp}_${name}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'migration.sql'), `-- compatible-with: ${release}\n${script}`);
  copyFileSync(join(schemaDir, 'schema.prisma'), join(schemaDir, MIGRATED_SCHEMA));
  return join(folder, 'migration.sql');
}
