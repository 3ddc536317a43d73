import { UpstreamError, type PooledCredential, type UpstreamErrorOptions } from '@gateway/contracts';
import { InProcessLimitStore } from '@gateway/limits';
import { fixedClock } from '@gateway/testing';
import { ProviderDirectory } from './provider-directory.js';
import { PlatformPools } from './platform-pools.js';

const START_MS = Date.parse('2026-11-28T08:00:00Z');
const NONE: ReadonlySet<string> = new Set();

function stored(id: string, more: Partial<PooledCredential> = {}): PooledCredential {
  return {
    ...{ id, provider: 'openai', source: 'stored', version: 1, weight: 100, allowedModels: null },
    ...{ baseUrl: null, isEnabled: true },
    state: { status: 'ready', untilMs: null, atMs: 0, error: null },
    ...more,
  };
}

/** Pools over a deployment that has openai in its environment, or not. */
function poolsOf(credentials: PooledCredential[], { hasOwn = true } = {}) {
  const provider = { slug: 'openai', credentialEnv: 'OPENAI_API_KEY' };
  const access = { baseUrl: 'https://openai.test/v1', credential: { kind: 'api_key', key: 'sk-own' } };
  const keyed = new Map([['openai', { provider, baseUrl: access.baseUrl }]]);
  const enabled = hasOwn ? new Map([['openai', { provider, access }]]) : new Map<string, never>();
  const directory = new ProviderDirectory(enabled as never, keyed as never, '0');
  const clock = fixedClock(new Date(START_MS).toISOString());
  let seed = 1;
  const random = {
    bytes: () => new Uint8Array(),
    // Park and Miller's generator: the same draws in each run.
    fraction: () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647,
  };
  const limits = new InProcessLimitStore({ clock, random });
  const pools = new PlatformPools(directory, clock, random, limits);
  pools.update({ credentials, budgets: [] });
  return { pools, directory, clock, limits };
}

const routeOf = (model: string) => ({ provider: 'openai', model, upstreamModel: 'gpt' }) as never;
const route = routeOf('acme/gpt');
const on = (id: string) => ({ route, pooled: { key: null, id } });
const drawnBy = (key: string | null) => ({ route, pooled: { key, id: null } });

function failure(options: Partial<UpstreamErrorOptions>): UpstreamError {
  return new UpstreamError({
    ...{ code: 'upstream_error', message: 'no', httpStatus: 429, retryable: true, fallback: true },
    ...{ countsAsFault: true, fault: 'service' },
    ...options,
  });
}

function sharesOf(pools: PlatformPools, draws: number, key: (n: number) => string | null = () => null) {
  const counts: Record<string, number> = {};
  for (let n = 0; n < draws; n += 1) {
    const id = pools.draw(drawnBy(key(n)), NONE) ?? 'none';
    counts[id] = (counts[id] ?? 0) + 100 / draws;
  }
  return counts;
}

