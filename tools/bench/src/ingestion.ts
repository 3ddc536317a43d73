import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { CatalogueSnapshot, Route } from '@gateway/contracts';
import { KafkaEventLog } from '@gateway/event-log';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { Client } from 'pg';
import { IngestionUnits } from './ingestion-units.js';
import { processorSeconds } from './proc.js';
import { root, start, type Started } from './processes.js';

/** How fast one usage service takes finished units from Kafka into the ledger and reports to Redis. */
export interface IngestionFigures {
  accounts: number;
  events: number;
  eventsPerSecond: number;
  recordsPerBatch: number;
  /** Processor time per event in microseconds: it holds on a box that others use as well. */
  usageUs: number;
  postgresUs: number;
  redisUs: number;
}

export interface IngestionOptions {
  /** Each with one key in a team of an organization: an event raises six spend scopes. */
  accounts: number;
  events: number;
  /** Appends so many a second to the running service in place of a full topic: what a busy fleet costs. */
  perSecond?: number;
  /** Arguments of Node for the usage service, for example --cpu-prof. */
  nodeArgs?: string[];
  /** Told of the addresses before the measured part and after it, for a look at statistics. */
  look?: (databaseUrl: string, when: 'before' | 'after') => Promise<void>;
}

type Servers = Readonly<Record<string, string>>;

const RUN_TS = ['--no-warnings', '--import', './tools/infra/run-ts.mjs'];
const TOPIC = 'gateway.usage.v1';
const WARM_UP = 4_000;
const APPEND = 2_000;
const FEED_MS = 10;
const LIMIT_MS = 300_000;

/**
 * Fills the topic while the usage service is stopped by SIGSTOP, lets it go and takes the time until the ledger holds
 * everything. Kafka, Redis and PostgreSQL are real and of this run; PostgreSQL syncs nothing to the disk.
 */
export async function measureIngestion(options: IngestionOptions): Promise<IngestionFigures> {
  const running: Started[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const servers = await startServers(running);
    const usage = await startApp('usage', servers, running, options.nodeArgs);
    const database = new Client({ connectionString: servers['DATABASE_URL'] });
    await database.connect();
    closing.push(() => database.end());
    const sources = { clock: new SystemClock(), random: new SystemRandom() };
    const brokers = servers['KAFKA_BROKERS'].split(',');
    const log = new KafkaEventLog({ brokers, clientId: 'bench-ingestion', ...sources });
    closing.push(() => log.close());
    const units = new IngestionUnits(options.accounts, await somePrice(servers, running), sources);
    return await measure(options, { servers, usage, database, log, units });
  } finally {
    for (const close of closing.reverse()) await close();
    for (const program of running.reverse()) await program.stop();
  }
}

interface Bench {
  servers: Servers;
  usage: Started;
  database: Client;
  log: KafkaEventLog;
  units: IngestionUnits;
}

async function measure(options: IngestionOptions, bench: Bench): Promise<IngestionFigures> {
  const { servers, usage, database, log, units } = bench;
  const { accounts, events } = options;
  await fill(log, units, WARM_UP);
  await untilApplied(database, units.seq);
  const metricsUrl = `${servers['USAGE_URL']}/metrics`;
  const batches = await batchCount(metricsUrl);
  if (options.perSecond === undefined) {
    process.kill(usage.pid, 'SIGSTOP');
    await fill(log, units, events);
  }
  await options.look?.(servers['DATABASE_URL'], 'before');
  const pids = await serverPids(database, servers);
  const before = times(usage.pid, pids);
  const begin = performance.now();
  if (options.perSecond === undefined) process.kill(usage.pid, 'SIGCONT');
  else await feed(log, units, events, options.perSecond);
  await untilApplied(database, units.seq);
  const seconds = (performance.now() - begin) / 1_000;
  const after = times(usage.pid, pids);
  await options.look?.(servers['DATABASE_URL'], 'after');
  const us = (name: keyof typeof after): number => ((after[name] - before[name]) / events) * 1e6;
  return {
    accounts,
    events,
    eventsPerSecond: events / seconds,
    recordsPerBatch: events / ((await batchCount(metricsUrl)) - batches),
    usageUs: us('usage'),
    postgresUs: us('postgres'),
    redisUs: us('redis'),
  };
}

