import type { Clock, Random } from '@gateway/contracts';
import { RedisLimitStore, type ScriptRunner } from '@gateway/limits';
import { Cluster, Redis } from 'ioredis';
import { SystemClock } from '../time/system-clock.js';
import { ClusterScriptRunner } from './cluster-script-runner.js';
import { inTime } from './in-time.js';
import { RedisBreaker } from './redis-breaker.js';
import { IoredisScriptRunner } from './script-runner.js';

/** redis://[user:password@]host:port[/database], or some nodes of a cluster: the others are learnt. */
export type RedisAddress =
  { url: string } | { clusterNodes: readonly { host: string; port: number }[]; password?: string };

export type RedisOptions = RedisAddress & {
  /** Name of the service, for Redis's CLIENT LIST. */
  clientName: string;
  /** The connection's own errors, and a breaker that opens or closes; both come right by themselves. */
  onNotice?: (error: Error) => void;
  /** A node's breaker opens, or closes again. */
  onBreaker?: (state: 'open' | 'closed') => void;
  /** For tests. */
  clock?: Clock;
};

export interface RedisConnection {
  client: Redis | Cluster;
  /** With the breaker in front, one per node. */
  runner: ScriptRunner;
  close(): void;
}

/**
 * Of a script or a probe, once what has arrived is read. Longer than the 25 ms it is to be: with no local share of the limits
 * yet, a time-out can only become a 503, and a box whose processors are busy delays a healthy Redis past 25 ms.
 */
const COMMAND_TIMEOUT_MS = 150;
/** The client's own bound, whose timer does not look at what has arrived: it only forgets what nobody awaits. */
const FORGET_COMMAND_MS = 1_000;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_MAX_MS = 500;
const SLOTS_REFRESH_MS = 2_000;

/**
 * A connection that never queues and never sends twice (reliability 0): a command that cannot be answered now fails
 * now, and admission says 503. It connects by itself, whenever Redis is there.
 */
export function connectRedis(options: RedisOptions): RedisConnection {
  const { clientName, clock = new SystemClock(), onNotice, onBreaker } = options;
  const settings = {
    connectionName: clientName,
    commandTimeout: FORGET_COMMAND_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: reconnectDelayMs,
  };
  const breakerOf = (node: Redis): RedisBreaker =>
    new RedisBreaker({
      runner: bounded(new IoredisScriptRunner(node), clock),
      probe: () => inTime(node.ping(), COMMAND_TIMEOUT_MS, clock),
      clock,
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      onChange: (state) => {
        onBreaker?.(state);
        onNotice?.(new Error(`The breaker of Redis ${node.options.host}:${node.options.port} is ${state}.`));
      },
    });
  if ('url' in options) {
    const client = new Redis(options.url, settings);
    client.on('error', (error: Error) => onNotice?.(error));
    const breaker = breakerOf(client);
    return { client, runner: breaker, close: () => closeBoth(breaker, client) };
  }
  const client = new Cluster([...options.clusterNodes], {
    redisOptions: { ...settings, password: options.password },
    enableOfflineQueue: false,
    clusterRetryStrategy: reconnectDelayMs,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
  });
  client.on('error', (error: Error) => onNotice?.(error));
  const runner = new ClusterScriptRunner(client, clock, {
    begin: breakerOf,
    end: (breaker) => breaker.close(),
  });
  return { client, runner, close: () => closeBoth(runner, client) };
}

/** The limit store of a fleet, over a connection of its own, which it closes. */
export class ConnectedLimitStore extends RedisLimitStore {
  private readonly connection: RedisConnection;

  constructor(options: RedisOptions & { random: Random }) {
    const connection = connectRedis(options);
    super({ runner: connection.runner, random: options.random });
    this.connection = connection;
  }

  override async close(): Promise<void> {
    this.connection.close();
  }
}

function bounded(runner: ScriptRunner, clock: Clock): ScriptRunner {
  return {
    runId: (key) => runner.runId(key),
    run: (script, keys, args) => inTime(runner.run(script, keys, args), COMMAND_TIMEOUT_MS, clock),
  };
}

function closeBoth(runner: { close(): void }, client: Redis | Cluster): void {
  runner.close();
  client.disconnect();
}

function reconnectDelayMs(attempt: number): number {
  return Math.min(50 * attempt, RECONNECT_MAX_MS);
}
