import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisAddress } from '@gateway/fleet';
import {
  eventually,
  ownKafka,
  ownPostgres,
  ownRedis,
  startFaultProxy,
  testRedisCluster,
  type FaultProxy,
  type OwnServer,
} from '@gateway/testing';
import type { Part } from './fault-plan.js';
import { startKnownUpstream } from './known-upstream.js';
import { ProcessPart, type Breakable } from './process-part.js';
import { Reaper } from './reaper.js';
import { mountSmallDisk } from './small-disk.js';

const SERVICES = ['catalogue', 'keys', 'usage', 'notifications', 'workers'] as const;
/** What a proxy may stand before. Kafka tells its clients its own address. */
export type Proxied = 'redis' | 'postgres' | 'upstream' | 'keys' | 'usage';

/** The six services on Kafka, Redis and PostgreSQL of their own, each to be broken. */
export interface ChaosFleet {
  edges: readonly { name: Part; url: string; pid: () => number | null }[];
  parts: ReadonlyMap<Part, Breakable>;
  proxies: ReadonlyMap<Proxied, FaultProxy>;
  databaseUrl: string;
  redis: RedisAddress;
  journalFolder: string;
  keysOutput(): string;
  /** What went wrong by itself since the last call. */
  findings(): string[];
  outputs(): Record<string, string>;
  stop(): Promise<void>;
}

export interface FleetOptions {
  edges: number;
  hasProxies: boolean;
  /** A Redis Cluster of three masters and three replicas instead of one Redis; it is not among the parts. */
  hasCluster: boolean;
  hasSmallDisk: boolean;
  /** Settings of every process, over those of all chaos fleets. */
  env: Readonly<Record<string, string>>;
}

export async function startChaosFleet(options: FleetOptions): Promise<ChaosFleet> {
  const undo: (() => unknown)[] = [];
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopping ??= stopAll());
  const stopAll = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await start(options, undo, stop);
  } catch (failure) {
    await stop();
    throw failure;
  }
}

async function start(
  options: FleetOptions,
  undo: (() => unknown)[],
  stop: () => Promise<void>,
): Promise<ChaosFleet> {
  const [postgres, redis, kafka, upstream] = await Promise.all([
    ownPostgres(),
    options.hasCluster ? null : ownRedis(),
    ownKafka(),
    startKnownUpstream(),
  ]);
  undo.push(() => Promise.all([upstream.close(), postgres.drop(), redis?.drop(), kafka.server.drop()]));
  await kafka.createFleetTopics({ isPrefixed: false });
  const cluster = options.hasCluster ? (await testRedisCluster()).nodes : null;
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  const journalFolder = join(folder, 'journal');
  if (options.hasSmallDisk) undo.push(mountSmallDisk(journalFolder));
  const names: string[] = [...SERVICES, ...Array.from({ length: options.edges }, (_, at) => `edge-${at}`)];
  const ports = await freePorts(names.length);
  const urls = new Map(names.map((name, at) => [name, `http://127.0.0.1:${ports[at]}`]));
  const real = {
    ...{ redis: redis?.address ?? '', postgres: postgres.address, upstream: upstream.url },
    ...{ keys: urls.get('keys') ?? '', usage: urls.get('usage') ?? '' },
  };
  const { proxies, seen } = await withProxies(options.hasProxies, real, undo);
  const nodes = (cluster ?? []).map(({ host, port }) => `${host}:${port}`).join(',');
  const env = {
    ...environment({ ...seen, brokers: kafka.brokers, urls, journalFolder }),
    REDIS_CLUSTER_NODES: nodes,
    ...options.env,
  };
  const findings: string[] = [];
  const reaper = new Reaper();
  undo.push(() => reaper.end());
  const processes = new Map(
    names.map((name) => {
      const app = name.startsWith('edge-') ? 'edge' : name;
      const at = { name, app, url: urls.get(name) ?? '', env: { ...env, JOURNAL_PRODUCER: name } };
      return [name, new ProcessPart(at, (finding) => findings.push(finding), reaper)] as const;
    }),
  );
  undo.push(() => endAll(processes));
  const started = await Promise.allSettled([...processes.values()].map((part) => part.startAgain()));
  for (const result of started) if (result.status === 'rejected') throw result.reason;
  await Promise.all([...urls.values()].map(untilReady));
  const servers = { postgres, kafka: kafka.server, ...(redis !== null && { redis }) };
  const edges = names.filter((name) => name.startsWith('edge-'));
  return {
    edges: edges.map((name) => ({
      name: name as Part,
      url: urls.get(name) ?? '',
      pid: () => processes.get(name)?.pid ?? null,
    })),
    parts: new Map<Part, Breakable>([
      ...[...processes].map(([name, part]) => [name as Part, part] as const),
      ...Object.entries(servers).map(([name, server]) => [name as Part, serverPart(server)] as const),
    ]),
    proxies,
    databaseUrl: postgres.address,
    redis: cluster === null ? { url: real.redis } : { clusterNodes: cluster },
    journalFolder,
    keysOutput: () => processes.get('keys')?.output() ?? '',
    findings: () => findings.splice(0),
    outputs: () => Object.fromEntries([...processes].map(([name, part]) => [name, part.output()])),
    stop,
  };
}

