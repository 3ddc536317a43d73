import { dirname, join } from 'node:path';
import { adviceOn, canInstall, type Machine } from './programs.js';

/** Programs that a spec may need beside Node and PostgreSQL, which are packages. */
export type Need = 'redis' | 'kafka' | 'browser';

type Environment = Record<string, string | undefined>;

/** A spec that names one of these, or imports a file that does, needs it. */
const NAMED: Record<Need, RegExp> = {
  redis: /\b(?:testRedis|testRedisCluster|ownRedis|securedRedis|startRedis|startRedisCluster|startFleet)\b/,
  kafka: /\b(?:testKafka|ownKafka|securedKafka|startKafka|startSecuredKafka|startFleet)\b/,
  browser: /\bplaywright-core\b/,
};
const RELATIVE_IMPORT = /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)\.js'/g;

/** Returns a sentence with the command to run for each need that this machine cannot meet without Docker. */
export function unmet(environment: Environment, machine: Machine): Map<Need, string> {
  const missing = new Map<Need, string>();
  if (canInstall(machine)) return missing;
  const lacks = (program: string, variable: string): boolean =>
    !environment[variable] && !machine.has(program);
  if (lacks('chromium', 'CHROMIUM_PATH')) missing.set('browser', adviceOn('chromium'));
  if (lacks('redis-server', 'REDIS_URL')) missing.set('redis', adviceOn('redis-server'));
  const kafka = ['java', 'mvn'].find((program) => lacks(program, 'KAFKA_BROKERS'));
  if (kafka !== undefined) missing.set('kafka', adviceOn(kafka));
  return missing;
}

/**
 * Returns the specs that need something of `missing`, in the order given.
 * @param read returns the text of a file by its path, and undefined where there is none
 */
export function leftOut(
  specs: string[],
  missing: ReadonlySet<Need>,
  read: (path: string) => string | undefined,
): string[] {
  return specs.filter((spec) => reached(spec, read).some((text) => names(text, missing)));
}

function names(text: string, missing: ReadonlySet<Need>): boolean {
  return [...missing].some((need) => NAMED[need].test(text));
}

/** Returns the texts of a spec and of what it imports by relative paths. */
function reached(spec: string, read: (path: string) => string | undefined): string[] {
  const texts = new Map<string, string>();
  const waiting = [spec];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const text = read(path);
    if (texts.has(path) || text === undefined) continue;
    texts.set(path, text);
    const folder = dirname(path);
    for (const [, target] of text.matchAll(RELATIVE_IMPORT)) waiting.push(join(folder, `${target}.ts`));
  }
  return [...texts.values()];
}
