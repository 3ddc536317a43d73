import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import type { FleetApp, ServiceProcess } from '@gateway/testing';
import { Client } from 'pg';
import type { Balancer } from './balancer.js';
import { startFleet, type Fleet } from './fleet.js';
import { logIn, type PersonSession } from './session.js';

/** Apps whose restart a caller could notice: two of each, with a balancer before them. */
const TWICE = ['catalogue', 'keys', 'usage', 'edge'] as const;
type DoubledApp = (typeof TWICE)[number];
const ALL: readonly FleetApp[] = ['catalogue', 'keys', 'usage', 'notifications', 'workers', 'edge'];

/** A fleet whose services find each other through balancers, and what a test of its restarts needs beside it. */
export interface DoubledFleet {
  fleet: Fleet;
  upstream: UpstreamSim;
  balancers: Readonly<Record<DoubledApp, Balancer>>;
  second: Readonly<Record<DoubledApp, ServiceProcess>>;
  person: PersonSession;
  database: Client;
  /** Every process. */
  all(): ServiceProcess[];
  /** Restarts the first replicas of all services side by side, then the second ones. */
  restartAll(env?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

/** Waits for all: a process that starts while another fails is known when the fleet is stopped. */
async function together<T>(parts: readonly T[], work: (part: T) => Promise<unknown>): Promise<void> {
  for (const result of await Promise.allSettled(parts.map(work)))
    if (result.status === 'rejected') throw result.reason;
}

/** Restarts a process. The next may follow once the balancer before it, if there is one, has seen that it is ready. */
async function restart(
  one: ServiceProcess,
  env: Record<string, string>,
  balancer: Balancer | undefined,
): Promise<void> {
  const code = await one.end();
  if (code !== 0) throw new Error(`${one.name} ended with ${code}`);
  one.change(env);
  await one.restart();
  await balancer?.untilReady(one.url);
}

/**
 * Starts two of each service behind balancers, with a simulated provider in this process. `folder`: the checkout of
 * another release that they run.
 */
export async function startDoubledFleet(
  startOne: () => Promise<Balancer>,
  env: Record<string, string> = {},
  folder?: string,
): Promise<DoubledFleet> {
  const closing: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    while (closing.length > 0) await closing.pop()?.();
  };
  try {
    const upstream = await startUpstreamSim();
    closing.push(() => upstream.close());
    const balancers = {} as Record<DoubledApp, Balancer>;
    for (const app of TWICE) {
      balancers[app] = await startOne();
      closing.push(() => balancers[app].close());
    }
    const fleet = await startFleet({
      folder,
      env: {
        all: {
          ...Object.fromEntries(TWICE.map((app) => [`${app.toUpperCase()}_URL`, balancers[app].url])),
          SIMULATED_BASE_URL: `${upstream.url}/v1`,
          SIMULATED_MESSAGES_BASE_URL: upstream.url,
          EDGE_REPLICAS: '2',
          ...env,
        },
      },
      onAddresses: (urls) => TWICE.forEach((app) => balancers[app].add(urls[app])),
    });
    closing.push(() => fleet.stop());
    const second = {} as Record<DoubledApp, ServiceProcess>;
    await together(TWICE, async (app) => {
      second[app] = await fleet.startReplica(app);
      balancers[app].add(second[app].url);
    });
    const person = await logIn(fleet);
    const database = new Client({ connectionString: fleet.databaseUrl });
    await database.connect();
    closing.push(() => database.end());
    const first = (): [FleetApp, ServiceProcess][] => ALL.map((app) => [app, fleet.process(app)]);
    const others = (): [FleetApp, ServiceProcess][] => TWICE.map((app) => [app, second[app]]);
    const before: Partial<Record<FleetApp, Balancer>> = balancers;
    return {
      ...{ fleet, upstream, balancers, second, person, database, stop },
      all: () => [...first(), ...others()].map(([, one]) => one),
      restartAll: async (changed = {}) => {
        for (const replicas of [first(), others()])
          await together(replicas, ([app, one]) => restart(one, changed, before[app]));
      },
    };
  } catch (failure) {
    await stop();
    throw failure;
  }
}
