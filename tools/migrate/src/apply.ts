import 'reflect-metadata';
import { applyService } from './apply-service.js';

/** The job before a release: `node dist/tools/migrate/src/apply.js keys usage`. */
const services = process.argv.slice(2);
if (services.length === 0) {
  process.stderr.write('Usage: node dist/tools/migrate/src/apply.js <service> …\n');
  process.exitCode = 2;
}
for (const service of services) {
  try {
    await applyService(service, process.env);
    process.stdout.write(`${service}: the schema is this release's\n`);
  } catch (error) {
    process.stderr.write(`${service}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
    break;
  }
}
