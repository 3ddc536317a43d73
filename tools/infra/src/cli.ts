// `npm run infra -- up [postgres] [redis] [kafka]`: starts the servers, prints one JSON line with their addresses,
// named as the variables that services read, and stays until standard input ends or Ctrl-C.
import { endGuard, spawnGuard } from '../spawn-guard.mjs';

const USAGE = 'usage: npm run infra -- up [postgres] [redis] [kafka]';
const [command, ...kinds] = process.argv.slice(2);
if (command === '--help') {
  console.log(USAGE);
  process.exit(0);
}
if (command !== 'up') {
  console.error(USAGE);
  process.exit(2);
}

const { guard } = spawnGuard(kinds.length > 0 ? kinds : ['postgres', 'redis', 'kafka']);
guard.ref();
guard.once('exit', (code) => process.exit(code ?? 1));
// A terminal that nobody types in stays open; a pipe ends with the program that holds it.
process.stdin.resume();
process.stdin.once('end', () => void endGuard(guard));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void endGuard(guard));
