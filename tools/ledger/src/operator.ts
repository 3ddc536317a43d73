import { ConnectedLimitStore, type RedisAddress } from '@gateway/fleet';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { LedgerOperator } from '@gateway/usage';
import { pino } from 'pino';

type Environment = Readonly<Record<string, string | undefined>>;

const CONNECT_MS = 5_000;

/** An operator on the fleet's own servers, by the variables that the usage service reads. Throws Error without them. */
export async function openOperator(env: Environment): Promise<LedgerOperator> {
  const databaseUrl = env['USAGE_DATABASE_URL'] ?? env['DATABASE_URL'];
  const redis = redisAddress(env);
  if (!databaseUrl || redis === null)
    throw new Error('Set DATABASE_URL (or USAGE_DATABASE_URL), and REDIS_URL or REDIS_CLUSTER_NODES.');
  const [clock, random] = [new SystemClock(), new SystemRandom()];
  const limits = new ConnectedLimitStore({
    ...redis,
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
  return new LedgerOperator({ databaseUrl, limits, clock, random, logger });
}

function redisAddress(env: Environment): RedisAddress | null {
  const nodes = env['REDIS_CLUSTER_NODES'];
  const url = env['REDIS_URL'];
  if (nodes === undefined || nodes === '') return url ? { url } : null;
  const password = env['REDIS_PASSWORD'];
  const clusterNodes = nodes.split(',').map((node) => {
    const [host, port] = node.trim().split(':');
    return { host, port: Number(port) };
  });
  return { clusterNodes, ...(password ? { password } : {}) };
}
