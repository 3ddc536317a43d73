import type { AdmitResult } from '@gateway/contracts';
import {
  fixedClock,
  redisScripts,
  seededRandom,
  testRedis,
  type FixedClock,
  type RedisScripts,
  type TestRedis,
} from '@gateway/testing';
import fc from 'fast-check';
import { limited, mirror, put, rejection, request } from './conformance.fixture.js';
import { LocalShare } from './in-process/local-share.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';
import type { ScriptPipe } from './redis/script-pipe.js';

const START = '2026-03-01T12:00:15.000Z';
const USD = 1_000_000_000n;

let database: TestRedis;
let redis: RedisScripts;

beforeAll(async () => {
  database = await testRedis();
  redis = await redisScripts(database.url);
});

afterAll(async () => {
  redis.close();
  await database.drop();
});

/** The way to Redis, which a test breaks. */
interface Link {
  isUnavailable: boolean;
  /** Number of next calls that get no answer in time. */
  late: number;
  asked: number;
}

function pipeOver(link: Link): ScriptPipe {
  return {
    prepare: (script, keys, last) => redis.pipe.prepare(script, keys, last),
    send: (call, args, answered) => {
      link.asked += 1;
      if (link.late === 0) return redis.pipe.send(call, args, answered);
      link.late -= 1;
      answered(new Error('Command timed out'), Buffer.alloc(0));
    },
    nodeOf: () => (link.isUnavailable ? null : redis.pipe.nodeOf()),
    hashSlotOf: () => 0,
  };
}

interface Fleet {
  clock: FixedClock;
  link: Link;
  /** Store without a share, and with a link that never breaks. */
  store: RedisLimitStore;
  edges: RedisLimitStore[];
  /** Asks as the edge does: a stale principal is confirmed and stamped, once. */
  ask(edge: RedisLimitStore, asked: ReturnType<typeof request>): Promise<AdmitResult>;
}

const free = (change: Parameters<typeof request>[0] = {}) => request({ reservationNano: 0n, ...change });

/** Edges before one Redis, which has admitted a request of each already unless asked otherwise. */
async function fleet(count: number, leftNano: bigint | null = 100n * USD, warm = free()): Promise<Fleet> {
  await redis.client.flushdb();
  const clock = fixedClock(START);
  const link = { isUnavailable: false, late: 0, asked: 0 };
  const random = seededRandom(1);
  const testNow = (): number => clock.now();
  const store = new RedisLimitStore({ pipe: redis.pipe, random, testNow });
  const edges = Array.from(
    { length: count },
    () => new RedisLimitStore({ pipe: pipeOver(link), random, testNow, share: new LocalShare(clock, count) }),
  );
  const ask: Fleet['ask'] = async (edge, asked) => {
    const first = await edge.admit(asked);
    if (first.kind !== 'stale') return first;
    await edge.stamp(asked.accountId, asked.accountVersion, first.gen);
    return edge.admit(asked);
  };
  if (leftNano === null) return { clock, link, store, edges, ask };
  const stale = await store.admit(request());
  if (stale.kind !== 'stale') throw new Error(stale.kind);
  await store.stamp('acct_1', 1, stale.gen);
  await mirror(store, stale.gen, { balanceNano: leftNano });
  for (const [at, edge] of edges.entries())
    expect((await edge.admit({ ...warm, unitId: `${warm.unitId} ${at}` })).kind).toBe('ok');
  return { clock, link, store, edges, ask };
}

const ofKind = (results: AdmitResult[], kind: string): number =>
  results.filter((result) => result.kind === kind).length;

