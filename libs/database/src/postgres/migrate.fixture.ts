import { once } from 'node:events';
import { applyMigrations } from './apply-migrations.js';

/** A process of its own that migrates and says what it applied, then waits for the end of its input. */
const [url, schemaDir, schema] = process.argv.slice(2);
process.stdout.write('migrating\n');
process.stdout.write(`applied ${JSON.stringify(await applyMigrations({ url, schemaDir, schema }))}\n`);
await once(process.stdin.resume(), 'end');
