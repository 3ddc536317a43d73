// `npm test`: installs and builds what is missing, then runs Jest on the package's Node; arguments go to Jest.
// PostgreSQL, Redis and Kafka are started, and installed where they are missing, by tools/infra.
import { build, handOver, install, requireNode } from './tools/bootstrap.mjs';

requireNode();
await install();
await build();
const modules = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
handOver([...modules, 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)], 'ignore');
