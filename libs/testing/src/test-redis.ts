import { randomBytes, randomInt } from 'node:crypto';
import { Redis } from 'ioredis';
import { askGuard, textOf } from './guard-client.js';
import { keepRedis } from './leftovers/keep.js';
import { ownServer } from './own-server.js';
import type { OwnServer } from './own-server.js';

/** A lease outlives no run, also on a server that is not ours. */
const LEASE_S = 3_600;
const LEASE_TRIES = 200;

export interface TestRedis {
  /** redis://host:port/n of a logical database that was empty and is this test file's alone. */
  url: string;
  /** Empties it and gives it back. */
  drop(): Promise<void>;
}

export interface TestRedisCluster {
  nodes: { host: string; port: number }[];
  /** A cluster has one database: keys of this test file begin with this. */
  prefix: string;
}

/** A fresh logical database on the Redis that this run shares. */
export async function testRedis(): Promise<TestRedis> {
  const server = textOf(await askGuard('/shared', { kind: 'redis' }), 'address');
  const client = new Redis(server, { maxRetriesPerRequest: 1, connectTimeout: 5_000 });
  try {
    const databases = await client.config('GET', 'databases');
    const count = Array.isArray(databases) ? Number(databases[1]) : 16;
    const number = await leaseDatabase(client, count);
    const url = new URL(server);
    url.pathname = `/${number}`;
    return {
      url: url.href,
      drop: async () => {
        await keepRedis(url.href);
        await giveBack(server, number);
      },
    };
  } finally {
    client.disconnect();
  }
}

/** A redis-server of the test's own, to kill, freeze and restart. `address` is its url. */
export function ownRedis(): Promise<OwnServer> {
  return ownServer('redis');
}

/** The Redis Cluster that this run shares: three masters, three replicas, 2 s to start at its first use. */
export async function testRedisCluster(): Promise<TestRedisCluster> {
  const address = textOf(await askGuard('/shared', { kind: 'redis-cluster' }), 'address');
  const nodes = address.split(',').map((node) => {
    const { hostname, port } = new URL(node);
    return { host: hostname, port: Number(port) };
  });
  return { nodes, prefix: `test-${randomBytes(6).toString('hex')}:` };
}

/** Leases only an empty database: on a server that is not ours it may belong to somebody. */
async function leaseDatabase(client: Redis, count: number): Promise<number> {
  for (let attempt = 0; attempt < LEASE_TRIES; attempt += 1) {
    const number = randomInt(1, count);
    await client.select(0);
    const leased = await client.set(leaseKey(number), '1', 'EX', LEASE_S, 'NX');
    if (leased === null) continue;
    await client.select(number);
    if ((await client.dbsize()) === 0) return number;
  }
  throw new Error('No empty logical database is free on this Redis: give it more with "--databases 1024".');
}

async function giveBack(server: string, number: number): Promise<void> {
  const client = new Redis(server, { maxRetriesPerRequest: 1, connectTimeout: 5_000 });
  try {
    await client.select(number);
    await client.flushdb();
    await client.select(0);
    await client.del(leaseKey(number));
  } finally {
    client.disconnect();
  }
}

function leaseKey(number: number): string {
  return `gateway-test:database:${number}`;
}
