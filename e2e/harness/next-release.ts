import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations } from '@gateway/database';
import { repository } from '@gateway/testing';

/** Scripts of a release after this one: a column with a default for tables that each request reaches. */
const SCRIPTS = {
  catalogue: 'ALTER TABLE "snapshot" ADD COLUMN "of_next_release" text NOT NULL DEFAULT \'new\';',
  keys: 'ALTER TABLE "api_key" ADD COLUMN "of_next_release" text NOT NULL DEFAULT \'new\';',
  usage: 'ALTER TABLE "usage_event" ADD COLUMN "of_next_release" text NOT NULL DEFAULT \'new\';',
};
const NAME = '99991231000000_of_next_release';

/**
 * Applies migrations that this release lacks, as the job of the release after it. They may be run with by the release of
 * the checkout `oldest`.
 */
export async function migrateFurther(databaseUrl: string, oldest: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(oldest, 'package.json'), 'utf8')) as { version: string };
  for (const [schema, sql] of Object.entries(SCRIPTS)) {
    const schemaDir = mkdtempSync(join(tmpdir(), 'next-release-'));
    try {
      const own = join(repository, 'libs/services', schema, 'prisma/migrations');
      cpSync(own, join(schemaDir, 'migrations'), { recursive: true });
      const folder = join(schemaDir, 'migrations', NAME);
      mkdirSync(folder);
      writeFileSync(join(folder, 'migration.sql'), `-- compatible-with: ${version}\n${sql}\n`);
      await applyMigrations({ url: databaseUrl, schemaDir, schema, release: version });
    } finally {
      rmSync(schemaDir, { recursive: true, force: true });
    }
  }
}
