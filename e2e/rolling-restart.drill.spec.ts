import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import { eventually, type FleetApp, type ServiceProcess } from '@gateway/testing';
import { Client } from 'pg';
import type { Balancer } from './harness/balancer.js';
import { startLoad } from './harness/callers.js';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { logIn, type PersonSession } from './harness/session.js';
import { startTcpBalancer } from './harness/tcp-balancer.js';

/** Apps whose restart a caller could notice: two of each. */
const TWICE = ['catalogue', 'keys', 'usage', 'edge'] as const;
const ALL = ['catalogue', 'keys', 'usage', 'notifications', 'workers', 'edge'] as const;
/** Requests at least; more where the restarts take longer. */
const REQUESTS = Number(process.env.DRILL_REQUESTS ?? 1_000);
/** Each has a key of its own, because of the most requests a minute of one. */
const CALLERS = 6;
const PROBE_EVERY_MS = 1_000;
const OUT_OF_TIME = /is overloaded|No answer within|answered 503/;
const HANG_MS = 1_800_000;

describe('a fleet with two of each service behind balancers of TCP that send nothing twice', () => {
  let fleet: Fleet;
  let upstream: UpstreamSim;
  let person: PersonSession;
  let database: Client;
  const balancers = {} as Record<(typeof TWICE)[number], Balancer>;
  const second = new Map<FleetApp, ServiceProcess>();

  beforeAll(async () => {
    upstream = await startUpstreamSim();
    for (const app of TWICE) balancers[app] = await startTcpBalancer(PROBE_EVERY_MS);
    const addresses = TWICE.map((app) => [`${app.toUpperCase()}_URL`, balancers[app].url]);
    fleet = await startFleet({
      env: {
        all: {
          ...(Object.fromEntries(addresses) as Record<string, string>),
          SIMULATED_BASE_URL: `${upstream.url}/v1`,
          SIMULATED_MESSAGES_BASE_URL: upstream.url,
          // The defaults of a fleet.
          DRAIN_ACCEPT_MS: '',
          DRAIN_GRACE_MS: '',
        },
      },
      onAddresses: (urls) => TWICE.forEach((app) => balancers[app].add(urls[app])),
    });
    const started = await Promise.allSettled(
      TWICE.map(async (app) => {
        const replica = await fleet.startReplica(app);
        second.set(app, replica);
        balancers[app].add(replica.url);
      }),
    );
    for (const result of started) if (result.status === 'rejected') throw result.reason;
    person = await logIn(fleet);
    database = new Client({ connectionString: fleet.databaseUrl });
    await database.connect();
  }, START_MS);
  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
    for (const app of TWICE) await balancers[app]?.close();
    await upstream?.close();
  }, START_MS);

  const all = (): ServiceProcess[] => [...ALL.map((app) => fleet.process(app)), ...second.values()];

  /** The first replicas of all services side by side, then the second ones. */
  async function restartAll(): Promise<void> {
    for (const replicas of [ALL.map((app) => fleet.process(app)), [...second.values()]]) {
      const restarted = await Promise.allSettled(
        replicas.map(async (one) => {
          expect([one.name, await one.end()]).toEqual([one.name, 0]);
          await one.restart();
        }),
      );
      for (const result of restarted) if (result.status === 'rejected') throw result.reason;
    }
  }

  /** True for a 503 of a process that had no time: the machine's doing, whoever restarts. The log of its edge says so. */
  function isOverload(failure: string): boolean {
    const [requestId] = /req_[\w-]+/.exec(failure) ?? [];
    if (requestId === undefined || !failure.includes('service_unavailable')) return false;
    const isItsLine = (line: string): boolean => line.includes(requestId) && OUT_OF_TIME.test(line);
    return all().some((one) => one.output().split('\n').some(isItsLine));
  }

  it(
    'U09 a rolling restart of all services fails no request, cuts no stream, and loses no event',
    async () => {
      const keys = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) => person.createKey(`caller ${n}`, { rpm: 1_000 })),
      );
      const loads = keys.map(({ key }) =>
        startLoad({ url: balancers.edge.url, key }, { callers: 1, pauseMs: 65, mostRetries: 0 }),
      );
      const answers = (): number =>
        loads.flatMap((load) => Object.values(load.soFar().answered)).reduce((sum, n) => sum + n, 0);
      await eventually(() => answers() > 100, { timeoutMs: 60_000 });
      await restartAll();
      await eventually(() => answers() >= REQUESTS, { timeoutMs: HANG_MS, intervalMs: 500 });
      const results = await Promise.all(loads.map((load) => load.stop()));
      const failed = results.flatMap((result) => result.failed);
      process.stdout.write(`${answers()} answers; failed: ${JSON.stringify(failed, null, 1)}\n`);
      expect(failed.filter((failure) => !isOverload(failure))).toEqual([]);
      // Neither was another service's answer that stands behind one of those.
      const refused = all().flatMap((one) =>
        one
          .output()
          .split('\n')
          .filter((line) => line.includes('service_draining')),
      );
      expect(refused).toEqual([]);
      for (const { answered } of results) expect(Object.keys(answered)).toHaveLength(7);

      const inferred = results.flatMap((result) => result.inferred);
      const found = async (): Promise<string[]> => {
        const { rows } = await database.query<{ request_id: string }>(
          "select request_id from usage.usage_event where key_id = any($1) and status = 'success'",
          [keys.map(({ id }) => id)],
        );
        return rows.map(({ request_id }) => request_id);
      };
      await eventually(async () => (await found()).length >= inferred.length, { timeoutMs: 60_000 });
      expect((await found()).toSorted()).toEqual(inferred.toSorted());
    },
    HANG_MS,
  );
});
