import { eventually } from '@gateway/testing';
import { startLoad } from './harness/callers.js';
import { startDoubledFleet, type DoubledFleet } from './harness/doubled-fleet.js';
import { START_MS } from './harness/modes.js';
import { startTcpBalancer } from './harness/tcp-balancer.js';

/** Requests at least; more where the restarts take longer. */
const REQUESTS = Number(process.env.DRILL_REQUESTS ?? 1_000);
/** Each has a key of its own, because of the most requests a minute of one. */
const CALLERS = 6;
const PROBE_EVERY_MS = 1_000;
const OUT_OF_TIME = /is overloaded|No answer within|answered 503/;
const HANG_MS = 1_800_000;

describe('a fleet with two of each service behind balancers of TCP that send nothing twice', () => {
  let doubled: DoubledFleet;

  beforeAll(async () => {
    // The drain has the defaults of a fleet.
    const drain = { DRAIN_ACCEPT_MS: '', DRAIN_GRACE_MS: '' };
    doubled = await startDoubledFleet(() => startTcpBalancer(PROBE_EVERY_MS), drain);
  }, START_MS);
  afterAll(() => doubled?.stop(), START_MS);

  /** True for a 503 of a process that had no time: the machine's doing, whoever restarts. The log of its edge says so. */
  function isOverload(failure: string): boolean {
    const [requestId] = /req_[\w-]+/.exec(failure) ?? [];
    if (requestId === undefined || !failure.includes('service_unavailable')) return false;
    const isItsLine = (line: string): boolean => line.includes(requestId) && OUT_OF_TIME.test(line);
    return doubled.all().some((one) => one.output().split('\n').some(isItsLine));
  }

  it(
    'U09 a rolling restart of all services fails no request, cuts no stream, and loses no event',
    async () => {
      const { balancers, database, person } = doubled;
      const keys = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) => person.createKey(`caller ${n}`, { rpm: 1_000 })),
      );
      const loads = keys.map(({ key }) =>
        startLoad({ url: balancers.edge.url, key }, { callers: 1, pauseMs: 65, mostRetries: 0 }),
      );
      const answers = (): number =>
        loads.flatMap((load) => Object.values(load.soFar().answered)).reduce((sum, n) => sum + n, 0);
      await eventually(() => answers() > 100, { timeoutMs: 60_000 });
      await doubled.restartAll();
      await eventually(() => answers() >= REQUESTS, { timeoutMs: HANG_MS, intervalMs: 500 });
      const results = await Promise.all(loads.map((load) => load.stop()));
      const failed = results.flatMap((result) => result.failed);
      process.stdout.write(`${answers()} answers; failed: ${JSON.stringify(failed, null, 1)}\n`);
      expect(failed.filter((failure) => !isOverload(failure))).toEqual([]);
      // Neither was another service's answer that stands behind one of those.
      const refused = doubled.all().flatMap((one) =>
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
