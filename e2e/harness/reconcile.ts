import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '@gateway/testing';
import type { Fleet } from './fleet.js';

/**
 * Returns the findings of `npm run reconcile` on a fleet's ledger. `redisEnv`: the variables by which the services find
 * Redis.
 */
export async function findingsOf(
  fleet: Fleet,
  redisEnv: Record<string, string>,
  flags: readonly string[] = [],
): Promise<unknown[]> {
  const env = {
    ...{ PATH: process.env.PATH, DATABASE_URL: fleet.databaseUrl, ...redisEnv },
    ...{ KAFKA_BROKERS: fleet.kafka.brokers.join(','), FLEET_TOKEN: fleet.fleetToken },
    ...{ CATALOGUE_URL: fleet.urls.catalogue, KEYS_URL: fleet.urls.keys },
  };
  const path = join(repository, 'dist/tools/ledger/src/reconcile.js');
  const ran = promisify(execFile)(process.execPath, [path, '--json', ...flags], { env, timeout: 120_000 });
  // Exit code 1 where something is found.
  const { stdout } = await ran.catch((failure: unknown) => failure as { stdout: string });
  return (JSON.parse(stdout) as { findings: unknown[] }).findings;
}
