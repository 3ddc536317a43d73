import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually, repository, type FleetApp, type ServiceProcess } from '@gateway/testing';
import { startBalancer } from './harness/balancer.js';
import { startLoad } from './harness/callers.js';
import { startDoubledFleet, type DoubledFleet } from './harness/doubled-fleet.js';
import { START_MS } from './harness/modes.js';
import { migrateFurther } from './harness/next-release.js';
import { findingsOf } from './harness/reconcile.js';
import { ask, askOnce, pico, type Answered } from './harness/requests.js';

/** Checkout of the older release, which `npm run upgrade` builds; else both releases are this one. */
const FORMER = process.env.UPGRADE_FROM ?? repository;
/** The order of docs/operations/deploy.md. */
const ORDER: readonly FleetApp[] = ['catalogue', 'notifications', 'workers', 'usage', 'keys', 'edge'];
const CALLERS = 8;
/** Errors of requests that a killed edge was serving; a balancer may not send those again. */
const CUT = /ECONNRESET|EPIPE|terminated|other side closed|socket hang up/;
const LIMIT = 20;
const CAP_USD = '0.0005';
const ROUNDS_MAX = 100;
const HANG_MS = 1_800_000;

const chat = { model: 'simulator/chat', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] };

describe('two of each service of an older release, rolled to this one and back', () => {
  let doubled: DoubledFleet;
  /** Both replicas of each service. */
  let replicas: Readonly<Record<FleetApp, readonly [ServiceProcess, ServiceProcess]>>;

  beforeAll(async () => {
    doubled = await startDoubledFleet(startBalancer, { DRAIN_GRACE_MS: '20000' }, FORMER);
    const { fleet, second } = doubled;
    const others = {
      ...second,
      notifications: await fleet.startReplica('notifications'),
      workers: await fleet.startReplica('workers'),
    };
    replicas = Object.fromEntries(
      ORDER.map((app) => [app, [fleet.process(app), others[app]]]),
    ) as unknown as typeof replicas;
  }, START_MS);
  afterAll(() => doubled?.stop(), START_MS);

  /** Applies the migrations of this release, as the job before a rollout, and those of a release after it. */
  async function migrate(): Promise<void> {
    const { databaseUrl } = doubled.fleet;
    const job = join(repository, 'dist/tools/migrate/src/apply.js');
    const env = { ...process.env, DATABASE_URL: databaseUrl };
    await promisify(execFile)(process.execPath, [job, ...ORDER.filter((app) => app !== 'edge')], { env });
    // So that both releases run on a schema of a later one, also where they are the same.
    await migrateFurther(databaseUrl, FORMER);
  }

  /** Rolls a service: one replica is ended in order, the other one killed. `between` runs while the two are of two releases. */
  async function roll(app: FleetApp, folder: string, between: () => Promise<void>): Promise<void> {
    const balancers: Partial<Record<FleetApp, { untilReady(url: string): Promise<void> }>> =
      doubled.balancers;
    const [ended, killed] = replicas[app];
    expect([app, await ended.end(60_000)]).toEqual([app, 0]);
    for (const one of [ended, killed]) {
      await one.kill();
      one.moveTo(folder);
      await one.restart();
      await balancers[app]?.untilReady(one.url);
      if (one === ended) await between();
    }
  }

  /** Ids of requests to one edge that were answered whole. */
  const served: string[] = [];
  const noted = (answers: readonly Answered[]): number[] => {
    served.push(...answers.filter(({ status }) => status === 200).map(({ requestId }) => requestId));
    return answers.map(({ status }) => status);
  };
  const edges = (): string[] => replicas.edge.map(({ url }) => url);
  const spentBy = async (keyId: string): Promise<{ cost: bigint; events: number }> => {
    const query = "select cost::text from usage.usage_event where key_id = $1 and status = 'success'";
    const { rows } = await doubled.database.query<{ cost: string }>(query, [keyId]);
    return { cost: rows.reduce((sum, { cost }) => sum + pico(cost), 0n), events: rows.length };
  };

  /** A limit of a day over both edges: a request that was answered 503 decides nothing, so the round begins again. */
  async function expectExactLimit(): Promise<void> {
    for (let round = 0; round < 10; round += 1) {
      const { key } = await doubled.person.createKey('a limit', { rpd: LIMIT, rpm: 1_000 });
      const send = (n: number) =>
        askOnce({ url: edges()[n % 2], key }, 'POST', '/v1/chat/completions', { body: chat });
      const statuses = noted(await Promise.all(Array.from({ length: 2 * LIMIT }, (_, n) => send(n))));
      const count = (wanted: number): number => statuses.filter((status) => status === wanted).length;
      if (count(503) > 0) continue;
      expect([count(200), count(429)]).toEqual([LIMIT, LIMIT]);
      return;
    }
    throw new Error('The machine is too busy: every round had a 503.');
  }

  /**
   * A cap over both edges: a request is admitted while what is spent and held is below it, so it is passed by less than
   * one request, and reached.
   */
  async function expectCap(): Promise<void> {
    const { id, key } = await doubled.person.createKey('a cap', { spend_cap_usd: CAP_USD, rpm: 1_000 });
    const four = async (): Promise<number[]> => {
      const asked = [0, 1, 2, 3].map((at) =>
        ask({ url: edges()[at % 2], key }, 'POST', '/v1/chat/completions', { body: chat }),
      );
      return noted(await Promise.all(asked));
    };
    let passed = 0;
    let spent = { cost: 0n, events: 0 };
    // A refusal for what others hold is no last word: settled, they may have left room.
    for (let round = 0; round < ROUNDS_MAX && spent.cost < pico(CAP_USD); round += 1) {
      const statuses = await four();
      expect(statuses.filter((status) => status !== 200 && status !== 402)).toEqual([]);
      passed += statuses.filter((status) => status === 200).length;
      spent = await eventually(
        async () => {
          const now = await spentBy(id);
          return now.events >= passed ? now : undefined;
        },
        { timeoutMs: 60_000 },
      );
    }
    expect(await four()).toEqual([402, 402, 402, 402]);
    spent = await spentBy(id);
    expect(spent.events).toBe(passed);
    expect(spent.cost >= pico(CAP_USD)).toBe(true);
    expect(spent.cost - spent.cost / BigInt(passed) < pico(CAP_USD)).toBe(true);
  }

  it(
    'operations 4: fails no request, loses and doubles nothing, and caps hold over an old and a new edge',
    async () => {
      const { balancers, database, person, fleet } = doubled;
      const keys = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) => person.createKey(`caller ${n}`, { rpm: 1_000 })),
      );
      const loads = keys.map(({ key }) =>
        startLoad({ url: balancers.edge.url, key }, { callers: 1, pauseMs: 80 }),
      );
      const whole = (): number => loads.reduce((sum, load) => sum + load.soFar().inferred.length, 0);
      const more = async (): Promise<void> => {
        const before = whole();
        await eventually(() => whole() > before + 100, { timeoutMs: 120_000 });
      };
      const overBoth = async (): Promise<void> => {
        await expectExactLimit();
        await expectCap();
      };
      const rollAll = async (order: readonly FleetApp[], folder: string): Promise<void> => {
        for (const app of order) await roll(app, folder, app === 'edge' ? overBoth : async () => {});
        await more();
      };
      await more();
      await migrate();
      await more();
      await rollAll(ORDER, repository);
      await rollAll(ORDER.toReversed(), FORMER);

      const results = await Promise.all(loads.map((load) => load.stop()));
      const failed = results.flatMap((result) => result.failed);
      const cut = failed.filter((failure) => CUT.test(failure));
      const inferred = results.flatMap((result) => result.inferred);
      const retried = results.reduce((sum, result) => sum + result.retried, 0);
      process.stdout.write(
        `mixed-versions: ${inferred.length} whole answers, ${cut.length} cut by 2 kills of an edge, ${retried} sent again\n`,
      );
      expect(failed.filter((failure) => !cut.includes(failure))).toEqual([]);
      // Of each of the two killed edges what it was just serving.
      expect(cut.length).toBeLessThanOrEqual(2 * CALLERS);

      const found = async (): Promise<string[]> => {
        const { rows } = await database.query<{ request_id: string }>(
          "select request_id from usage.usage_event where key_id = any($1) and status = 'success'",
          [keys.map(({ id }) => id)],
        );
        return rows.map(({ request_id }) => request_id);
      };
      const answered = [...inferred, ...served];
      const missing = async (): Promise<string[]> => {
        const { rows } = await database.query<{ request_id: string }>(
          "select request_id from usage.usage_event where request_id = any($1) and status = 'success'",
          [answered],
        );
        const known = new Set(rows.map(({ request_id }) => request_id));
        return answered.filter((id) => !known.has(id));
      };
      await eventually(async () => (await missing()).length === 0, { timeoutMs: 60_000 }).catch(() => null);
      expect(await missing()).toEqual([]);
      const events = await found();
      expect(new Set(events).size).toBe(events.length);
      // Answered whole, and the caller's connection was cut.
      expect(events.length - inferred.length).toBeLessThanOrEqual(cut.length);
      const letters = 'select topic, reason, request_id from usage.dead_letter';
      expect((await database.query(letters)).rows).toEqual([]);
      // A killed edge leaves the name of a unit that it had reserved and not begun yet: nobody was answered.
      const lost = (await findingsOf(fleet, { REDIS_URL: fleet.redisUrl })) as {
        kind: string;
        scope: string;
      }[];
      const isAnswered = (unit: string): boolean => answered.some((id) => unit === `${id}/0`);
      const unanswered = lost.filter(({ kind, scope }) => kind === 'unit_lost' && !isAnswered(scope));
      expect(lost.filter((finding) => !unanswered.includes(finding))).toEqual([]);
      expect(unanswered.length).toBeLessThanOrEqual(2 * CALLERS);
    },
    HANG_MS,
  );
});
