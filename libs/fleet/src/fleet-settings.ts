import { KafkaConfig } from '@gateway/event-log';
import { ConfigError, FleetConfig, loadConfig, readConfigs } from '@gateway/platform';
import { RedisConfig } from './redis/redis.config.js';

/** Settings of every process of a fleet. The services' own settings are classes of their own. */
export type FleetSettings = Readonly<FleetConfig & KafkaConfig & RedisConfig>;

type NeighbourVariable = 'EDGE_URL' | 'KEYS_URL' | 'CATALOGUE_URL' | 'USAGE_URL' | 'WORKERS_URL';
type Environment = Readonly<Record<string, string | undefined>>;

/** The fleet's settings, and a fault for each neighbour that this app cannot do without and whose address is not set. */
export function readFleetSettings(required: readonly NeighbourVariable[], env: Environment): FleetSettings {
  const { fleet, kafka, redis } = readConfigs({
    fleet: () => loadConfig(FleetConfig, env),
    kafka: () => loadConfig(KafkaConfig, env),
    redis: () => loadConfig(RedisConfig, env),
    neighbours: () => {
      const missing = required.filter((name) => (env[name] ?? '') === '');
      if (missing.length > 0)
        throw new ConfigError(missing.map((name) => `${name} is required: the address of that service`));
    },
  });
  return Object.freeze({ ...fleet, ...kafka, ...redis });
}
