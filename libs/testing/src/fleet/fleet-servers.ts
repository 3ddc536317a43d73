import type { RedisAddress } from '@gateway/fleet';
import { startFaultProxy, type FaultProxy } from '../fault-proxy/fault-proxy.js';
import type { OwnServer } from '../own-server.js';
import { ownKafka, type OwnKafka } from '../test-kafka.js';
import { ownPostgres, testPostgres } from '../test-postgres.js';
import { ownRedis, testRedis, testRedisCluster } from '../test-redis.js';

/** Servers that a proxy may be put before. Kafka reports its own address to its clients. */
export type Proxied = 'redis' | 'postgres' | 'upstream' | 'keys' | 'usage';

export interface FleetServers {
  databaseUrl: string;
  redis: RedisAddress;
  /** A broker of its own: topics and groups of a fleet have fixed names. */
  kafka: OwnKafka;
  /** Servers of this fleet alone, to be broken. */
  own: ReadonlyMap<'postgres' | 'redis' | 'kafka', OwnServer>;
}

export interface FleetServersOptions {
  /** A PostgreSQL and a Redis of its own, to be broken; default: a database on each of those that the run shares. */
  hasOwnServers?: boolean;
  /** A Redis Cluster of three masters and three replicas instead of one Redis; it is shared and not to be broken. */
  hasCluster?: boolean;
}

/** Real Kafka with the fleet's topics, Redis and an empty PostgreSQL. */
export async function startServers(
  options: FleetServersOptions,
  undo: (() => unknown)[],
): Promise<FleetServers> {
  const { hasOwnServers = false, hasCluster = false } = options;
  const [postgres, redis, kafka] = await Promise.all([
    hasOwnServers ? ownPostgres() : testPostgres(),
    hasCluster ? testRedisCluster() : hasOwnServers ? ownRedis() : testRedis(),
    ownKafka(),
  ]);
  undo.push(() => Promise.all([postgres.drop(), 'drop' in redis && redis.drop(), kafka.server.drop()]));
  await kafka.createFleetTopics({ isPrefixed: false });
  const own = new Map<'postgres' | 'redis' | 'kafka', OwnServer>([['kafka', kafka.server]]);
  if ('restart' in postgres) own.set('postgres', postgres);
  if ('restart' in redis) own.set('redis', redis);
  return {
    databaseUrl: 'restart' in postgres ? postgres.address : postgres.url,
    redis:
      'nodes' in redis
        ? { clusterNodes: redis.nodes }
        : { url: 'restart' in redis ? redis.address : redis.url },
    kafka,
    own,
  };
}

/** A proxy before each address that is not empty. @returns the proxies, and the addresses as the services see them */
export async function startProxies(
  real: Readonly<Record<Proxied, string>>,
  undo: (() => unknown)[],
): Promise<{ proxies: Map<Proxied, FaultProxy>; seen: Record<Proxied, string> }> {
  const proxies = new Map<Proxied, FaultProxy>();
  const seen = { ...real };
  for (const name of (Object.keys(real) as Proxied[]).filter((name) => real[name] !== '')) {
    const proxy = await startFaultProxy(real[name]);
    undo.push(() => proxy.close());
    proxies.set(name, proxy);
    const url = new URL(real[name]);
    url.host = proxy.address;
    seen[name] = url.href.replace(/\/$/, '');
  }
  return { proxies, seen };
}