describe('PlatformPools', () => {
  it('has no pool where the environment has the only credential', () => {
    const { pools } = poolsOf([]);
    expect(pools.readyAtMs(routeOf('acme/gpt'), START_MS)).toBeNull();
  });

  it.each([
    ['drawn', () => null],
    ['kept by key', (n: number) => `key ${n}`],
  ])('serves by weight within 3 points, %s; the environment’s is one of them', (_how, key) => {
    const { pools } = poolsOf([
      stored('cred_a', { weight: 300 }),
      stored('cred_b'),
      stored('cred_c', { weight: 0 }),
    ]);
    const shares = sharesOf(pools, 5_000, key);
    expect(Object.keys(shares).sort()).toEqual(['cred_a', 'cred_b', 'cred_env_openai']);
    for (const [id, share] of [
      ['cred_a', 60],
      ['cred_b', 20],
      ['cred_env_openai', 20],
    ] as const)
      expect([id, Math.abs(shares[id] - share) < 3]).toEqual([id, true]);
  });

  it('keeps requests of one key on one credential, and moves them while it cools down alone', async () => {
    const { pools, clock } = poolsOf([stored('cred_a'), stored('cred_b'), stored('cred_c')]);
    const before = Array.from({ length: 50 }, (_, n) => pools.draw(drawnBy(`key ${n}`), NONE));
    expect(Array.from({ length: 50 }, (_, n) => pools.draw(drawnBy(`key ${n}`), NONE))).toEqual(before);
    pools.failed(on('cred_a'), failure({ credential: 'throttled' }));
    const meanwhile = Array.from({ length: 50 }, (_, n) => pools.draw(drawnBy(`key ${n}`), NONE));
    expect(meanwhile).not.toContain('cred_a');
    before.forEach((id, n) => id !== 'cred_a' && expect(meanwhile[n]).toBe(id));
    await clock.advance(5_000);
    expect(Array.from({ length: 50 }, (_, n) => pools.draw(drawnBy(`key ${n}`), NONE))).toEqual(before);
  });

  it('draws weight 0 only where no other can serve', () => {
    const { pools } = poolsOf([stored('cred_a', { weight: 0 })]);
    expect(pools.draw(drawnBy(null), NONE)).toBe('cred_env_openai');
    expect(pools.draw(drawnBy(null), new Set(['cred_env_openai']))).toBe('cred_a');
    expect(pools.draw(drawnBy(null), new Set(['cred_env_openai', 'cred_a']))).toBeNull();
  });

  it.each<[Partial<UpstreamErrorOptions>, number, string]>([
    [{ credential: 'throttled', retryAfterMs: 7_000 }, 7_000, 'cooling'],
    [{ credential: 'throttled', retryAfterMs: 86_400_000 }, 600_000, 'cooling'],
    [{ credential: 'throttled' }, 5_000, 'cooling'],
    [{ credential: 'out_of_quota' }, 900_000, 'out_of_quota'],
    [{ credential: 'out_of_quota', retryAfterMs: 3_600_000 }, 3_600_000, 'out_of_quota'],
    [{ credential: 'refused', httpStatus: 401 }, 60_000, 'refused'],
  ])('takes one out that fails with %j for %i ms, and reports it', async (options, waitMs, status) => {
    const { pools, clock } = poolsOf([stored('cred_a')]);
    const judged = pools.failed(on('cred_a'), failure(options));
    expect(judged.options.countsAsFault).toBe(false);
    expect(pools.takeNews().states).toMatchObject([{ id: 'cred_a', status, untilMs: START_MS + waitMs }]);
    await clock.advance(waitMs - 1);
    expect(pools.draw(drawnBy(null), new Set(['cred_env_openai']))).toBeNull();
    await clock.advance(1);
    // A refused one is tried by a test call, never by a caller.
    const isRefused = status === 'refused';
    expect(pools.draw(drawnBy(null), new Set(['cred_env_openai']))).toBe(isRefused ? null : 'cred_a');
    expect(pools.dueForTest().map(({ id }) => id)).toEqual(isRefused ? ['cred_a'] : []);
  });

  it('counts nothing, and asks no store, for one without limits', () => {
    const { pools, limits } = poolsOf([stored('cred_a')]);
    let asked = 0;
    limits.countOnCredential = async () => ({ minute: (asked += 1) });
    limits.correctCredential = async () => void (asked += 1);
    expect(pools.count(on('cred_a'), 10)).toBeUndefined();
    expect(pools.count(on('cred_env_openai'), 10)).toBeUndefined();
    pools.used(on('cred_a'), 7);
    expect(asked).toBe(0);
  });

  it('passes one over that is at its limit until the minute rolls, or its limit is raised', async () => {
    const limited = { provider: 'openai', rpmLimit: 1 };
    const { pools, clock } = poolsOf([stored('cred_a', limited)], { hasOwn: false });
    expect(await pools.count(on('cred_a'), 10)).toMatchObject({ id: 'cred_a', counted: { tokens: 10 } });
    expect(await pools.count(on('cred_a'), 10)).toBeNull();
    expect(pools.draw(drawnBy(null), NONE)).toBeNull();
    expect(pools.readyAtMs(routeOf('acme/gpt'), clock.now())).toBe(START_MS + 60_000);
    pools.update({ credentials: [stored('cred_a', limited)], budgets: [] });
    expect(pools.draw(drawnBy(null), NONE)).toBeNull();
    pools.update({ credentials: [stored('cred_a', { ...limited, rpmLimit: 2 })], budgets: [] });
    expect(pools.draw(drawnBy(null), NONE)).toBe('cred_a');
    expect(await pools.count(on('cred_a'), 10)).not.toBeNull();
    expect(await pools.count(on('cred_a'), 10)).toBeNull();
    await clock.advance(60_000);
    expect(pools.draw(drawnBy(null), NONE)).toBe('cred_a');
  });

  it('lets one serve while the store is away, and limits that of the environment too', async () => {
    const environment = { ...stored('cred_env_openai'), source: 'environment' as const, tpmLimit: 10 };
    const { pools, limits } = poolsOf([environment]);
    expect(await pools.count(on('cred_env_openai'), 10)).not.toBeNull();
    expect(await pools.count(on('cred_env_openai'), 10)).toBeNull();
    limits.countOnCredential = () => Promise.reject(new Error('away'));
    expect(await pools.count(on('cred_env_openai'), 10)).toEqual({ key: null, id: 'cred_env_openai' });
  });

  it('doubles the time of one that is throttled again and again, and forgets it once it served', () => {
    const { pools } = poolsOf([stored('cred_a')]);
    const waits = Array.from({ length: 9 }, () => {
      pools.failed(on('cred_a'), failure({ credential: 'throttled' }));
      return ((pools.takeNews().states[0].untilMs ?? 0) - START_MS) / 1_000;
    });
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
    pools.served(on('cred_a'));
    pools.failed(on('cred_a'), failure({ credential: 'throttled' }));
    expect(pools.takeNews().states[0].untilMs).toBe(START_MS + 5_000);
  });

  it('tests a refused one after 1, 5, then every 30 minutes until it works', async () => {
    const { pools, clock } = poolsOf([stored('cred_a')]);
    pools.failed(on('cred_a'), failure({ credential: 'refused', httpStatus: 401 }));
    for (const minutes of [1, 5, 30, 30]) {
      await clock.advance(minutes * 60_000);
      const [member] = pools.dueForTest();
      expect(member.id).toBe('cred_a');
      pools.tested(member, 'refused');
      expect(pools.dueForTest()).toEqual([]);
    }
    await clock.advance(30 * 60_000);
    pools.tested(pools.dueForTest()[0], 'works');
    expect(pools.draw(drawnBy(null), new Set(['cred_env_openai']))).toBe('cred_a');
  });

  it('leaves a model that one may not call to the others for a minute, and nothing else', async () => {
    const { pools, clock } = poolsOf([stored('cred_a')]);
    const other = {
      route: { provider: 'openai', model: 'acme/other' } as never,
      pooled: { key: null, id: null },
    };
    pools.failed(on('cred_a'), failure({ credential: 'permission', httpStatus: 403 }));
    const without = new Set(['cred_env_openai']);
    expect([pools.draw(drawnBy(null), without), pools.draw(other, without)]).toEqual([null, 'cred_a']);
    expect(pools.takeNews().states).toEqual([]);
    await clock.advance(60_000);
    expect(pools.draw(drawnBy(null), without)).toBe('cred_a');
  });

  it('leaves a failure that is the route’s own to the breaker', () => {
    const { pools } = poolsOf([stored('cred_a')]);
    const down = failure({ httpStatus: 503 });
    expect(pools.failed(on('cred_a'), down)).toBe(down);
    expect(pools.takeNews().states).toEqual([]);
  });

  it('takes the newest finding of another edge, and begins anew with a new secret', () => {
    const { pools } = poolsOf([stored('cred_a')]);
    const cooling = {
      status: 'cooling' as const,
      untilMs: START_MS + 60_000,
      atMs: START_MS - 1,
      error: null,
    };
    pools.update({ credentials: [stored('cred_a', { state: cooling })], budgets: [] });
    expect(pools.draw(drawnBy(null), new Set(['cred_env_openai']))).toBeNull();
    pools.update({ credentials: [stored('cred_a')], budgets: [] });
    expect(pools.draw(drawnBy(null), new Set(['cred_env_openai']))).toBeNull();
    pools.update({ credentials: [stored('cred_a', { version: 2 })], budgets: [] });
    expect(pools.draw(drawnBy(null), new Set(['cred_env_openai']))).toBe('cred_a');
  });

  it('a provider comes with its first credential and goes with its last one', () => {
    const { pools, directory } = poolsOf([], { hasOwn: false });
    expect(directory.providers.has('openai')).toBe(false);
    expect(
      pools.update({ credentials: [stored('cred_a', { allowedModels: ['acme/*'] })], budgets: [] }),
    ).toBe(true);
    expect(directory.providers.has('openai')).toBe(true);
    expect(pools.readyAtMs(routeOf('acme/gpt'), START_MS)).toBeLessThanOrEqual(START_MS);
    expect(pools.readyAtMs(routeOf('other/gpt'), START_MS)).toBe(Infinity);
    expect(pools.update({ credentials: [stored('cred_a', { isEnabled: false })], budgets: [] })).toBe(true);
    expect(directory.providers.has('openai')).toBe(false);
    expect(pools.update({ credentials: [], budgets: [] })).toBe(false);
  });

  it('reports uses once, and again where a report was lost', () => {
    const { pools } = poolsOf([stored('cred_a')]);
    pools.begun(on('cred_a'));
    pools.begun(on('cred_a'));
    const news = pools.takeNews();
    expect(news.uses).toEqual([{ id: 'cred_a', requests: 2, lastUsedMs: START_MS }]);
    pools.begun(on('cred_a'));
    pools.giveBack(news);
    expect(pools.takeNews().uses).toEqual([{ id: 'cred_a', requests: 3, lastUsedMs: START_MS }]);
    expect(pools.takeNews()).toEqual({ states: [], uses: [] });
  });
});
