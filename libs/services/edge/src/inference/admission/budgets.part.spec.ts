import { eventually } from '@gateway/testing';
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
});