describe('rate limits while the store is away', () => {
  it('R05 four edges admit exactly the limit together, each its share, and say 429 past it', async () => {
    const { edges, link, ask } = await fleet(4);
    link.isUnavailable = true;
    const scopes = limited('key', { rpm: 100 });
    const results: AdmitResult[] = [];
    for (const edge of edges)
      for (let n = 0; n < 40; n += 1)
        results.push(await ask(edge, request({ scopes, creditLimitNano: null })));
    expect(ofKind(results, 'ok')).toBe(100);
    expect(ofKind(results, 'refused')).toBe(60);
    const [last] = results.slice(-1);
    expect(rejection(last)).toMatchObject({ scope: 'key', metric: 'rpm', limit: '100', resetsInSeconds: 45 });
    expect(last.withoutStore).toBe('unasked');
  });

  it('R05 a share rolls with the minute; the day goes on', async () => {
    const { edges, link, ask, clock } = await fleet(2);
    link.isUnavailable = true;
    const scopes = limited('team', { rpm: 4, rpd: 6 });
    const burst = async (): Promise<number> => {
      let admitted = 0;
      for (let n = 0; n < 5; n += 1)
        admitted += (await ask(edges[0], request({ scopes }))).kind === 'ok' ? 1 : 0;
      return admitted;
    };
    expect(await burst()).toBe(2);
    await clock.advance(45_000);
    expect(await burst()).toBe(1);
    expect(rejection(await ask(edges[0], request({ scopes })))).toMatchObject({
      metric: 'rpd',
      scope: 'team',
    });
  });

  it('R05 what the store reported of the running minute counts: the whole limit is not passed again', async () => {
    const scopes = limited('key', { rpm: 10 });
    const { edges, link, ask, clock } = await fleet(2, 100n * USD, free({ scopes }));
    for (let n = 0; n < 6; n += 1) expect((await ask(edges[0], request({ scopes }))).kind).toBe('ok');
    link.isUnavailable = true;
    // 8 of 10 are reported, so 2 of this edge's share of 5 are left.
    const answers = [];
    for (let n = 0; n < 3; n += 1) answers.push((await ask(edges[0], request({ scopes }))).kind);
    expect(answers).toEqual(['ok', 'ok', 'refused']);
    await clock.advance(60_000);
    expect((await ask(edges[0], request({ scopes }))).kind).toBe('ok');
  });

  it('R05 a limit that the store has refused by stays refused until its window ends', async () => {
    const scopes = limited('org', { rpm: 4 });
    const { edges, link, ask } = await fleet(2, 100n * USD, free({ scopes }));
    for (const edge of [edges[0], edges[0]]) expect((await ask(edge, request({ scopes }))).kind).toBe('ok');
    expect((await ask(edges[1], request({ scopes }))).kind).toBe('refused');
    link.isUnavailable = true;
    expect(rejection(await ask(edges[1], request({ scopes })))).toMatchObject({
      scope: 'org',
      metric: 'rpm',
    });
  });

  it('R05 a limit smaller than the number of edges is never a false 429: nobody can say', async () => {
    const { edges, link, ask } = await fleet(4);
    link.isUnavailable = true;
    const result = await ask(edges[0], request({ scopes: limited('key', { rpm: 3 }) }));
    expect(result).toEqual({ kind: 'unavailable', withoutStore: 'unasked' });
  });

  it('R05 tokens: a settle corrects the estimate, a cancelled unit gives all back', async () => {
    const { edges, link, ask } = await fleet(2);
    link.isUnavailable = true;
    const scopes = limited('key', { tpm: 400 });
    const [first, second] = [request({ scopes }), request({ scopes })];
    for (const asked of [first, second]) expect((await ask(edges[0], asked)).kind).toBe('ok');
    expect(rejection(await ask(edges[0], request({ scopes }))).metric).toBe('tpm');
    await expect(
      edges[0].put([put('settle', first, { tokens: 10 }), put('cancel', second)]),
    ).rejects.toThrow();
    await expect(
      edges[0].put([put('settle', first, { tokens: 10 }), put('cancel', second)]),
    ).rejects.toThrow();
    const admitted = await ask(edges[0], request({ scopes }));
    expect(admitted).toMatchObject({ kind: 'ok', counters: [{ tpm: 220 }, {}, {}, {}, {}] });
  });
});

