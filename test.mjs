// `npm test`: installs and builds what is missing, then runs Jest on the package's Node; arguments go to Jest.
// PostgreSQL, Redis and Kafka are started, and installed where they are missing, by tools/infra.
import { spawn } from 'node:child_process';
import { build, install, packageEnvironment, packageNode, root } from './tools/bootstrap.mjs';

install();
build();

const jest = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
const tests = spawn(packageNode, [...jest, ...process.argv.slice(2)], {
  cwd: root,
  env: packageEnvironment(),
  stdio: ['ignore', 'inherit', 'inherit'],
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => tests.kill(signal));
tests.on('exit', (code, signal) => {
  process.exitCode = signal ? 1 : (code ?? 1);
});
