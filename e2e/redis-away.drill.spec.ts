import { setTimeout as pause } from 'node:timers/promises';
import { eventually, ownRedis, startFaultProxy, type FaultProxy, type OwnServer } from '@gateway/testing';
import { Redis } from 'ioredis';
import { startFleet, type Fleet } from './harness/fleet.js';
import { metric, startLoad, type Load, type Sent } from './harness/load.js';
import { START_MS } from './harness/modes.js';
import { askOnce } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const chat = { model: 'simulator/chat', max_tokens: 16, messages: [{ role: 'user', content: 'Hello' }] };
/** Four times the default: a busy machine must not open a breaker by itself. */
const COMMAND_TIMEOUT_MS = 100;
/** The most that a call may take, however slow Redis was before. */
const LONGEST_MS = 500;
/** Spend is in doubt for 7 s, and for 7 s more after each answer that a busy machine did not take in time. */
const DOUBT_MS = 90_000;

describe('two edges while Redis is slow, hangs, dies or forgets', () => {
  let server: OwnServer;
  let proxy: FaultProxy;
  let fleet: Fleet;
  let person: PersonSession;
  let keys: string[];

  beforeAll(async () => {
    server = await ownRedis();
    proxy = await startFaultProxy(server.address);
    const env = {
      REDIS_URL: `redis://${proxy.address}`,
      REDIS_COMMAND_TIMEOUT_MS: String(COMMAND_TIMEOUT_MS),
      EDGE_REPLICAS: '2',
    };
    fleet = await startFleet({ edges: 2, env: { all: env } });
    person = await logIn(fleet);
    const made = Array.from({ length: 8 }, (_, n) => person.createKey(`load ${n}`, { rpm: 1000 }));
    keys = (await Promise.all(made)).map(({ key }) => key);
    for (const url of edges()) await eventually(async () => (await send(url, fleet.key)) === 200);
  }, START_MS);
  afterAll(async () => {
    server?.thaw();
    await fleet?.stop();
    await proxy?.close();
    await server?.drop();
  }, START_MS);

  /** Repair of what is broken now, run also where a test ends early: every later one would fail otherwise. */
  let broken: (() => Promise<void>) | null = null;
  const heal = async (): Promise<void> => {
    const end = broken;
    broken = null;
    await end?.();
  };
  const loads: Load[] = [];
  afterEach(async () => {
    await heal();
    await Promise.all(loads.splice(0).map((load) => load.stop()));
  });

  const edges = (): string[] => fleet.edges.map(({ url }) => url);
  const send = async (url: string, key: string): Promise<number> =>
    (await askOnce({ url, key }, 'POST', '/v1/chat/completions', { body: chat })).status;
  const loadOf = (some = keys): Load => {
    const half = Math.ceil(some.length / 2);
    const load = startLoad(
      edges().map((url, at) => ({ url, keys: at === 0 ? some.slice(0, half) : some.slice(-half) })),
      chat,
    );
    loads.push(load);
    return load;
  };
  const statuses = (answers: readonly Sent[]): number[] =>
    [...new Set(answers.map(({ status }) => status))].sort();
  const admitted = (outcome: string): Promise<number[]> =>
    Promise.all(edges().map((url) => metric(url, 'gateway_admissions_total', `outcome="${outcome}"`)));
  const leftAlone = (): Promise<number[]> =>
    Promise.all(edges().map((url) => metric(url, 'gateway_redis_breakers_open')));
  /** Every edge decides by Redis again. */
  async function backInUse(load: Load): Promise<void> {
    const before = await admitted('ok');
    await eventually(async () => (await admitted('ok')).every((count, at) => count > before[at]));
    await load.more(4);
  }
  /** Forgets everything, as a flush or a promoted replica of yesterday does, while nobody can reach it. */
  async function replaceBy(dump: ReadonlyMap<string, Buffer>): Promise<void> {
    proxy.set({ connect: 'reset' });
    proxy.resetAll();
    await server.restart();
    const redis = new Redis(server.address);
    for (const [key, value] of dump) await redis.restore(key, 0, value);
    redis.disconnect();
    proxy.set({});
  }
  async function dumpOf(): Promise<Map<string, Buffer>> {
    const redis = new Redis(server.address);
    const found = new Map<string, Buffer>();
    for (const key of await redis.keys('*')) {
      const value = await redis.dumpBuffer(key);
      if (value) found.set(key, value);
    }
    redis.disconnect();
    return found;
  }

  const FAULTS: [name: string, breakers: number, begin: () => void, end: () => Promise<void>][] = [
    [
      'answers after its time',
      1,
      () => proxy.set({ toClient: { latencyMs: 1.5 * LONGEST_MS } }),
      () => Promise.resolve(proxy.set({})),
    ],
    ['hangs', 1, () => server.freeze(), () => Promise.resolve(server.thaw())],
    ['is killed', 0, () => server.kill(), () => server.restart()],
  ];

  it.each(FAULTS)(
    'R05 Redis %s: requests are served, it is left alone, and it is used again when it is back',
    async (_name, breakers, begin, end) => {
      const load = loadOf();
      await load.more(40);
      // A breaker that a busy machine has opened would stay open for as long as nothing answers.
      await eventually(async () => (await leftAlone()).every((count) => count === 0));
      const from = load.answers.length;
      begin();
      broken = end;
      // From then on nothing asks it, so nothing waits; one that refuses connections fails at once and opens none.
      const isLeftAlone = async (): Promise<boolean> =>
        (await leftAlone()).every((count) => count === breakers);
      await eventually(isLeftAlone);
      await load.more(60);
      const until = load.answers.length;
      await heal();
      await backInUse(load);
      await load.stop();
      const during = load.answers.slice(from, until);
      // Never a false 401, 402, 403, 404 or 429; what cannot be decided is 503, and that is the exception.
      expect(statuses(load.answers).filter((status) => status !== 200 && status !== 503)).toEqual([]);
      expect(during.filter(({ status }) => status === 200).length).toBeGreaterThan(0.5 * during.length);
      expect((await admitted('local_ok')).every((count) => count > 0)).toBe(true);
    },
  );

  it.each([
    ['hangs', () => server.freeze(), () => Promise.resolve(server.thaw())],
    ['is dead', () => server.kill(), () => server.restart()],
  ] as [string, () => void, () => Promise<void>][])(
    'K05 a key that is revoked while Redis %s is refused by each edge, and from then on for good',
    async (_name, begin, end) => {
      const { id, key } = await person.createKey('revoked', { rpm: 1000 });
      const load = loadOf([key, key]);
      await load.more(10);
      begin();
      broken = end;
      await load.more(20);
      expect((await person.call('DELETE', `/v1/keys/${id}`)).status).toBe(200);
      // How long an edge goes on by its last confirmation is a matter of its clock: libs/limits proves it by one that is fixed.
      const isRefused = (at: string): boolean =>
        load.answers.some(({ url, status }) => url === at && status === 403);
      await eventually(() => edges().every(isRefused));
      await load.more(20);
      await load.stop();
      await heal();
      await eventually(async () => (await send(fleet.url, fleet.key)) === 200);
      expect(statuses(load.answers).filter((status) => ![200, 403, 503].includes(status))).toEqual([]);
      for (const url of edges()) {
        const answers = load.answers.filter((one) => one.url === url).map(({ status }) => status);
        expect(answers.slice(answers.indexOf(403))).not.toContain(200);
      }
    },
  );

  const LOSSES: [name: string, lose: (before: Map<string, Buffer>) => Promise<void>][] = [
    ['is emptied', async () => void (await flush())],
    ['fails over to an empty replica', () => replaceBy(new Map())],
    ['fails over to a lagging replica', (before) => replaceBy(before)],
  ];
  async function flush(): Promise<void> {
    const redis = new Redis(server.address);
    await redis.flushall();
    redis.disconnect();
  }

  it.each(LOSSES)(
    'K08 R04 Redis %s during a revoke: the key is not served after its answer, and nobody else is refused',
    async (_name, lose) => {
      for (let round = 0; round < 2; round += 1) {
        const { id, key } = await person.createKey('revoked', { rpm: 1000 });
        const bystanders = loadOf();
        const load = loadOf([key, key]);
        await load.more(6);
        const before = await dumpOf();
        const losing = round === 0 ? lose(before) : pause(20 * round).then(() => lose(before));
        expect((await person.call('DELETE', `/v1/keys/${id}`)).status).toBe(200);
        await losing;
        const lostUntil = performance.now();
        // For how long an edge may go on by itself is a matter of its clock: libs/limits proves it by one that is fixed.
        const of = (url: string): number[] =>
          load.answers.filter((one) => one.url === url && one.sentAt > lostUntil).map(({ status }) => status);
        await eventually(() => edges().every((url) => of(url).includes(403)));
        await load.more(20);
        await Promise.all([load.stop(), bystanders.stop()]);
        for (const url of edges()) {
          const answers = of(url);
          expect(answers.slice(answers.indexOf(403)).filter((s) => s !== 403 && s !== 503)).toEqual([]);
        }
        expect(statuses(bystanders.answers).filter((status) => ![200, 503].includes(status))).toEqual([]);
        expect(bystanders.answers.some(({ status }) => status === 200)).toBe(true);
      }
    },
  );

  it(
    'R04 a cap holds though Redis forgets all while Kafka hangs: both edges put again what only they know',
    async () => {
      const { key } = await person.createKey('capped', { spend_cap_usd: '0.0002', rpm: 1000 });
      fleet.kafka.server.freeze();
      try {
        // A Redis that has just failed over leaves the account's spend in doubt for 7 s: 503 until a refusal is final.
        const seen: number[] = [];
        await eventually(
          async () => {
            seen.push(await send(edges()[seen.length % 2], key));
            return seen.at(-1) === 402;
          },
          { intervalMs: 1, timeoutMs: DOUBT_MS },
        );
        expect(seen.filter((status) => ![200, 402, 503].includes(status))).toEqual([]);
        expect(seen.filter((status) => status === 200).length).toBeGreaterThan(4);
        for (let round = 0; round < 2; round += 1) {
          await flush();
          const answers = await Promise.all(edges().map((url) => send(url, key)));
          for (const status of answers) expect([402, 503]).toContain(status);
          // Spend that was put again is in doubt for 7 s, in which no refusal is final.
          await eventually(
            async () => (await Promise.all(edges().map((url) => send(url, key)))).every((s) => s === 402),
            { timeoutMs: DOUBT_MS },
          );
        }
      } finally {
        fleet.kafka.server.thaw();
      }
    },
    START_MS,
  );
});
