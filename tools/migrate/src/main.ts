import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { releaseOf } from '@gateway/platform';
import { readFlags } from '@gateway/platform/flags';

const USAGE = 'usage: npm run migrate:new -- <service> <name>, for example: keys add_key_label\n';
const [service, name] = readFlags(USAGE, {}, { takesWords: true }).positionals;

// After the flags: what it loads takes most of a second.
const { newMigration } = await import('./new-migration.js');
const { lintMigration } = await import('./migration-lint.js');
if (service === undefined || name === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  try {
    const schemaDir = join(process.cwd(), 'libs', 'services', service, 'prisma');
    const release = releaseOf(import.meta.dirname);
    const path = await newMigration({ schemaDir, name, now: Date.now(), release });
    const faults = path === null ? [] : await lintMigration(readFileSync(path, 'utf8'));
    process.stdout.write(
      path === null
        ? 'Nothing to migrate.\n'
        : [path, 'Read it before you commit it.', ...faults, ''].join('\n'),
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
