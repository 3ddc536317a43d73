import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPIC } from '@gateway/contracts';
import { eventually } from '../eventually.js';
import type { FaultProxy } from '../fault-proxy/fault-proxy.js';
import { keepFiles } from '../leftovers/keep.js';
import { freePorts } from './built-program.js';
import {
  startProxies,
  startServers,
  type FleetServers,
  type FleetServersOptions,
  type Proxied,
} from './fleet-servers.js';
import { environmentOf, FLEET_APPS, type FleetApp } from './fleet-environment.js';
import { FleetProcesses } from './fleet-processes.js';
import type { ServiceProcess } from './service-process.js';

/** Groups that any release joins, and this one. */
const USAGE_GROUPS = [TOPIC.usage, TOPIC.rejections].map((topic) => `usage.${topic}`);
const OWN_USAGE_GROUPS = [...USAGE_GROUPS, `usage.${TOPIC.usageV2}`];

export interface FleetOptions extends FleetServersOptions {
  /** Further variables of one app or, under `all`, of every one. */
  env?: Partial<Record<FleetApp | 'all', Record<string, string>>>;
  /** Arguments of Node for the processes of one app. */
  nodeArgs?: Partial<Record<FleetApp, string[]>>;
  /** Apps to start; default: all six. */
  apps?: readonly FleetApp[];
  /** Default 1; each has a journal of its own. */
  edges?: number;
  /** The provider's origin; default: the simulated provider in this process. */
  upstream?: string;
  /** TCP proxies before what `Proxied` names. */
  hasProxies?: boolean;
  /** True if a process that ends by itself is started again and becomes a finding. */
  isSupervised?: boolean;
  /** Checkout of another release whose build the processes run; default: this repository. */
  folder?: string;
  /** Program with its arguments through which each process starts, and which becomes it. */
  through?: readonly string[];
  /** Called with the addresses before anything starts, for a test that puts something of its own before them. */
  onAddresses?: (urls: Readonly<Record<FleetApp, string>>) => void;
  /** Called with the database before anything starts. @returns variables of every process, and how to undo what it did */
  onDatabase?: (databaseUrl: string) => Promise<{ env: Record<string, string>; stop: () => unknown }>;
  /** Called with the folder of the journals before anything starts. @returns how to undo what it did */
  onJournalFolder?: (folder: string) => () => void;
}

/** The six built services on real servers, each a process at an address of its own. */
export interface Fleet extends FleetServers {
  /** Addresses of the services; the first edge's is the front door. */
  urls: Readonly<Record<FleetApp, string>>;
  /** Processes by name: `keys`, and `edge-0`, `edge-1` … */
  processes: ReadonlyMap<string, ServiceProcess>;
  edges: readonly ServiceProcess[];
  /** The process of a service; of the edge the first. */
  process(app: FleetApp): ServiceProcess;
  /** One more process of a service, ready; the fleet's end is its end too. */
  startReplica(app: FleetApp, env?: Record<string, string>): Promise<ServiceProcess>;
  proxies: ReadonlyMap<Proxied, FaultProxy>;
  fleetToken: string;
  journalFolder: string;
  /** Returns the login that the keys service prints at its first start. */
  firstLogin(): Promise<{ email: string; password: string }>;
  /** Returns the output of each process, by its name. */
  outputs(): Record<string, string>;
  /** Returns the failures since the last call; of a supervised fleet. */
  findings(): string[];
  /** Ends all, edges first, and removes their data. @returns what each process ended with, by its name */
  stop(): Promise<Record<string, number | string>>;
}

/** @throws the first failure of a start, after everything that had started was ended */
export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const undo: (() => unknown)[] = [];
  const undoAll = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await start(options, undo, undoAll);
  } catch (failure) {
    await undoAll();
    throw failure;
  }
}

