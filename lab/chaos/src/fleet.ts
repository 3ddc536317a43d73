import { join } from 'node:path';
import { repository, startFleet, type Breakable, type Fleet, type FleetOptions } from '@gateway/testing';
import type { Part } from './fault-plan.js';
import { startKnownUpstream } from './known-upstream.js';
import { startPgbouncer, type Pooled } from './pgbouncer.js';
import { mountSmallDisk } from './small-disk.js';

/** The six services on Kafka, Redis and PostgreSQL of their own, each to be broken. */
export interface ChaosFleet extends Fleet {
  parts: ReadonlyMap<Part, Breakable>;
  /** Program before the database, with its version. */
  pgbouncer: string | null;
  outputs(): Record<string, string>;
}

export interface ChaosFleetOptions extends Required<
  Pick<FleetOptions, 'edges' | 'hasProxies' | 'hasCluster'>
> {
  hasSmallDisk: boolean;
  hasWrongClock: boolean;
  pgbouncer: string | null;
  isSimulated: boolean;
  /** Settings of every process, over those of all chaos fleets. */
  env: Readonly<Record<string, string>>;
}

const WRONG_CLOCK = join(repository, 'lab/chaos/clock-behind.mjs');

const ENVIRONMENT = {
  DRAIN_ACCEPT_MS: '0',
  DRAIN_GRACE_MS: '5000',
  // The partitions of a consumer that was killed are another's after so long.
  KAFKA_SESSION_TIMEOUT_MS: '6000',
  KEYS_OPENING_CREDIT_USD: '1000000',
};

export async function startChaosFleet(options: ChaosFleetOptions): Promise<ChaosFleet> {
  const { edges, hasProxies, hasCluster, hasSmallDisk, hasWrongClock, pgbouncer, isSimulated, env } = options;
  let version: string | null = null;
  const pooled = async (databaseUrl: string): Promise<Pooled> => {
    const found = await startPgbouncer(pgbouncer ?? '', databaseUrl);
    version = found.version;
    return found;
  };
  const upstream = isSimulated ? null : await startKnownUpstream();
  const fleet = await startFleet({
    ...{ edges, hasProxies, hasCluster, hasOwnServers: true, isSupervised: true, upstream: upstream?.url },
    onJournalFolder: hasSmallDisk ? mountSmallDisk : undefined,
    onDatabase: pgbouncer === null ? undefined : pooled,
    nodeArgs: hasWrongClock ? { edge: ['--enable-source-maps', '--import', WRONG_CLOCK] } : undefined,
    env: { all: { ...ENVIRONMENT, ...env } },
  }).catch(async (failure: unknown) => {
    await upstream?.close();
    throw failure;
  });
  let stopping: Promise<Record<string, number | string>> | null = null;
  return {
    ...fleet,
    pgbouncer: version,
    parts: new Map<Part, Breakable>([...fleet.processes, ...fleet.own] as [Part, Breakable][]),
    // A signal may ask for the end while the run ends by itself.
    stop: () => (stopping ??= fleet.stop().finally(() => upstream?.close())),
  };
}
