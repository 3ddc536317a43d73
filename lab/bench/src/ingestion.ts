import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { KafkaEventLog } from '@gateway/event-log';
import { Client } from 'pg';
import type { IngestionUnits } from './ingestion-units.js';
import { processorSeconds } from './proc.js';
import { root, type Started } from './processes.js';
import { eventLogOf, feed, fill, startApp, startServers, unitsFor, type Servers } from './usage-fleet.js';

/** The speed at which one usage service takes finished units from Kafka into the ledger and reports to Redis. */
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
  /** True: events are written as `npm run ledger -- narrow` has them. */
  isNarrow?: boolean;
  /** Arguments of Node for the usage service, for example --cpu-prof. */
  nodeArgs?: string[];
  /** Called with the addresses before the measured part and after it, for a look at statistics. */
  look?: (databaseUrl: string, when: 'before' | 'after') => Promise<void>;
}

const WARM_UP = 4_000;
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
    if (options.isNarrow === true) narrow(servers);
    const database = new Client({ connectionString: servers['DATABASE_URL'] });
    await database.connect();
    closing.push(() => database.end());
    const log = eventLogOf(servers, 'bench-ingestion');
    closing.push(() => log.close());
    await startApp('catalogue', servers, running);
    const units = await unitsFor(options.accounts, servers);
    return await measure(options, { servers, usage, database, log, units });
  } finally {
    for (const close of closing.reverse()) await close();
    for (const program of running.reverse()) await program.stop();
  }
}

/** A process asks for the form at its first posting, and none has come yet. */
function narrow(servers: Servers): void {
  const env = { ...process.env, ...servers };
  execFileSync(process.execPath, ['dist/tools/ledger/src/main.js', 'narrow', '--yes'], { cwd: root, env });
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