async function start(
  options: FleetOptions,
  undo: (() => unknown)[],
  undoAll: () => Promise<void>,
): Promise<Fleet> {
  const { apps = FLEET_APPS } = options;
  const servers = await startServers(options, undo);
  const journalFolder = join(mkdtempSync(join(tmpdir(), 'fleet-')), 'journal');
  undo.push(() => {
    keepFiles('journals', journalFolder);
    rmSync(join(journalFolder, '..'), { recursive: true, force: true });
  });
  if (options.onJournalFolder) undo.push(options.onJournalFolder(journalFolder));
  const addresses = await addressesOf(options);
  const { urls } = addresses;
  const real = {
    ...{ redis: 'url' in servers.redis ? servers.redis.url : '', postgres: servers.databaseUrl },
    ...{ upstream: options.upstream ?? (await startSimulator(undo)), keys: urls.keys, usage: urls.usage },
  };
  const { proxies, seen } = options.hasProxies
    ? await startProxies(real, undo)
    : { proxies: new Map<Proxied, FaultProxy>(), seen: real };
  const fleetToken = randomBytes(32).toString('base64url');
  const database = await options.onDatabase?.(servers.databaseUrl);
  if (database !== undefined) undo.push(database.stop);
  const environment = {
    ...environmentOf({ servers, seen, urls, fleetToken, journalFolder }),
    ...options.env?.all,
    ...database?.env,
  };
  const services = new FleetProcesses(environment, options);
  const ended: Record<string, number | string> = {};
  undo.push(async () => Object.assign(ended, await services.endAll()));
  for (const { app, name, url } of addresses.all) if (apps.includes(app)) services.add(app, name, url);
  await services.startAll();
  // A service is ready before its consumers have joined: they may take seconds on a busy machine, and reads do not wait so long.
  if (apps.includes('usage'))
    await servers.kafka.untilJoined(options.folder === undefined ? OWN_USAGE_GROUPS : USAGE_GROUPS);
  const { processes } = services;
  const process = (app: FleetApp): ServiceProcess => {
    const found = processes.get(app === 'edge' ? 'edge-0' : app);
    if (found === undefined) throw new Error(`This fleet has no ${app}.`);
    return found;
  };
  return {
    ...servers,
    ...{ urls, processes, process, proxies, fleetToken, journalFolder },
    edges: [...processes.values()].filter(({ app }) => app === 'edge'),
    startReplica: (app, env) => services.startReplica(app, env),
    firstLogin: async () => {
      const line = await eventually(() => /^(\{"first_login":.*\})$/m.exec(process('keys').output())?.[1]);
      return (JSON.parse(line) as { first_login: { email: string; password: string } }).first_login;
    },
    outputs: () => Object.fromEntries([...processes].map(([name, process]) => [name, process.output()])),
    findings: () => services.findings.splice(0),
    stop: async () => {
      await undoAll();
      return ended;
    },
  };
}

interface Address {
  app: FleetApp;
  name: string;
  url: string;
}

async function addressesOf({
  edges = 1,
  onAddresses,
}: FleetOptions): Promise<{ urls: Record<FleetApp, string>; all: Address[] }> {
  const names = [
    ...FLEET_APPS.filter((app) => app !== 'edge').map((app) => ({ app, name: app })),
    ...Array.from({ length: edges }, (_, at) => ({ app: 'edge' as const, name: `edge-${at}` })),
  ];
  const ports = await freePorts(names.length);
  const all = names.map((named, at): Address => ({ ...named, url: `http://127.0.0.1:${ports[at]}` }));
  // Of several edges the first stands last here, so that its address is the front door's.
  const urls = Object.fromEntries(all.toReversed().map(({ app, url }) => [app, url])) as Record<
    FleetApp,
    string
  >;
  onAddresses?.(urls);
  return { urls, all };
}

async function startSimulator(undo: (() => unknown)[]): Promise<string> {
  // Loaded here: only specs of a whole fleet need its 60 files.
  const { startUpstreamSim } = await import('@gateway/simulator');
  const simulator = await startUpstreamSim({ record: 0 });
  undo.push(() => simulator.close());
  return simulator.url;
}
