import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { readFlags } from '@gateway/platform/flags';

const USAGE = `usage: npm run config -- plan [FILE]    checks the file and prints what it changes
       npm run config -- apply [FILE]   the same, then writes it to a running fleet
FILE is GATEWAY_CONFIG, else gateway.yaml. apply needs GATEWAY_URL and GATEWAY_TOKEN, a super admin's.
`;

const { positionals } = readFlags(USAGE, {}, { takesWords: true });
const [command, path = process.env.GATEWAY_CONFIG || 'gateway.yaml'] = positionals;
if (command !== 'plan' && command !== 'apply') {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else if (!existsSync(path)) {
  process.stderr.write(`${path} is not there\n`);
  process.exitCode = 2;
} else {
  // After the flags: what it loads takes most of a second.
  const { runConfig } = await import('./run-config.js');
  process.exitCode = await runConfig(command, path);
}
