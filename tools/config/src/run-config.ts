import { readFileSync } from 'node:fs';
import { GatewayConfigError, GatewayFile } from '@gateway/providers';
import { apply } from './apply.js';
import { planOf } from './plan.js';

/** Prints what the file changes, and writes it where that is the command. Answers the exit code. */
export async function runConfig(command: 'plan' | 'apply', path: string): Promise<number> {
  try {
    const plan = planOf(new GatewayFile(readFileSync(path, 'utf8'), path));
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
      `applied: ${plan.providers.length} providers, ${plan.models.length} models, prices of ${plan.prices.length} others, ${defaults} defaults of organizations, ${plan.aliases.length} aliases\n`,
    );
    return 0;
  } catch (failure) {
    if (!(failure instanceof GatewayConfigError)) throw failure;
    process.stderr.write(`${failure.message}\n`);
    return 1;
  }
}
