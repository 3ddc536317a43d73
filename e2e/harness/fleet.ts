import {
  eventually,
  startFleet as startServices,
  type Fleet as Services,
  type FleetOptions,
} from '@gateway/testing';
import type { Gateway } from './gateway.js';
import { logIn } from './session.js';

/** The fleet as its users meet it, with a first key, and with what tests break. */
export interface Fleet extends Gateway, Omit<Services, 'stop'> {
  redisUrl: string;
}

/** The six built services before a real Kafka, Redis and PostgreSQL, and the simulated provider in this process. */
export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  // On a machine that stands still Redis is late, not away: what is to be shown is decided by it.
  const all = { REDIS_COMMAND_TIMEOUT_MS: '5000', ...options.env?.all };
  const services = await startServices({ ...options, env: { ...options.env, all } });
  try {
    const url = services.urls.edge;
    const admin = await services.firstLogin();
    return {
      ...services,
      ...{ url, admin, key: await firstKey(url, admin) },
      redisUrl: 'url' in services.redis ? services.redis.url : '',
      get edgePid() {
        return services.process('edge').pid ?? 0;
      },
    };
  } catch (failure) {
    await services.stop();
    throw failure;
  }
}

/**
 * Creates the first key as a person would: log in with the one-time password, create a key in the first organization,
 * and wait for the opening credit. The keys service brings the credit as soon as the ledger answers.
 */
async function firstKey(url: string, admin: Gateway['admin']): Promise<string> {
  const session = await logIn({ url, admin });
  const { key } = await session.createKey('e2e');
  await eventually(
    async () => {
      const answer = await fetch(`${url}/v1/balance`, { headers: { authorization: `Bearer ${key}` } });
      const { balance_usd: balance } = (await answer.json()) as { balance_usd?: string };
      return answer.ok && balance !== '0';
    },
    { timeoutMs: 60_000 },
  );
  return key;
}
