import type { Clock, Random } from '@gateway/contracts';
import { LocalShare, RedisLimitStore, type ScriptPipe } from '@gateway/limits';
import { Cluster, Redis, type RedisOptions as IoredisOptions } from 'ioredis';
import { SystemClock } from '@gateway/platform';
import { ClusterPipe } from './cluster-pipe.js';
import { RedisPipe } from './redis-pipe.js';

interface HostAndPort {
  host: string;
  port: number;
}

/** Access to every node; a member here wins over the url's. */
interface RedisAccess {
  username?: string;
  password?: string;
  /** An empty object = the authorities that Node brings; `ca` is PEM. */
  tls?: { ca?: string };
}

/** redis://[user:password@]host:port[/database], some nodes of a cluster (the others are learnt), or sentinels. */
export type RedisAddress = RedisAccess &
  (
    | { url: string }
    | { clusterNodes: readonly HostAndPort[] }
    | { sentinels: readonly HostAndPort[]; name: string; sentinelPassword?: string }
  );

export type RedisOptions = RedisAddress & {
  /** Name of the service, for Redis's CLIENT LIST. */
  clientName: string;
  /** The connection's own errors, and a breaker that opens or closes; both come right by themselves. */
  onNotice?: (error: Error) => void;
  /** A node's breaker opens, or closes again. */
  onBreaker?: (state: 'open' | 'closed') => void;
  /** The least bound of one command; default 150. Short only where something else decides when it is over. */
  commandTimeoutMs?: number;
  /** Clock for tests. */
  clock?: Clock;
};

export interface RedisConnection {
  client: Redis | Cluster;
  /** Scripts, with a breaker for each node. */
  pipe: ScriptPipe;
  /** A key of each node that takes writes, as its hash tag. */
  tags(): string[];
  close(): void;
}

/**
 * Time for a script or a probe, once what has arrived is read. An edge, which goes on with its local share, has a
 * shorter one: see `REDIS_COMMAND_TIMEOUT_MS`.
 */
const COMMAND_TIMEOUT_MS = 150;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_MAX_MS = 250;
const SLOTS_REFRESH_MS = 2_000;

/**
 * A connection that never queues and never sends twice: a command that cannot be answered now fails
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
    ...accessOf(options),
  };
  const pipeOf = (client: Redis): RedisPipe =>
    new RedisPipe({
      client,
      clock,
      timeoutMs: commandTimeoutMs,
      onBreaker: (state) => {
        onBreaker?.(state);
        onNotice?.(
          new Error(`The breaker of Redis ${client.options.host}:${client.options.port} is ${state}.`),
        );
      },
    });
  if (!('clusterNodes' in options)) {
    const client =
      'url' in options
        ? new Redis(urlOf(options), settings)
        : new Redis({ ...settings, ...sentinelsOf(options) });
    client.on('error', (error: Error) => onNotice?.(error));
    const pipe = pipeOf(client);
    return { client, pipe, tags: () => ['0'], close: () => closeBoth(pipe, client) };
  }
  const client = new Cluster([...options.clusterNodes], {
    redisOptions: settings,
    enableOfflineQueue: false,
    clusterRetryStrategy: reconnectDelayMs,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
  });
  client.on('error', (error: Error) => onNotice?.(error));
  const pipe = new ClusterPipe(client, clock, pipeOf);
  return { client, pipe, tags: () => pipe.tags(), close: () => closeBoth(pipe, client) };
}

export type ConnectedLimitOptions = RedisOptions & {
  clock: Clock;
  random: Random;
  /** Edge processes of the fleet, for one of them: while Redis is away it decides by its own share. */
  edges?: number;
};

/** The limit store of a fleet, over a connection of its own, which it closes. */
export class ConnectedLimitStore extends RedisLimitStore {
  private readonly connection: RedisConnection;

  constructor(options: ConnectedLimitOptions) {
    const { clock, random, edges } = options;
    const connection = connectRedis(options);
    const share = edges === undefined ? undefined : new LocalShare(clock, edges);
    super({ pipe: connection.pipe, random, share });
    this.connection = connection;
  }

  override watched(): string[] {
    return this.connection.tags().map((tag) => `acct_watch-${tag}`);
  }

  override async close(): Promise<void> {
    this.connection.close();
  }
}

/** Resolves when commands are taken, whatever fails before that. */
export async function untilReady(client: Redis | Cluster): Promise<void> {
  if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', () => resolve()));
}

function accessOf({ username, password, tls }: RedisAccess): RedisAccess {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
  };
}

/** ioredis would let the credentials of the url win over the options. */
function urlOf({ url, username, password }: RedisAccess & { url: string }): string {
  if (username === undefined && password === undefined) return url;
  const address = new URL(url);
  address.username = '';
  address.password = '';
  return address.href;
}

/** Sentinels have the same TLS as the servers they know, and a password of their own. */
function sentinelsOf(
  options: RedisAccess & { sentinels: readonly HostAndPort[]; name: string; sentinelPassword?: string },
): IoredisOptions {
  const { sentinels, name, sentinelPassword, tls } = options;
  return {
    sentinels: [...sentinels],
    name,
    sentinelRetryStrategy: reconnectDelayMs,
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls }),
  };
}

function closeBoth(pipe: { close(): void }, client: Redis | Cluster): void {
  pipe.close();
  client.disconnect();
}

function reconnectDelayMs(attempt: number): number {
  return Math.min(50 * attempt, RECONNECT_MAX_MS);
}
