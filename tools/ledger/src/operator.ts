import { ConnectedLimitStore, redisAddress, RedisConfig } from '@gateway/fleet';
import { loadConfig, readConfigs, serviceEnvironment, SystemClock, SystemRandom } from '@gateway/platform';
import { LedgerOperator, UsageConfig } from '@gateway/usage';
import { pino } from 'pino';

type Environment = Readonly<Record<string, string | undefined>>;

const CONNECT_MS = 5_000;

/** An operator on the fleet's own servers, by the variables that the usage service reads. Throws ConfigError with what is wrong. */
export async function openOperator(env: Environment): Promise<LedgerOperator> {
  const { usage, redis } = readConfigs({
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
  while (limits.isAway('acct_operator')) {
    if (clock.monotonic() > end) {
      await limits.close();
      throw new Error('Redis cannot be reached.');
    }
    await clock.sleep(20);
  }
  const logger = pino({ level: 'warn' }, pino.destination(2));
  return new LedgerOperator({ databaseUrl: usage.USAGE_DATABASE_URL, limits, clock, random, logger });
}
