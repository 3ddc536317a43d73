import type { Clock, LimitStore, Random } from '@gateway/contracts';
import { RedisLimitStore, type ScriptRunner } from '@gateway/limits';
import { Cluster, Redis } from 'ioredis';
import { SystemClock } from '@gateway/platform';
import { ClusterScriptRunner } from './cluster-script-runner.js';
import { RedisBreaker } from './redis-breaker.js';
import { IoredisScriptRunner } from './script-runner.js';
import { TimedCalls } from './timed-calls.js';

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
  /** Bound of one command; default 150. Short only where something else decides when it is over. */
  commandTimeoutMs?: number;
  /** For tests. */
  clock?: Clock;
};

export interface RedisConnection {
  client: Redis | Cluster;
  /** With the breaker in front, one per node. */
  runner: ScriptRunner;
  /** Whether a call for this key would fail without being sent: not connected, or its node's breaker is open. */
  isAway(key: string): boolean;
  /** A key of each node that takes writes, as its hash tag. */
  tags(): string[];
  close(): void;
}

/**
 * Of a script or a probe, once what has arrived is read. An edge, which goes on with its local share, is told a shorter
 * one: see `REDIS_COMMAND_TIMEOUT_MS`.
 */
const COMMAND_TIMEOUT_MS = 150;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_MAX_MS = 250;
const SLOTS_REFRESH_MS = 2_000;

/**
 * A connection that never queues and never sends twice (reliability 0): a command that cannot be answered now fails
 * now, and admission says 503. It connects by itself, whenever Redis is there.
 */
export function connectRedis(options: RedisOptions): RedisConnection {
  const { clientName, clock = new SystemClock(), onNotice, onBreaker } = options;
  const { commandTimeoutMs = COMMAND_TIMEOUT_MS } = options;
  const settings = {
    connectionName: clientName,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: reconnectDelayMs,
  };
  const calls = new TimedCalls(commandTimeoutMs, clock);
  const breakerOf = (node: Redis): RedisBreaker =>
    new RedisBreaker({
      runner: bounded(new IoredisScriptRunner(node, clock), calls),
      probe: () => calls.inTime(node.ping()),
      clock,
      commandTimeoutMs,
      reconnect: () => node.disconnect(true),
      onChange: (state) => {
        onBreaker?.(state);
        onNotice?.(new Error(`The breaker of Redis ${node.options.host}:${node.options.port} is ${state}.`));
      },
    });
  if ('url' in options) {
    const client = new Redis(options.url, settings);
    client.on('error', (error: Error) => onNotice?.(error));
    const breaker = breakerOf(client);
    const isAway = (key: string): boolean => breaker.isAway(key);
    return { client, runner: breaker, isAway, tags: () => ['0'], close: () => closeBoth(breaker, client) };
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
  return {
    client,
    runner,
    isAway: (key) => runner.isAway(key),
    tags: () => runner.tags(),
    close: () => closeBoth(runner, client),
  };
}

/** Makes the limit store of a service from the fleet's address of Redis. */
export type LimitStoreFactory = (options: RedisOptions & { clock: Clock; random: Random }) => LimitStore;

/** The limit store of a fleet, over a connection of its own, which it closes. */
export class ConnectedLimitStore extends RedisLimitStore {
  private readonly connection: RedisConnection;

  constructor(options: RedisOptions & { random: Random }) {
    const connection = connectRedis(options);
    super({ runner: connection.runner, random: options.random });
    this.connection = connection;
  }

  isAway(accountId: string): boolean {
    return this.connection.isAway(`acct:{${accountId}}`);
  }

  override watched(): string[] {
    return this.connection.tags().map((tag) => `acct_watch-${tag}`);
  }

  override async close(): Promise<void> {
    this.connection.close();
  }
}

function bounded(runner: ScriptRunner, calls: TimedCalls): ScriptRunner {
  return {
    runId: (key) => runner.runId(key),
    run: (script, keys, args) => calls.inTime(runner.run(script, keys, args)),
  };
}

function closeBoth(runner: { close(): void }, client: Redis | Cluster): void {
  runner.close();
  client.disconnect();
}

function reconnectDelayMs(attempt: number): number {
  return Math.min(50 * attempt, RECONNECT_MAX_MS);
}
