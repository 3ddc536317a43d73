import { ConnectedLimitStore, HttpSnapshots, redisAddress, RedisConfig } from '@gateway/fleet';
import { kafkaAccess, kafkaClient, KafkaConfig, KafkaEventLog } from '@gateway/event-log';
import {
  InternalHttp,
  loadConfig,
  OrFile,
  readConfigs,
  serviceEnvironment,
  SystemClock,
  SystemRandom,
  ToList,
} from '@gateway/platform';
import { LedgerOperator, UsageConfig } from '@gateway/usage';
import { IsOptional, Matches, MinLength } from 'class-validator';
import { pino } from 'pino';
import { TopicLetters } from './topic-letters.js';

type Environment = Readonly<Record<string, string | undefined>>;

const CONNECT_MS = 5_000;

/**
 * Address of the price snapshots. Without an address no event is priced again, and the report says how many were not.
 */
class CatalogueAddress {
  @IsOptional() @Matches(/^https?:\/\/[^/]+$/) CATALOGUE_URL?: string;
  @IsOptional() @OrFile() @ToList() @MinLength(32, { each: true }) FLEET_TOKEN?: string[];
}

/**
 * An operator on the fleet's own servers, by the variables that the usage service reads. Throws ConfigError with what
 * is wrong.
 */
export async function openOperator(env: Environment): Promise<LedgerOperator> {
  const { usage, redis, address } = readConfigs({
    address: () => loadConfig(CatalogueAddress, env),
    usage: () => loadConfig(UsageConfig, serviceEnvironment('usage', env)),
    redis: () => loadConfig(RedisConfig, env),
  });
  const [clock, random] = [new SystemClock(), new SystemRandom()];
  const limits = new ConnectedLimitStore({
    ...redisAddress(redis),
    clientName: 'ledger-operator',
    commandTimeoutMs: CONNECT_MS,
    clock,
    random,
  });
  const end = clock.monotonic() + CONNECT_MS;
  while (limits.isUnavailable('acct_operator')) {
    if (clock.monotonic() > end) {
      await limits.close();
      throw new Error('Redis cannot be reached.');
    }
    await clock.sleep(20);
  }
  const logger = pino({ level: 'warn' }, pino.destination(2));
  const { CATALOGUE_URL: catalogueUrl, FLEET_TOKEN: [fleetToken] = [] } = address;
  const http =
    catalogueUrl === undefined || fleetToken === undefined
      ? null
      : new InternalHttp({ clock, random, fleetToken, services: { catalogue: catalogueUrl } });
  const catalogue = http && new HttpSnapshots({ http, random });
  return new LedgerOperator({
    databaseUrl: usage.USAGE_DATABASE_URL,
    limits,
    catalogue,
    clock,
    random,
    logger,
  });
}

/** The dead letters of the other services, in the fleet's Kafka; null where the environment names no broker. */
export function openLetters(env: Environment): TopicLetters | null {
  if (!env['KAFKA_BROKERS']) return null;
  const access = { ...kafkaAccess(loadConfig(KafkaConfig, env)), clientId: 'ledger-letters' };
  const [clock, random] = [new SystemClock(), new SystemRandom()];
  const log = new KafkaEventLog({ ...access, clock, random });
  return new TopicLetters({ kafka: kafkaClient(access), log, clock });
}
