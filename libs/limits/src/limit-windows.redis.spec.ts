import { HEADER, type AdmitResult, type LimitStore } from '@gateway/contracts';
import { fixedClock, redisScripts, seededRandom, testRedis } from '@gateway/testing';
import type { RedisScripts, TestRedis } from '@gateway/testing';
import fc from 'fast-check';
import { KEY, limited, open, rejection, request } from './conformance.fixture.js';
import { LocalShare } from './in-process/local-share.js';
import { rateHeaders } from './rate-headers.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';
import { rejectionError } from './rejection-error.js';

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

beforeEach(async () => void (await redis.client.flushdb()));

/** One edge per clock, all before this Redis; `redisTime` replaces its own. */
function edges(clocks: string[], redisTime?: () => number): LimitStore[] {
  return clocks.map(
    (startIso) =>
      new RedisLimitStore({
        pipe: redis.pipe,
        random: seededRandom(1),
        testNow: redisTime,
        share: new LocalShare(fixedClock(startIso), clocks.length),
      }),
  );
}

const MINUTE = Date.parse('2026-03-01T12:00:00.000Z');
const ok = (results: AdmitResult[]): number => results.filter(({ kind }) => kind === 'ok').length;

describe('R03 windows', () => {
  it('LIM-01 the limit is exact in each of two windows, to the millisecond of the roll', async () => {
    let now = MINUTE + 59_000;
    const [store] = edges(['2026-03-01T12:00:59Z'], () => now);
    await open(store);
    const scopes = limited('key', { rpm: 5 });
    const burst = (count: number): Promise<AdmitResult[]> =>
      Promise.all(Array.from({ length: count }, () => store.admit(request({ scopes }))));
    expect(ok(await burst(8))).toBe(5);
    now = MINUTE + 59_999;
    const [last] = await burst(1);
    expect(rejection(last).resetsInSeconds).toBe(1);
    now = MINUTE + 60_000;
    const next = await burst(8);
    expect(ok(next)).toBe(5);
    expect(rejection(next[7]).resetsInSeconds).toBe(60);
  });

  it('LIM-01 replicas whose clocks are 5 s apart count in the same window, that of Redis', async () => {
    let now = MINUTE + 57_000;
    const stores = edges(
      ['2026-03-01T11:59:54.500Z', '2026-03-01T12:00:59.500Z', '2026-03-01T12:01:02.000Z'],
      () => now,
    );
    await open(stores[0]);
    const scopes = limited('key', { rpm: 30 });
    const results: AdmitResult[] = [];
    for (let n = 0; n < 60; n += 1) results.push(await stores[n % 3].admit(request({ scopes })));
    expect(ok(results)).toBe(30);
    const minutes = new Set(results.flatMap((result) => (result.kind === 'ok' ? [result.minute] : [])));
    expect([...minutes]).toEqual([MINUTE / 60_000]);
    now = MINUTE + 60_000;
    for (const store of stores) expect((await store.admit(request({ scopes }))).kind).toBe('ok');
  });

  it('LIM-20 Retry-After lies in the true reset and 5 s more, at any moment of a window', async () => {
    let now = MINUTE;
    const [store] = edges(['2026-03-01T12:00:00Z'], () => now);
    await open(store);
    const scopes = limited('key', { rpm: 0 });
    const random = seededRandom(20_261_121);
    await fc.assert(
      fc.asyncProperty(fc.nat(59_999), async (ms) => {
        now = MINUTE + ms;
        const error = rejectionError(rejection(await store.admit(request({ scopes }))), random, {
          orgId: 'org_1',
        });
        const waitMs = (error.options.retryAfterSeconds ?? 0) * 1_000;
        expect(waitMs).toBeGreaterThanOrEqual(60_000 - ms);
        expect(waitMs).toBeLessThanOrEqual(60_000 - ms + 5_000);
      }),
      { numRuns: 60 },
    );
  });

  it('LIM-36 remaining falls strictly, also where two replicas answer at once', async () => {
    const stores = edges(['2026-03-01T12:00:15Z', '2026-03-01T12:00:20Z'], () => MINUTE + 15_000);
    await open(stores[0]);
    const scopes = limited('key', { rpm: 40 });
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, n) => stores[n % 2].admit(request({ scopes }))),
    );
    const remaining = results.flatMap((result) =>
      result.kind === 'ok' ? [Number(rateHeaders(scopes, result)[HEADER.rateRemaining])] : [],
    );
    expect([...remaining].sort((a, b) => b - a)).toEqual(Array.from({ length: 40 }, (_, n) => 39 - n));
    for (const at of [0, 1]) {
      const seen = remaining.filter((_, n) => n % 2 === at);
      expect(seen).toEqual([...seen].sort((a, b) => b - a));
    }
  });

  it('LIM-37 headers show the key alone while the organization binds', async () => {
    const [store] = edges(['2026-03-01T12:00:15Z'], () => MINUTE + 15_000);
    await open(store);
    const scopes = limited('org', { rpm: 2 }).map((scope) =>
      scope.kind === 'key' ? { ...KEY, rpm: 10 } : scope,
    );
    const remaining: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const result = await store.admit(request({ scopes }));
      if (result.kind !== 'ok') throw new Error(result.kind);
      remaining.push(Object.values(rateHeaders(scopes, result)).join(' '));
    }
    expect(remaining).toEqual(['10 9 45s', '10 8 45s']);
    const refused = await store.admit(request({ scopes }));
    expect(rejection(refused)).toMatchObject({ scope: 'org', metric: 'rpm' });
    if (refused.kind !== 'refused') throw new Error(refused.kind);
    expect(Object.values(rateHeaders(scopes, refused)).join(' ')).toBe('10 8 45s');
  });
});