async function startServers(running: Started[]): Promise<Servers> {
  const infra = await start({
    args: [...RUN_TS, 'tools/infra/src/cli.ts', 'up'],
    readyWhen: /^(\{.*KAFKA_BROKERS.*\})$/m,
  });
  running.push(infra);
  const addresses = JSON.parse(infra.ready[1]) as Record<string, string>;
  execFileSync(process.execPath, ['dist/tools/infra/src/kafka-topics-main.js', '--replication', '1'], {
    cwd: root,
    env: { ...process.env, ...addresses },
    stdio: 'ignore',
  });
  const [usagePort, cataloguePort] = [await freePort(), await freePort()];
  return {
    ...addresses,
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    FLEET_TOKEN: randomBytes(32).toString('base64url'),
    USAGE_URL: `http://127.0.0.1:${usagePort}`,
    CATALOGUE_URL: `http://127.0.0.1:${cataloguePort}`,
    // Nobody asks the keys service here.
    KEYS_URL: 'http://127.0.0.1:9',
    USAGE_MIGRATE_AT_START: 'true',
    CATALOGUE_MIGRATE_AT_START: 'true',
    SIMULATED_PROVIDER: 'true',
  };
}

async function startApp(
  app: 'usage' | 'catalogue',
  servers: Servers,
  running: Started[],
  nodeArgs: string[] = [],
): Promise<Started> {
  const url = servers[`${app.toUpperCase()}_URL`];
  const started = await start({
    args: [...nodeArgs, `dist/apps/${app}/src/main.js`],
    env: { ...servers, LOG_LEVEL: 'info', PORT: new URL(url).port, METRICS_PORT: new URL(url).port },
    readyWhen: /"msg":"listening"/,
  });
  running.push(started);
  return started;
}

/** A priced route of the catalogue, so that the service prices each unit again as it does in a fleet. */
async function somePrice(
  servers: Servers,
  running: Started[],
): Promise<{ snapshotId: string; route: Route }> {
  await startApp('catalogue', servers, running);
  const answer = await fetch(`${servers['CATALOGUE_URL']}/internal/catalogue/snapshot`, {
    headers: { 'x-fleet-token': servers['FLEET_TOKEN'] },
  });
  if (!answer.ok) throw new Error(`The catalogue answered ${answer.status}.`);
  const snapshot = (await answer.json()) as CatalogueSnapshot;
  const model = snapshot.models.find(({ record }) => record.id === 'simulator/chat');
  if (model === undefined) throw new Error('The catalogue has no simulated model.');
  return { snapshotId: snapshot.id, route: model.routes[0] };
}

async function fill(log: KafkaEventLog, units: IngestionUnits, count: number): Promise<void> {
  for (let left = count; left > 0; left -= APPEND) {
    const records = Array.from({ length: Math.min(left, APPEND) }, () => units.next(TOPIC));
    await log.append(TOPIC, records);
  }
}

/** As shippers do: a small append every few milliseconds. */
async function feed(
  log: KafkaEventLog,
  units: IngestionUnits,
  count: number,
  perSecond: number,
): Promise<void> {
  const begin = performance.now();
  for (let sent = 0; sent < count; await pause(FEED_MS)) {
    const due = Math.min(count, Math.ceil(((performance.now() - begin) / 1_000) * perSecond));
    await log.append(
      TOPIC,
      Array.from({ length: due - sent }, () => units.next(TOPIC)),
    );
    sent = due;
  }
}

/** The watermark costs the database hardly anything to read. */
async function untilApplied(database: Client, seq: number): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (performance.now() < end) {
    const { rows } = await database.query<{ applied: string }>(
      `SELECT coalesce(sum(upper(r) - lower(r)), 0)::text AS applied FROM usage.producer, unnest(applied) AS r`,
    );
    if (Number(rows[0].applied) >= seq) return;
    await pause(20);
  }
  throw new Error('The usage service did not post everything in time.');
}

async function batchCount(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^gateway_usage_batch_records_count\S* (\d+)/m.exec(text)?.[1] ?? Number.NaN);
}

interface ServerPids {
  postmaster: number;
  redis: number;
}

async function serverPids(database: Client, servers: Servers): Promise<ServerPids> {
  const { rows } = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const port = new URL(servers['REDIS_URL']).port;
  const redis = processes().find((pid) => commandLine(pid).includes(`:${port}`));
  return { postmaster: parentOf(rows[0].pid), redis: redis ?? 0 };
}

function times(
  usagePid: number,
  { postmaster, redis }: ServerPids,
): Record<'usage' | 'postgres' | 'redis', number> {
  const family = processes().filter((pid) => pid === postmaster || parentOf(pid) === postmaster);
  return {
    usage: processorSeconds(usagePid),
    postgres: family.reduce((sum, pid) => sum + (processorSeconds(pid) || 0), 0),
    redis: processorSeconds(redis),
  };
}

function processes(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function commandLine(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`);
}

function parentOf(pid: number): number {
  return Number(textOf(`/proc/${pid}/stat`).split(') ')[1]?.split(' ')[1] ?? 0);
}

/** Empty for a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
