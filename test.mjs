// `npm test`: installs and builds what is missing, then runs Jest on the package's Node; arguments go to Jest.
// PostgreSQL, Redis and Kafka are started, and installed where they are missing, by tools/infra. What needs a program that
// is not there and cannot be installed is left out and named, unless CI=true asks for everything.
import { build, handOver, install, outputOf, requireNode } from './tools/bootstrap.mjs';

requireNode();
await install();
await build();
if (process.env.CI !== 'true') leaveOut();
const modules = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
handOver([...modules, 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)], 'ignore');

/** jest.config.js leaves the files out, tools/run-summary.mjs names them at the end. */
function leaveOut() {
  const found = outputOf([
    '--no-warnings',
    '--import',
    './tools/infra/run-ts.mjs',
    'tools/infra/src/left-out-main.ts',
  ]);
  if (found !== '') process.env.GATEWAY_LEFT_OUT = found;
}
