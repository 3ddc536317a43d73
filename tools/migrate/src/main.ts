import 'reflect-metadata';
import { join } from 'node:path';
import { readFlags } from '@gateway/platform/flags';

const USAGE = 'usage: npm run migrate:new -- <service> <name>, for example: keys add_key_label\n';
const [service, name] = readFlags(USAGE, {}, { takesWords: true }).positionals;

// After the flags: what it loads takes most of a second.
const { newMigration } = await import('./new-migration.js');
if (service === undefined || name === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  try {
    const schemaDir = join(process.cwd(), 'libs', 'services', service, 'prisma');
    const path = await newMigration({ schemaDir, name, now: Date.now() });
    process.stdout.write(
      path === null ? 'Nothing to migrate.\n' : `${path}\nRead it before you commit it.\n`,
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