describe('money while the store is away', () => {
  const capped = (capNano: bigint, reservationNano: bigint) =>
    request({ scopes: limited('org', { capNano }), reservationNano });

  it('R05 an edge spends a hundredth of what was last left, passed by one request at most, then 503 and never 402', async () => {
    const warm = capped(100n * USD, 0n);
    const { edges, link, ask } = await fleet(4, 900n * USD, warm);
    link.isUnavailable = true;
    const results: AdmitResult[] = [];
    for (let n = 0; n < 20; n += 1)
      results.push(await ask(edges[0], { ...capped(100n * USD, 300_000_000n) }));
    // 0.9 USD is below the exposure of 1 USD, 1.2 USD is not.
    expect([ofKind(results, 'ok'), ofKind(results, 'unavailable')]).toEqual([4, 16]);
  });

  it('R05 never more than 5 USD an edge, and one request more', async () => {
    const { edges, link, ask } = await fleet(2, 9_000_000n * USD);
    link.isUnavailable = true;
    let admitted = 0;
    while ((await ask(edges[0], request({ reservationNano: USD }))).kind === 'ok') admitted += 1;
    expect(admitted).toBe(5);
  });

  it('R05 an edge that never heard what is left does not guess: 503; without money or caps it goes on', async () => {
    const { edges, link, ask } = await fleet(2, null);
    link.isUnavailable = true;
    expect((await ask(edges[0], request())).kind).toBe('unavailable');
    expect((await ask(edges[0], request({ reservationNano: 0n }))).kind).toBe('ok');
    expect((await ask(edges[0], request({ creditLimitNano: null }))).kind).toBe('ok');
  });

  it('R05 a unit counts at its real cost once, and no longer when the store has it', async () => {
    const { edges, link, ask, store } = await fleet(4);
    const [edge] = edges;
    link.isUnavailable = true;
    const dear = request({ reservationNano: 2n * USD });
    expect((await ask(edge, dear)).kind).toBe('ok');
    expect((await ask(edge, request())).kind).toBe('unavailable');
    await expect(edge.put([put('settle', dear, { nano: 500n })])).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    expect((await ask(edge, request())).kind).toBe('ok');
    link.isUnavailable = false;
    await edge.put([put('settle', dear, { nano: 500n })]);
    expect(await store.read('acct_1', [])).toMatchObject({ unpostedNano: 500n });
  });

  it('R05 whatever the requests cost, all edges together never spend more than was left', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.bigInt(0n, 3_000n),
        fc.array(fc.tuple(fc.nat(4), fc.bigInt(1n, 900n)), { maxLength: 60 }),
        async (count, left, requests) => {
          const { edges, link, ask } = await fleet(count, left);
          link.isUnavailable = true;
          let spent = 0n;
          for (const [at, nano] of requests) {
            const result = await ask(edges[at % count], request({ reservationNano: nano }));
            expect(['ok', 'unavailable']).toContain(result.kind);
            if (result.kind === 'ok') spent += nano;
          }
          expect(spent <= left).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('trips to a store that is away', () => {
  it('R05 a unit whose trip failed does not wait for a second one, and says that it may be counted', async () => {
    const { edges, link, clock } = await fleet(2);
    await clock.advance(1_000);
    link.late = Infinity;
    link.asked = 0;
    const asked = request();
    const stale = await edges[0].admit(asked);
    expect(stale).toMatchObject({ kind: 'stale', withoutStore: 'unsure' });
    await edges[0].stamp('acct_1', 1, stale.kind === 'stale' ? stale.gen : '');
    expect(await edges[0].admit(asked)).toMatchObject({ kind: 'ok', withoutStore: 'unsure' });
    expect(link.asked).toBe(1);
  });

  it('K05 a principal serves for a second after it was confirmed, then has to be asked for again', async () => {
    const { edges, link, clock } = await fleet(2);
    link.isUnavailable = true;
    await clock.advance(999);
    expect((await edges[0].admit(request())).kind).toBe('ok');
    expect(await edges[0].version('acct_1')).toBe(1);
    await clock.advance(1);
    const stale = await edges[0].admit(request());
    expect(stale).toMatchObject({ kind: 'stale', withoutStore: 'unasked' });
    await expect(edges[0].version('acct_1')).rejects.toThrow();
    await edges[0].stamp('acct_1', 2, stale.kind === 'stale' ? stale.gen : '');
    expect((await edges[0].admit(request())).kind).toBe('stale');
    expect((await edges[0].admit(request({ accountVersion: 2 }))).kind).toBe('ok');
  });

  it('a Redis that is only late is asked again for what this edge cannot decide, and counts it once', async () => {
    const { edges, store, link, ask } = await fleet(2, null);
    const stale = await store.admit(request());
    if (stale.kind !== 'stale') throw new Error(stale.kind);
    await store.stamp('acct_1', 1, stale.gen);
    await mirror(store, stale.gen, {});
    link.late = 2;
    expect((await ask(edges[0], request())).kind).toBe('ok');
    expect(link).toMatchObject({ asked: 3, late: 0 });
    expect(await store.read('acct_1', [])).toMatchObject({ reservedUnits: 1 });
  });

  it('reports when an account was last found to be of a version, and forgets it with the next one', async () => {
    const { edges, clock } = await fleet(1);
    const [edge] = edges;
    await clock.advance(5_000);
    expect(edge.confirmedAt('acct_1', 1)).toBe(clock.monotonic() - 5_000);
    await edge.admit(free());
    expect(edge.confirmedAt('acct_1', 1)).toBe(clock.monotonic());
    expect(edge.confirmedAt('acct_1', 2)).toBe(-Infinity);
    await edge.stamp('acct_1', 2, null);
    expect(edge.confirmedAt('acct_1', 1)).toBe(-Infinity);
  });

  it('forgets what nobody asks about again: no map grows without bound', async () => {
    const { edges, link } = await fleet(1, null);
    link.isUnavailable = true;
    for (let n = 0; n < 60_000; n += 1) await edges[0].stamp(`acct_${n}`, 1, 'local');
    expect(await edges[0].version('acct_59999')).toBe(1);
    await expect(edges[0].version('acct_0')).rejects.toThrow();
  });
});
