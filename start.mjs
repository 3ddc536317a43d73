// `npm start`: installs and builds what is missing, then hands over to the all-in-one app on the package's Node.
import { spawn } from 'node:child_process';
import { build, install, packageEnvironment, packageNode, root } from './tools/bootstrap.mjs';

install();
build();

const app = spawn(
  packageNode,
  ['--enable-source-maps', 'dist/apps/all-in-one/src/main.js', ...process.argv.slice(2)],
  {
    cwd: root,
    env: packageEnvironment(),
    stdio: 'inherit',
  },
);
// The app drains by itself; this process only waits for it, so that the shell sees its exit code.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => app.kill(signal));
app.on('exit', (code, signal) => {
  process.exitCode = signal ? 1 : (code ?? 1);
});