/** Edges first, so that what they finished is still taken. */
async function endAll(processes: ReadonlyMap<string, ProcessPart>): Promise<void> {
  const isEdge = (name: string): boolean => name.startsWith('edge-');
  for (const edgesNow of [true, false]) {
    const parts = [...processes].filter(([name]) => isEdge(name) === edgesNow);
    await Promise.all(parts.map(([, part]) => part.end()));
  }
}

function serverPart(server: OwnServer): Breakable {
  return {
    kill: async () => server.kill(),
    stop: () => server.freeze(),
    goOn: () => server.thaw(),
    startAgain: () => server.restart(),
  };
}

async function withProxies(
  isWanted: boolean,
  real: Readonly<Record<Proxied, string>>,
  undo: (() => unknown)[],
): Promise<{ proxies: Map<Proxied, FaultProxy>; seen: Record<Proxied, string> }> {
  const proxies = new Map<Proxied, FaultProxy>();
  const seen = { ...real };
  if (!isWanted) return { proxies, seen };
  for (const name of Object.keys(real).filter((name) => real[name as Proxied] !== '') as Proxied[]) {
    const proxy = await startFaultProxy(real[name]);
    undo.push(() => proxy.close());
    proxies.set(name, proxy);
    const url = new URL(real[name]);
    url.host = proxy.address;
    seen[name] = url.href.replace(/\/$/, '');
  }
  return { proxies, seen };
}

function environment(
  at: Record<Proxied, string> & {
    brokers: string[];
    urls: ReadonlyMap<string, string>;
    journalFolder: string;
  },
): Record<string, string> {
  const emptied = ['DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS', 'GATEWAY_DATA_DIR', 'NODE_OPTIONS'];
  return {
    ...Object.fromEntries(emptied.map((name) => [name, ''])),
    HOST: '127.0.0.1',
    DRAIN_GRACE_MS: '5000',
    LOG_LEVEL: 'info',
    FLEET_TOKEN: randomBytes(32).toString('base64url'),
    DATABASE_URL: at.postgres,
    REDIS_URL: at.redis,
    KAFKA_BROKERS: at.brokers.join(','),
    // The partitions of a consumer that was killed are another's after so long.
    KAFKA_SESSION_TIMEOUT_MS: '6000',
    ...Object.fromEntries([...at.urls].map(([name, url]) => [`${name.toUpperCase()}_URL`, url])),
    KEYS_URL: at.keys,
    USAGE_URL: at.usage,
    EDGE_URL: at.urls.get('edge-0') ?? '',
    KEYS_MIGRATE_AT_START: 'true',
    USAGE_MIGRATE_AT_START: 'true',
    CATALOGUE_MIGRATE_AT_START: 'true',
    KEYS_OPENING_CREDIT_USD: '1000000',
    KEYS_PEPPER: Buffer.alloc(32, 1).toString('base64'),
    KEYS_KEK: Buffer.alloc(32, 2).toString('base64'),
    JOURNAL_DIR: at.journalFolder,
    SIMULATED_PROVIDER: 'true',
    SIMULATED_API_KEY: 'built-in',
    SIMULATED_BASE_URL: `${at.upstream}/v1`,
    SIMULATED_MESSAGES_BASE_URL: at.upstream,
  };
}

async function untilReady(url: string): Promise<void> {
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
  await eventually(isReady, { timeoutMs: 150_000, intervalMs: 50 });
}

async function freePorts(count: number): Promise<number[]> {
  const listen = (): Promise<ReturnType<typeof createServer>> =>
    new Promise((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
    });
  const servers = await Promise.all(Array.from({ length: count }, listen));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
