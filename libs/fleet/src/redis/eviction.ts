import type { Clock } from '@gateway/contracts';
import { ConfigError } from '@gateway/platform';
import { Cluster, type Redis } from 'ioredis';
import { connectRedis, type RedisAddress } from './connect-redis.js';

/** Longest wait for Redis at a start: one that is away refuses none. */
const WAIT_MS = 2_000;
const LOOK_MS = 20;

/**
 * Throws ConfigError if a node of Redis may evict keys: the counters of limits and money would be lost in silence, and
 * callers would pass their caps. Managed services forbid CONFIG, so INFO is asked. A Redis that does not answer within
 * 2 s, or that forbids INFO, refuses nothing.
 */
export async function refuseEviction(address: RedisAddress, clock: Clock): Promise<void> {
  const connection = connectRedis({ ...address, clientName: 'eviction', clock });
  try {
    const infos = await answers(connection.client, clock);
    const faults = infos.flatMap(({ node, info }) => {
      const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
      return policy === 'noeviction' ? [] : [sentence(node, policy)];
    });
    if (faults.length > 0) throw new ConfigError(faults);
  } finally {
    connection.close();
  }
}

function sentence(node: string, policy: string): string {
  return (
    `Redis ${node} has the maxmemory-policy "${policy}" and has to have "noeviction": ` +
    'an evicted counter lets callers pass their limits'
  );
}

/** Returns what INFO says of the memory of each node that takes writes; empty if none answers in time. */
async function answers(client: Redis | Cluster, clock: Clock): Promise<{ node: string; info: string }[]> {
  const endMs = clock.monotonic() + WAIT_MS;
  while (client.status !== 'ready' && clock.monotonic() < endMs) await clock.sleep(LOOK_MS);
  if (client.status !== 'ready') return [];
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const asked = await Promise.allSettled(
    nodes.map(async (node) => ({ node: placeOf(node), info: await inTime(node.info('memory'), clock) })),
  );
  return asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
}

function placeOf({ options }: Redis): string {
  const { host = 'localhost', port = 6379 } = options;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Resolves to an empty text if it takes longer than a start may wait. */
function inTime(info: Promise<string>, clock: Clock): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(WAIT_MS, () => resolve(''));
    info.then(resolve, reject).finally(() => timer.cancel());
  });
}
