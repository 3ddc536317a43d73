import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import { GatewayConfigError } from '@gateway/providers';
import { readFlags } from '@gateway/platform';
import { apply } from './apply.js';
import { planOf } from './plan.js';

const USAGE = `usage: npm run config -- plan [FILE]    checks the file and prints what it changes
       npm run config -- apply [FILE]   the same, then writes it to a running fleet
FILE is GATEWAY_CONFIG, else gateway.yaml. apply needs GATEWAY_URL and GATEWAY_TOKEN, a super admin's.
`;

async function main(): Promise<number> {
  const { positionals } = readFlags(USAGE, {}, { takesWords: true });
  const [command, path = process.env.GATEWAY_CONFIG || 'gateway.yaml'] = positionals;
  if (command !== 'plan' && command !== 'apply') {
    process.stderr.write(USAGE);
    return 2;
  }
  if (!existsSync(path)) {
    process.stderr.write(`${path} is not there\n`);
    return 2;
  }
  try {
    const plan = planOf(readFileSync(path, 'utf8'));
    process.stdout.write(`${plan.lines.length === 0 ? 'nothing changes' : plan.lines.join('\n')}\n`);
    if (command === 'plan') return 0;
    const { GATEWAY_URL: url, GATEWAY_TOKEN: token } = process.env;
    if (!url || !token) {
      process.stderr.write('GATEWAY_URL and GATEWAY_TOKEN are not set\n');
      return 2;
    }
    await apply(plan, { url, token });
    const defaults = Object.keys(plan.organizations).length;
    process.stdout.write(
      `applied: ${plan.providers.length} providers, ${plan.models.length} models, ${defaults} defaults of organizations\n`,
    );
    return 0;
  } catch (failure) {
    if (!(failure instanceof GatewayConfigError)) throw failure;
    process.stderr.write(`${failure.message}\n`);
    return 1;
  }
}

process.exitCode = await main();
