import { ApiError, type AdmitRequest, type PutUnit, type ScopeLimits } from '@gateway/contracts';
import { secretDigest } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import {
  hello,
  keyScope,
  startEdge,
  testModel,
  testPrincipal,
  type EdgeUnderTest,
  type Json,
} from '../../edge.fixture.js';

describe('admission', () => {
  let edge: EdgeUnderTest;
  beforeEach(async () => (edge = await startEdge()));
  afterEach(() => edge.close());

  async function said(response: Promise<Response>): Promise<string> {
    const answer = await response;
    return `${answer.status} ${((await answer.json()) as { error?: { code: string } }).error?.code ?? 'ok'}`;
  }

  it('LIM-01 LIM-20 the request after the last of the minute is 429 with Retry-After in the reset and 5 s more', async () => {
    const key = edge.addKey(testPrincipal('key_rpm', { limits: [keyScope('key_rpm', { rpm: 3 })] }));
    let last = await edge.post(hello('simulator/chat'), { key });
    // Four of one minute; the minute may roll in between, so that the refused one is the seventh at most.
    for (let n = 2; n <= 7 && last.status === 200; n += 1)
      last = await edge.post(hello('simulator/chat'), { key });
    expect(last.status).toBe(429);
    const [, minutes = '0', seconds] =
      /^(?:(\d+)m)?(\d+)s$/.exec(last.headers.get('x-ratelimit-reset-requests') ?? '') ?? [];
    const reset = 60 * Number(minutes) + Number(seconds);
    const after = Number(last.headers.get('retry-after'));
    expect(after).toBeGreaterThanOrEqual(reset);
    expect(after).toBeLessThanOrEqual(reset + 5);
    expect(last.headers.get('x-ratelimit-limit-requests')).toBe('3');
    expect(last.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(await edge.record(last, 'gateway.rejections.v1')).toMatchObject({
      code: 'rate_limit_exceeded',
      scope: 'key',
      scope_id: 'key_rpm',
      limit_type: 'rpm',
      cap_usd: null,
    });
  });

  it('LIM-37 a 429 of the organization and a 402 of a cap show what is left of the key', async () => {
    const org = (rpm: number | null, spendCapUsd: string | null): ScopeLimits => ({
      ...keyScope('org_binds', { rpm, spendCapUsd }),
      kind: 'org',
    });
    const ask = async (name: string, limits: ScopeLimits): Promise<string> => {
      const key = edge.addKey(testPrincipal(name, { limits: [keyScope(name, { rpm: 50 }), limits] }));
      let last = await edge.post(hello('simulator/chat'), { key });
      for (let n = 2; n <= 3 && last.status === 200; n += 1)
        last = await edge.post(hello('simulator/chat'), { key });
      const [limit, remaining] = ['limit', 'remaining'].map((part) =>
        last.headers.get(`x-ratelimit-${part}-requests`),
      );
      return `${last.status} ${limit} ${Number(remaining) >= 48} ${last.headers.has('x-ratelimit-reset-requests')}`;
    };
    expect(await ask('key_under_rpm', org(1, null))).toBe('429 50 true true');
    expect(await ask('key_under_cap', org(null, '0'))).toBe('402 50 true true');
  });

  it('a model’s own spend cap on the key holds beside the key’s', async () => {
    const dear = (id: string): void =>
      edge.serveModels(
        testModel(id, [{ provider: 'simulated', upstreamModel: 'sim-chat:completion=90', price: '1000' }]),
      );
    dear('capped/one');
    dear('capped/two');
    const modelLimits = { 'capped/one': { spend_cap_usd: '0.001' } };
    const key = edge.addKey(
      testPrincipal('key_model_cap', { limits: [keyScope('key_model_cap', {})], modelLimits }),
    );
    const before = edge.shipped().length;
    expect((await edge.post(hello('capped/one'), { key })).status).toBe(200);
    await eventually(() => edge.shipped().length === before + 1);
    await eventually(async () => (await edge.limits.read('acct_test', [])).reservedUnits === 0);
    const limits = edge.shipped()[before].limits as { scope_id: string; cap_usd?: string | null }[];
    expect(limits.map(({ scope_id }) => scope_id)).toEqual(['key_model_cap', 'key_model_cap/m:capped/one']);
    const refused = await edge.post(hello('capped/one'), { key });
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({ error: { code: 'spend_limit_exceeded' } });
    expect((await edge.post(hello('capped/two'), { key })).status).toBe(200);
  });

  it('KEY-14 a model’s own spend cap holds where only a fallback of the routing policy can serve', async () => {
    edge.serveModels(
      testModel('capped/away', [{ provider: 'nobody', upstreamModel: 'away' }]),
      testModel('capped/next', [
        { provider: 'simulated', upstreamModel: 'sim-chat:completion=90', price: '1000' },
      ]),
    );
    const key = edge.addKey(
      testPrincipal('key_fallback_cap', {
        limits: [keyScope('key_fallback_cap', {})],
        modelLimits: { 'capped/next': { spend_cap_usd: '0.001' } },
        routingPolicy: { fallback_models: ['capped/next'] },
      }),
    );
    const served = await edge.post(hello('capped/away'), { key });
    expect(await edge.record(served)).toMatchObject({
      model: 'capped/next',
      limits: [{ scope_id: 'key_fallback_cap' }, { scope_id: 'key_fallback_cap/m:capped/next' }],
    });
    await eventually(async () => (await edge.limits.read('acct_test', [])).reservedUnits === 0);
    expect(await said(edge.post(hello('capped/away'), { key }))).toBe('402 spend_limit_exceeded');
  });

  it('tells the ledger the key’s cap, from which spend movements are made', async () => {
    const key = edge.addKey(
      testPrincipal('key_told', { limits: [keyScope('key_told', { spendCapUsd: '5' })] }),
    );
    const answer = await edge.post(hello('simulator/chat'), { key });
    expect((await edge.record(answer)).limits).toMatchObject([{ scope_id: 'key_told', cap_usd: '5' }]);
  });

  it('LIM-31 ERR-16 one request may cross the spend cap and completes; the next is 402', async () => {
    edge.serveModels(
      testModel('simulator/dear', [
        { provider: 'simulated', upstreamModel: 'sim-chat:completion=90', price: '1000' },
      ]),
    );
    const key = edge.addKey(
      testPrincipal('key_cap', { limits: [keyScope('key_cap', { spendCapUsd: '0.001' })] }),
    );
    expect((await edge.post(hello('simulator/dear'), { key })).status).toBe(200);
    await eventually(() => edge.shipped().length === 1);
    await eventually(async () => (await edge.limits.read('acct_test', [])).reservedUnits === 0);
    edge.sim.reset();
    const refused = await edge.post(hello('simulator/dear'), { key });
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({ error: { code: 'spend_limit_exceeded' } });
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(edge.upstream()).toEqual([]);
    expect(await edge.record(refused, 'gateway.rejections.v1')).toMatchObject({
      code: 'spend_limit_exceeded',
      limit_type: 'spend_cap',
      scope: 'key',
      cap_usd: '0.001',
    });
  });

  it.each([
    ['LIM-31', 'cap', '0.001', 100_000_000_000n, 'spend_cap'],
    ['LIM-32', 'balance', null, 1_000_000n, 'balance'],
  ])('%s B13 a %s is overrun by one request, whatever short answers came before', async (...near) => {
    const [, , spendCapUsd, balanceNano, limitType] = near;
    edge.funds.balanceNano = balanceNano;
    edge.serveModels(
      testModel('simulator/long', [{ provider: 'simulated', upstreamModel: 'sim-chat:completion=1' }]),
    );
    // Another tenant's as well as its own: neither makes the reservation of a long answer small.
    const key = edge.addKey(testPrincipal('key_long', { limits: [keyScope('key_long', { spendCapUsd })] }));
    const other = edge.addKey(testPrincipal('key_other', { accountId: 'acct_other' }));
    for (let n = 0; n < 30; n += 1)
      for (const by of [other, key])
        expect((await edge.post(hello('simulator/long', { max_tokens: 1 }), { key: by })).status).toBe(200);
    await eventually(async () => (await edge.limits.read('acct_test', [])).reservedUnits === 0);
    edge.sim.reset();
    edge.serve('simulator/long', 'sim-chat:endless;delay=20');
    const caller = new AbortController();
    const long = (): Promise<Response> =>
      edge.post(hello('simulator/long', { max_tokens: 100_000, stream: true }), {
        key,
        signal: caller.signal,
      });
    const answers = await Promise.all(Array.from({ length: 40 }, long));
    const refused = answers.filter(({ status }) => status === 402);
    expect(refused).toHaveLength(39);
    expect(edge.upstream()).toHaveLength(1);
    expect(new Set(refused.map(({ headers }) => headers.get('x-should-retry')))).toEqual(new Set(['true']));
    expect(new Set(refused.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']));
    const rejections = await eventually(() => {
      const shipped = edge.shipped('gateway.rejections.v1');
      return shipped.length > 0 ? shipped : null;
    });
    expect(new Set(rejections.map(({ limit_type }) => limit_type))).toEqual(new Set([limitType]));
    caller.abort();
  });

  it('spend that was put again after its posting refuses nobody; where nobody knows, 503 and not 402', async () => {
    expect((await edge.post(hello('simulator/chat'))).status).toBe(200);
    const again: PutUnit = {
      accountId: 'acct_test',
      unit: 'req_again/0',
      action: 'settle',
      nano: edge.funds.balanceNano + 1n,
      scopes: [{ kind: 'key', id: 'key_test' }],
      tokens: 0,
      tokenEstimate: 0,
      minute: 0,
      leaseMs: 0,
    };
    edge.funds.posted.add(again.unit);
    await edge.limits.put([again]);
    expect((await edge.post(hello('simulator/chat'))).status).toBe(200);

    await edge.limits.put([{ ...again, unit: 'req_unknown/0' }]);
    const doubted = await edge.post(hello('simulator/chat'));
    expect([doubted.status, doubted.headers.get('retry-after')]).toEqual([503, '1']);
    expect(doubted.headers.get('x-should-retry')).toBe('true');
  });

  it('where billing is off an empty balance refuses nothing, and the unit says who pays; caps hold', async () => {
    const limits = [keyScope('key_unbilled', { spendCapUsd: '0' })];
    const off = { billing: 'off', creditLimitUsd: null } as const;
    edge.funds.balanceNano = -1n;
    const answer = await edge.post(hello('simulator/chat'), {
      key: edge.addKey(testPrincipal('key_free_of_wallet', { ...off, accountId: 'acct_unbilled' })),
    });
    expect(answer.status).toBe(200);
    expect(await edge.record(answer)).toMatchObject({ billing: 'off', outcome: 'served' });
    const capped = edge.addKey(testPrincipal('key_unbilled', { ...off, accountId: 'acct_capped', limits }));
    expect(await said(edge.post(hello('simulator/chat'), { key: capped }))).toBe('402 spend_limit_exceeded');
  });

  it('LIM-32 ERR-17 a request under way may overdraw the balance; the next is 402', async () => {
    edge.funds.balanceNano = 1_000n;
    expect((await edge.post(hello('simulator/chat'))).status).toBe(200);
    await eventually(() => edge.shipped().length === 1);
    await eventually(async () => (await edge.limits.read('acct_test', [])).reservedUnits === 0);
    expect(await said(edge.post(hello('simulator/chat')))).toBe('402 spend_limit_exceeded');
  });

  it('AUTH-19 a key that was suspended or changed is refused on the very next request, though it is cached', async () => {
    const principal = testPrincipal('key_old');
    const key = edge.addKey(principal);
    expect((await edge.post(hello('simulator/chat'), { key })).status).toBe(200);
    const digest = secretDigest(key);
    const changes: [Partial<ReturnType<typeof testPrincipal>>, string][] = [
      [{ access: [{ kind: 'key', allowed: null, blocked: ['simulator/chat'] }] }, '403 model_excluded'],
      [{ status: 'suspended' }, '403 forbidden'],
    ];
    for (const [at, [change, answer]] of changes.entries()) {
      edge.principals.cached.set(digest, { ...principal, accountVersion: at + 1 });
      edge.principals.known.set(digest, { ...principal, ...change, accountVersion: at + 2 });
      await edge.limits.stamp('acct_test', at + 2, null);
      edge.sim.reset();
      expect(await said(edge.post(hello('simulator/chat'), { key }))).toBe(answer);
      expect(edge.upstream()).toEqual([]);
    }
    edge.principals.known.delete(digest);
    edge.principals.cached.set(digest, { ...principal, accountVersion: 3 });
    await edge.limits.stamp('acct_test', 4, null);
    expect(await said(edge.post(hello('simulator/chat'), { key }))).toBe('401 unauthorized');
    expect(edge.principals.reloads).toBeGreaterThanOrEqual(3);
  });

  it('a rejection never rests on an old record: what was allowed since is served by the very next request', async () => {
    const blocked = { access: [{ kind: 'key' as const, allowed: null, blocked: ['simulator/chat'] }] };
    const outside = { access: [{ kind: 'key' as const, allowed: ['other/*'], blocked: [] }] };
    const principal = testPrincipal('key_freed');
    const key = edge.addKey(principal);
    const digest = secretDigest(key);
    for (const [at, change] of [blocked, outside, { fixedProvider: 'nobody' }].entries()) {
      edge.principals.cached.set(digest, { ...principal, ...change, accountVersion: at + 1 });
      edge.principals.known.set(digest, { ...principal, accountVersion: at + 2 });
      await edge.limits.stamp('acct_test', at + 2, null);
      expect((await edge.post(hello('simulator/chat'), { key })).status).toBe(200);
    }
    edge.principals.known.set(digest, { ...principal, ...blocked, accountVersion: 4 });
    const before = edge.principals.reloads;
    expect(await said(edge.post(hello('nobody/none'), { key }))).toBe('404 model_not_found');
    expect(edge.principals.reloads).toBe(before);
  });

  it('an account that the store does not know is seeded once, and then admits', async () => {
    expect((await edge.post(hello('simulator/chat'))).status).toBe(200);
    expect((await edge.post(hello('simulator/chat'))).status).toBe(200);
    expect(edge.funds.seeded).toBe(1);
  });

  it('a store that is away is 503 with Retry-After, and what it may have counted is cancelled', async () => {
    const puts: PutUnit[] = [];
    const asked: AdmitRequest[] = [];
    edge.limits.admit = (request) => {
      if (request.accountId === 'acct_test') asked.push(request);
      return Promise.reject(new ApiError('service_unavailable', { retryAfterSeconds: 2 }));
    };
    edge.limits.put = (units) => Promise.resolve(void puts.push(...units));
    const refused = await edge.post(hello('simulator/chat'));
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(edge.upstream()).toEqual([]);
    await eventually(() => puts.length === 1);
    expect(puts[0]).toMatchObject({ action: 'cancel', unit: asked[0].unitId });
  });

  it('R05 a unit that ran by the local share is registered, one that was refused is cancelled where it may be counted', async () => {
    const puts: PutUnit[] = [];
    const admit = edge.limits.admit.bind(edge.limits);
    const decidedAlone = (withoutStore: 'unasked' | 'unsure') => async (request: AdmitRequest) => ({
      ...(await admit(request)),
      withoutStore,
    });
    edge.limits.put = (units) => Promise.resolve(void puts.push(...units));
    edge.limits.admit = decidedAlone('unasked');
    expect((await edge.post(hello('simulator/chat'))).status).toBe(200);
    await eventually(() => puts.some(({ action }) => action === 'settle'));
    const [unit] = puts.map((put) => put.unit);
    expect(puts.every((put) => put.unit === unit && put.action !== 'cancel')).toBe(true);

    const key = edge.addKey(testPrincipal('key_none', { limits: [keyScope('key_none', { rpm: 0 })] }));
    puts.length = 0;
    expect((await edge.post(hello('simulator/chat'), { key })).status).toBe(429);
    edge.limits.admit = decidedAlone('unsure');
    expect((await edge.post(hello('simulator/chat'), { key })).status).toBe(429);
    await eventually(() => puts.length > 0);
    expect(puts.map(({ action }) => action)).toEqual(['cancel']);
  });

  it('R05 a store that is away for less than a second costs a wait, not a rejection', async () => {
    const admit = edge.limits.admit.bind(edge.limits);
    let away = 10;
    edge.limits.admit = (request) =>
      away-- > 0 ? Promise.resolve({ kind: 'unavailable', withoutStore: 'unasked' }) : admit(request);
    expect((await edge.post(hello('simulator/chat'))).status).toBe(200);
    edge.limits.admit = admit;
  });

  it('R05 what neither the store nor the share can decide is 503 with Retry-After', async () => {
    const admit = edge.limits.admit.bind(edge.limits);
    edge.limits.admit = (request) =>
      request.accountId === 'acct_test'
        ? Promise.resolve({ kind: 'unavailable', withoutStore: 'unasked' })
        : admit(request);
    const refused = await edge.post(hello('simulator/chat'));
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('a unit that was admitted and that the journal then refuses gives its count back', async () => {
    const count = async (): Promise<unknown> =>
      (await edge.limits.read('acct_test', [{ kind: 'key', id: 'key_test' }])).scopes;
    expect((await edge.post(hello('simulator/chat'))).status).toBe(200);
    const { journal } = edge;
    journal.intent = () => false;
    for (let n = 0; n < 3; n += 1) expect((await edge.post(hello('simulator/chat'))).status).toBe(503);
    await eventually(async () => {
      expect(await count()).toMatchObject([{ rpd: 1, reservedNano: 0n }]);
      return true;
    });
  });

  it('a ledger that is away is 503, and the next request after its return is served', async () => {
    const seedSpendLimit = edge.funds.seedSpendLimit.bind(edge.funds);
    edge.funds.seedSpendLimit = () =>
      Promise.reject(new ApiError('service_unavailable', { retryAfterSeconds: 2 }));
    expect(await said(edge.post(hello('simulator/chat')))).toBe('503 service_unavailable');
    edge.funds.seedSpendLimit = seedSpendLimit;
    expect((await edge.post(hello('simulator/chat'))).status).toBe(200);
  });

  it('a journal that takes no unit is 503, nothing is counted and readiness is off', async () => {
    const full = await startEdge();
    const { journal } = full;
    Object.defineProperty(journal, 'isAccepting', { get: () => false });
    const refused = await full.post(hello('simulator/chat'));
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(full.upstream()).toEqual([]);
    expect(
      ((await full.limits.read('acct_test', [{ kind: 'key', id: 'key_test' }])).scopes[0] as unknown as Json)
        .rpm,
    ).toBe(0);
    expect((await fetch(`${full.url}/readyz`)).status).toBe(503);
    await full.close();
  });
});
