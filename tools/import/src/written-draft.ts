import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withWholeFile, type readSeed } from '@gateway/catalogue';
import { GatewayFile } from '@gateway/providers';
import { stringify } from 'yaml';
import type { Draft, PlannedBudget } from './plan.js';

/** Name of the file with the records that are made over the API. */
export const PLAN = 'plan.json';
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** Returns the text of a gateway.yaml. Throws GatewayConfigError where a start would refuse it. */
export function gatewayYaml({ gateway, plan }: Draft, seed: ReturnType<typeof readSeed>): string {
  const lists = Object.entries(gateway).filter(([, entries]) => entries.length > 0);
  const head = `# Written by npm run import from ${plan.source}. Read no-counterpart.md, then check it: npm start -- --check-config\n`;
  const text = `${head}${lists.length === 0 ? '' : stringify(Object.fromEntries(lists), { lineWidth: 0 })}`;
  withWholeFile(seed, new GatewayFile(text));
  return text;
}

/** Returns what an import would write, a line each. */
export function linesOf({ gateway, plan, notes }: Draft): string[] {
  const { providers, models, prices, aliases, budgets } = gateway;
  return [
    ...providers.map(({ slug, base_url, api_key_env }) =>
      [`+ provider ${slug}`, base_url, api_key_env && `key in ${api_key_env}`].filter(Boolean).join(', '),
    ),
    ...models.map(({ id, routes: [route] }) => `+ model ${id} at ${route.provider}`),
    ...prices.map(({ model, provider }) => `~ price of ${model} at ${provider}`),
    ...aliases.map(
      ({ name, targets }) =>
        `+ alias ${name}: ${targets.map(({ model, weight }) => `${model} ${weight}`).join(', ')}`,
    ),
    ...budgets.map((budget) => `+ budget of provider ${budget.scope_id}: ${amountInWords(budget)}`),
    ...plan.credentials.map(({ provider, variable }) => `+ credential of ${provider}: ${variable}`),
    ...plan.organizations.map(({ name }) => `+ organization ${name}`),
    ...plan.teams.map(({ name }) => `+ team ${name}`),
    ...plan.routing.map(({ name, routing_policy }) => `+ routing ${name}: ${JSON.stringify(routing_policy)}`),
    ...plan.keys.map(({ label, masked, is_suspended: isSuspended }) =>
      [`+ key ${label} (${masked})`, isSuspended && 'suspended'].filter(Boolean).join(', '),
    ),
    ...plan.budgets.map((budget) => `+ budget ${budget.name}: ${amountInWords(budget)}`),
    ...(notes.length === 0 ? [] : ['', 'Without a counterpart:']),
    ...notes.map(({ place, words }) => `  ${place}: ${words}`),
  ].map(plain);
}

function amountInWords({
  amount_usd,
  period,
  rolling_days: days,
}: Draft['gateway']['budgets'][number] | PlannedBudget): string {
  return `${amount_usd} USD ${period === 'rolling' ? `in ${days} days` : `a ${period}`}`;
}

/** Names of the other file may hold marks that a terminal obeys. */
function plain(line: string): string {
  return line.replace(/\p{Cc}/gu, ' ');
}

/** Writes the three files into a new folder. Throws where it is there already. */
export function writeDraft(folder: string, draft: Draft, yaml: string): void {
  mkdirSync(folder, { mode: PRIVATE_FOLDER });
  const notes = draft.notes.map(({ place, words }) => `- ${plain(`${place}: ${words}`)}\n`).join('');
  const files = {
    'gateway.yaml': yaml,
    'no-counterpart.md': `# Without a counterpart\n\n${notes === '' ? 'Nothing.\n' : notes}`,
    // The last one: a folder with it is whole.
    [PLAN]: `${JSON.stringify(draft.plan, null, 2)}\n`,
  };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), text, { mode: PRIVATE_FILE, flag: 'wx' });
}
