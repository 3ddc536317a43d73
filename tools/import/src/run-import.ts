import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { GatewayConfigError } from '@gateway/providers';
import { Refused, type Gateway } from './apply/api.js';
import { PlanApplier } from './apply/apply-plan.js';
import { MadeRecords } from './apply/made-records.js';
import { Accounts } from './litellm/accounts.js';
import { NotReadable } from './litellm/config-file.js';
import { readRows } from './litellm/database.js';
import { readLiteLlm } from './litellm/read-litellm.js';
import { ReleaseData } from './litellm/release.js';
import { readOpenRouter } from './openrouter.js';
import type { Draft, Plan } from './plan.js';
import { gatewayYaml, linesOf, PLAN, writeDraft } from './written-draft.js';

interface Options {
  out?: string;
  /** Makes the records over the API of GATEWAY_URL. */
  apply?: boolean;
  /** Address of LiteLLM's PostgreSQL. */
  'database-url'?: string;
}

interface Output {
  lines: string[];
  /** Words for people, where it could not be done. */
  fault: string | null;
  /** 0; 1 for what cannot be read; 2 for wrong usage. */
  code: 0 | 1 | 2;
}

/** Environment and time of an import. */
interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  now: Date;
}

const FILE_BYTES_MAX = 16 * 1_024 * 1_024;

/** Reads the configuration of another gateway and answers what it would write here. */
export async function runImport(
  source: 'litellm' | 'openrouter',
  path: string,
  options: Options,
  { env, now }: Surroundings,
): Promise<Output> {
  const { out } = options;
  const misused = (fault: string): Output => ({ lines: [], fault, code: 2 });
  if (!existsSync(path)) return misused(`${path} is not there`);
  const gateway = options.apply === true ? gatewayOf(env) : null;
  if (options.apply === true && (out === undefined || gateway === null))
    return misused('--apply needs --out, GATEWAY_URL and GATEWAY_TOKEN');
  try {
    if (out !== undefined && existsSync(out)) {
      if (gateway !== null && existsSync(join(out, PLAN))) return await applied(out, gateway, env, []);
      return misused(`${out} is there already: name a new folder`);
    }
    const release = new ReleaseData();
    const file = { text: readText(path), name: basename(path) };
    const draft =
      source === 'litellm'
        ? await readWithDatabase(file, options['database-url'], release, { env, now })
        : readOpenRouter(file.text, file.name, now);
    const yaml = gatewayYaml(draft, release.seed);
    if (out !== undefined) writeDraft(out, draft, yaml);
    const lines = linesOf(draft);
    if (gateway !== null && out !== undefined) return await applied(out, gateway, env, lines);
    return { lines: lines.length === 0 ? ['nothing to write'] : lines, fault: null, code: 0 };
  } catch (failure) {
    const isTold = [NotReadable, GatewayConfigError, Refused].some((type) => failure instanceof type);
    if (!isTold || !(failure instanceof Error)) throw failure;
    return { lines: [], fault: failure.message, code: 1 };
  }
}

function gatewayOf({ GATEWAY_URL: url, GATEWAY_TOKEN: token }: Surroundings['env']): Gateway | null {
  return url && token ? { url, token, fetch, wait: pause } : null;
}

/** Makes what the plan of the folder has, as it stands there: it may have been read and changed by hand. */
async function applied(
  folder: string,
  gateway: Gateway,
  env: Surroundings['env'],
  lines: readonly string[],
): Promise<Output> {
  const plan = JSON.parse(readText(join(folder, PLAN))) as Plan;
  const applier = new PlanApplier(gateway, new MadeRecords(folder), plan, env);
  await applier.run();
  return { lines: [...lines, ...applier.lines], fault: null, code: 0 };
}

async function readWithDatabase(
  file: { text: string; name: string },
  address: string | undefined,
  release: ReleaseData,
  { env, now }: Surroundings,
): Promise<Draft> {
  const { draft, groups, router } = readLiteLlm(file, release, env);
  if (address === undefined) router.routingOf(null);
  else
    new Accounts(await readRows(address), { groups, router, release }, draft.plan, draft.notes, now).read();
  return draft;
}

/** Throws NotReadable. */
function readText(path: string): string {
  try {
    if (statSync(path).size > FILE_BYTES_MAX) throw new NotReadable(`${path} has more than 16 MiB`);
    return readFileSync(path, 'utf8');
  } catch (failure) {
    throw new NotReadable(failure instanceof Error ? failure.message : String(failure));
  }
}
