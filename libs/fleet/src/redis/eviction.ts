import type { Clock } from '@gateway/contracts';
import { within } from '@gateway/event-log';
import { ConfigError } from '@gateway/platform';
import { Cluster, type Redis } from 'ioredis';
import { connectRedis, untilReady, type RedisAddress } from './connect-redis.js';

/** Longest wait for the connection, and for each node's answer: a Redis that is away refuses no start. */
const WAIT_MS = 2_000;

/** The maxmemory-policy of one node, named host:port. */
interface NodePolicy {
  node: string;
  policy: string;
}

/**
 * Throws ConfigError if a node of Redis may evict keys: the counters of limits and money would be lost in silence, and
 * callers would pass their caps.
 */
export async function refuseEviction(address: RedisAddress, clock: Clock): Promise<void> {
  const policies = await evictionPolicies(address, clock);
  const faults = policies.filter(({ policy }) => policy !== 'noeviction').map(sentence);
  if (faults.length > 0) throw new ConfigError(faults);
}

/**
 * Returns the policy of each node that takes writes. Managed services forbid CONFIG, so INFO is asked. A node that is
 * away, or that forbids INFO, is left out.
 */
export async function evictionPolicies(address: RedisAddress, clock: Clock): Promise<NodePolicy[]> {
  const connection = connectRedis({ ...address, clientName: 'eviction', clock });
  const { client } = connection;
  const inTime = { clock, timeoutMs: WAIT_MS };
  try {
    await within(untilReady(client), inTime);
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    const asked = await Promise.allSettled(nodes.map((node) => within(policyOf(node), inTime)));
    return asked.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } catch {
    return [];
  } finally {
    connection.close();
  }
}

async function policyOf(node: Redis): Promise<NodePolicy[]> {
  const policy = /^maxmemory_policy:(\S+)/m.exec(await node.info('memory'))?.[1];
  const { host = 'localhost', port = 6379 } = node.options;
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return policy === undefined ? [] : [{ node: place, policy }];
}

function sentence({ node, policy }: NodePolicy): string {
  return (
    `Redis ${node} has the maxmemory-policy "${policy}" and has to have "noeviction": ` +
    'an evicted counter lets callers pass their limits'
  );
}
