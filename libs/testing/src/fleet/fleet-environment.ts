import type { FleetServers, Proxied } from './fleet-servers.js';

export const FLEET_APPS = ['edge', 'catalogue', 'keys', 'usage', 'notifications', 'workers'] as const;
export type FleetApp = (typeof FLEET_APPS)[number];

interface Surroundings {
  servers: FleetServers;
  seen: Readonly<Record<Proxied, string>>;
  urls: Readonly<Record<FleetApp, string>>;
  fleetToken: string;
  journalFolder: string;
}

/** Returns the variables of every service of a fleet. */
export function environmentOf({
  servers,
  seen,
  urls,
  fleetToken,
  journalFolder,
}: Surroundings): Record<string, string> {
  const { redis, kafka } = servers;
  const nodes = 'clusterNodes' in redis ? redis.clusterNodes.map(({ host, port }) => `${host}:${port}`) : [];
  return {
    HOST: '127.0.0.1',
    DRAIN_ACCEPT_MS: '0',
    DRAIN_GRACE_MS: '10000',
    LOG_LEVEL: 'info',
    FLEET_TOKEN: fleetToken,
    DATABASE_URL: seen.postgres,
    REDIS_URL: seen.redis,
    REDIS_CLUSTER_NODES: nodes.join(','),
    KAFKA_BROKERS: kafka.brokers.join(','),
    ...Object.fromEntries(FLEET_APPS.map((app) => [`${app.toUpperCase()}_URL`, urls[app]])),
    KEYS_URL: seen.keys,
    USAGE_URL: seen.usage,
    KEYS_MIGRATE_AT_START: 'true',
    USAGE_MIGRATE_AT_START: 'true',
    NOTIFICATIONS_MIGRATE_AT_START: 'true',
    CATALOGUE_MIGRATE_AT_START: 'true',
    WORKERS_MIGRATE_AT_START: 'true',
    KEYS_PEPPER: Buffer.alloc(32, 1).toString('base64'),
    KEYS_KEK: Buffer.alloc(32, 2).toString('base64'),
    EDGE_REPLICAS: '1',
    NOTIFICATIONS_KEK: Buffer.alloc(32, 3).toString('base64'),
    USAGE_KEK: Buffer.alloc(32, 4).toString('base64'),
    JOURNAL_DIR: journalFolder,
    SIMULATED_PROVIDER: 'true',
    SIMULATED_API_KEY: 'built-in',
    SIMULATED_BASE_URL: `${seen.upstream}/v1`,
    SIMULATED_MESSAGES_BASE_URL: seen.upstream,
    OBJECT_STORE_PUBLIC_URL: urls.edge,
  };
}
