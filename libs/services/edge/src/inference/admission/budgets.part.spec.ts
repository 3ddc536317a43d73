import { eventually } from '@gateway/testing';
import { callerEndUserHash } from '../../request/end-user-hash.js';
import {
  hello,
  keyScope,
  startEdge,
  testModel,
  testPrincipal,
  type EdgeUnderTest,
} from '../../edge.fixture.js';

describe('budgets', () => {
  let edge: EdgeUnderTest;
  beforeEach(async () => (edge = await startEdge()));
  afterEach(() => edge.close());

  it('402 of a budget carries its id and is not retried; the usage record names the period that counts the unit', async () => {
    edge.serveModels(
      testModel('budget/one', [
        { provider: 'simulated', upstreamModel: 'sim-chat:completion=90', price: '1000' },
      ]),
    );
    const budget = {
      ...{ id: 'bud_test', name: 'Small', scope: 'key' as const, scopeId: 'key_budget', amountUsd: '0.001' },
      ...{ raise: null, period: 'quarter' as const, timeZone: 'Asia/Kathmandu', countedFromMs: 7 },
    };
    const key = edge.addKey(
      testPrincipal('key_budget', { limits: [keyScope('key_budget', {})], budgets: [budget] }),
    );
    const served = await edge.post(hello('budget/one'), { key });
    const record = (await edge.record(served)) as { created_at: string; limits: { scope_id: string }[] };
    expect(record.limits.map(({ scope_id }) => scope_id)).toEqual([
      'key_budget',
      expect.stringMatching(/^key_budget\/b:\d+-\d+\.7$/),
    ]);
    const [start, end] = record.limits[1].scope_id.split('/b:')[1].split(/[-.]/).map(Number);
    const createdAt = Date.parse(record.created_at);
    expect(start <= createdAt && createdAt < end).toBe(true);
    await eventually(async () => (await edge.limits.read('acct_test', [])).reservedUnits === 0);
    const refused = await edge.post(hello('budget/one'), { key });
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([402, 'false']);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'spend_limit_exceeded',
        budget_id: 'bud_test',
        message: expect.stringContaining(
          `budget "Small" of 0.001 USD of the key, whose period ends at ${new Date(end).toISOString()}`,
        ),
      },
    });
  });

  it('a soft budget refuses nothing; its thresholds go with the usage record, in the period of the request', async () => {
    edge.serveModels(
      testModel('budget/soft', [
        { provider: 'simulated', upstreamModel: 'sim-chat:completion=90', price: '1000' },
      ]),
    );
    const budget = {
      ...{ id: 'bud_soft', name: 'Soft', scope: 'key' as const, scopeId: 'key_soft', amountUsd: '0.001' },
      ...{ raise: null, period: 'day' as const, timeZone: 'UTC', countedFromMs: 7 },
      ...{ isHard: false, thresholdsPct: [50] },
    };
    const key = edge.addKey(
      testPrincipal('key_soft', { limits: [keyScope('key_soft', {})], budgets: [budget] }),
    );
    for (let at = 0; at < 3; at += 1) {
      const served = await edge.post(hello('budget/soft'), { key });
      expect(served.status).toBe(200);
      const { budgets, limits } = (await edge.record(served)) as {
        budgets: object[];
        limits: { scope_id: string }[];
      };
      const [start_ms, end_ms] = limits[1].scope_id.split('/b:')[1].split(/[-.]/).map(Number);
      expect(budgets).toEqual([
        {
          ...{ budget_id: 'bud_soft', name: 'Soft', scope: 'key', scope_id: 'key_soft' },
          ...{ amount_usd: '0.001', thresholds_pct: [50], start_ms, end_ms },
        },
      ]);
    }
  });

  it('a rejection by a rolling budget asks the ledger for what has passed meanwhile, once in ten seconds', async () => {
    edge.serveModels(
      testModel('budget/rolling', [
        { provider: 'simulated', upstreamModel: 'sim-chat:completion=90', price: '1000' },
      ]),
    );
    const budget = {
      ...{
        id: 'bud_rolling',
        name: 'Week',
        scope: 'key' as const,
        scopeId: 'key_rolling',
        amountUsd: '0.001',
      },
      ...{ raise: null, period: 'rolling' as const, timeZone: null, rollingDays: 7, countedFromMs: 7 },
    };
    const key = edge.addKey(
      testPrincipal('key_rolling', { limits: [keyScope('key_rolling', {})], budgets: [budget] }),
    );
    const name = 'key key_rolling/b:r7.7';
    edge.funds.spentByScope.set(name, '5');
    const refused = await edge.post(hello('budget/rolling'), { key });
    const { error } = (await refused.json()) as { error: { message: string } };
    expect([refused.status, error.message]).toEqual([
      402,
      expect.stringContaining('budget "Week" of 0.001 USD of the key, which counts the last 7 x 24 hours'),
    ]);
    const { seeded } = edge.funds;
    expect((await edge.post(hello('budget/rolling'), { key })).status).toBe(402);
    expect(edge.funds.seeded).toBe(seeded);
  });

  it('what has passed since the last posting of a rolling budget refuses nothing', async () => {
    edge.serveModels(
      testModel('budget/passed', [
        { provider: 'simulated', upstreamModel: 'sim-chat:completion=90', price: '1000' },
      ]),
    );
    const budget = {
      ...{ id: 'bud_passed', name: 'Day', scope: 'key' as const, scopeId: 'key_passed', amountUsd: '0.001' },
      ...{ raise: null, period: 'rolling' as const, timeZone: null, rollingDays: 1, countedFromMs: 7 },
    };
    const key = edge.addKey(
      testPrincipal('key_passed', { limits: [keyScope('key_passed', {})], budgets: [budget] }),
    );
    const name = 'key key_passed/b:r1.7';
    edge.funds.spentByScope.set(name, '5');
    const seed = edge.funds.seedSpendLimit.bind(edge.funds);
    edge.funds.seedSpendLimit = async (accountId, gen, scopes) => {
      if (gen === null) edge.funds.spentByScope.set(name, '0');
      await seed(accountId, gen, scopes);
    };
    expect((await edge.post(hello('budget/passed'), { key })).status).toBe(200);
  });

  it.each([
    ['tag', 'project=a', { 'x-request-tags': 'project=a' }, {}],
    ['tag', 'of=key', { 'x-request-tags': 'of=other' }, {}],
    ['end_user', 'alice', {}, { user: 'alice' }],
  ] as const)(
    '402 of a budget of %s %s for the requests that carry it alone, and no end user is named',
    async (scope, id, headers, body) => {
      edge.serveModels(
        testModel('budget/carried', [
          { provider: 'simulated', upstreamModel: 'sim-chat:completion=90', price: '1000' },
        ]),
      );
      const principal = testPrincipal('key_carried', { limits: [keyScope('key_carried', {})] });
      const scopeId = scope === 'end_user' ? (callerEndUserHash(principal, id) ?? '') : id;
      const budget = {
        ...{ id: 'bud_carried', name: 'Carried', scope, scopeId, amountUsd: '0.001' },
        ...{ raise: null, period: 'day' as const, timeZone: 'UTC', countedFromMs: 7 },
      };
      const requestTags: Record<string, string> = id === 'of=key' ? { of: 'key' } : {};
      const key = edge.addKey({ ...principal, requestTags, carriedBudgets: [budget] });
      const ask = (): ReturnType<typeof edge.post> =>
        edge.post({ ...hello('budget/carried'), ...body }, { key, headers });
      const served = await ask();
      expect(served.status).toBe(200);
      const { limits } = (await edge.record(served)) as { limits: { scope: string; scope_id: string }[] };
      expect(limits[1]).toMatchObject({ scope, scope_id: expect.stringContaining(`${scopeId}/b:`) });
      await eventually(async () => (await edge.limits.read('acct_test', [])).reservedUnits === 0);
      const refused = await ask();
      const text = await refused.text();
      expect([refused.status, JSON.parse(text)]).toEqual([
        402,
        expect.objectContaining({ error: expect.objectContaining({ budget_id: 'bud_carried' }) }),
      ]);
      expect(text).not.toContain(scopeId);
      if (id !== 'of=key') expect((await edge.post(hello('budget/carried'), { key })).status).toBe(200);
    },
  );
});
