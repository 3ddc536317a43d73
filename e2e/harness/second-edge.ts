import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startUpstreamSim } from '@gateway/simulator';
import { endProgram, freePorts, startBuilt, untilReady } from './built-program.js';
import type { Fleet } from './fleet.js';

export interface SecondEdge {
  url: string;
  stop(): Promise<void>;
}

/** Another edge process of a running fleet, with a journal and a simulated provider of its own; `more` are its variables. */
export async function startSecondEdge(fleet: Fleet, more: Record<string, string> = {}): Promise<SecondEdge> {
  const folder = mkdtempSync(join(tmpdir(), 'second-edge-'));
  const simulator = await startUpstreamSim({ record: 0 });
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const addresses = Object.entries(fleet.urls).map(([app, at]) => [`${app.toUpperCase()}_URL`, at]);
  const env = {
    ...(Object.fromEntries(addresses) as Record<string, string>),
    HOST: '127.0.0.1',
    PORT: String(port),
    DRAIN_GRACE_MS: '10000',
    FLEET_TOKEN: fleet.fleetToken,
    REDIS_URL: fleet.redisUrl,
    KAFKA_BROKERS: fleet.kafka.brokers.join(','),
    JOURNAL_DIR: join(folder, 'journal'),
    JOURNAL_PRODUCER: 'edge-1',
    SIMULATED_PROVIDER: 'true',
    SIMULATED_API_KEY: 'built-in',
    SIMULATED_BASE_URL: `${simulator.url}/v1`,
    SIMULATED_MESSAGES_BASE_URL: simulator.url,
    ...more,
  };
  const program = await startBuilt('edge', { env, readyWhen: /"msg":"listening"/ });
  await untilReady(url);
  return {
    url,
    stop: async () => {
      await endProgram(program);
      await simulator.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
