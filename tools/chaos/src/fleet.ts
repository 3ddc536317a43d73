import { startFleet, type Breakable, type Fleet, type FleetOptions } from '@gateway/testing';
import type { Part } from './fault-plan.js';
import { startKnownUpstream } from './known-upstream.js';
import { mountSmallDisk } from './small-disk.js';

/** The six services on Kafka, Redis and PostgreSQL of their own, each to be broken. */
export interface ChaosFleet extends Fleet {
  parts: ReadonlyMap<Part, Breakable>;
  outputs(): Record<string, string>;
}

export interface ChaosFleetOptions extends Required<
  Pick<FleetOptions, 'edges' | 'hasProxies' | 'hasCluster'>
> {
  hasSmallDisk: boolean;
  /** Settings of every process, over those of all chaos fleets. */
  env: Readonly<Record<string, string>>;
}

const ENVIRONMENT = {
  DRAIN_GRACE_MS: '5000',
  // The partitions of a consumer that was killed are another's after so long.
  KAFKA_SESSION_TIMEOUT_MS: '6000',
  KEYS_OPENING_CREDIT_USD: '1000000',
};

export async function startChaosFleet(options: ChaosFleetOptions): Promise<ChaosFleet> {
  const { edges, hasProxies, hasCluster, hasSmallDisk, env } = options;
  const upstream = await startKnownUpstream();
  const fleet = await startFleet({
    ...{ edges, hasProxies, hasCluster, hasOwnServers: true, isSupervised: true, upstream: upstream.url },
    onJournalFolder: hasSmallDisk ? mountSmallDisk : undefined,
    env: { all: { ...ENVIRONMENT, ...env } },
  }).catch(async (failure: unknown) => {
    await upstream.close();
    throw failure;
  });
  let stopping: Promise<Record<string, number | string>> | null = null;
  return {
    ...fleet,
    parts: new Map<Part, Breakable>([...fleet.processes, ...fleet.own] as [Part, Breakable][]),
    // A signal may ask for the end while the run ends by itself.
    stop: () => (stopping ??= fleet.stop().finally(() => upstream.close())),
  };
}
