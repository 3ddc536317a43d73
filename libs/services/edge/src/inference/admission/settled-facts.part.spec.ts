import type { ScopeLimits } from '@gateway/contracts';
import {
  hello,
  keyScope,
  startEdge,
  testModel,
  testPrincipal,
  type EdgeUnderTest,
} from '../../edge.fixture.js';

/** 10^9 nano-USD. */
const USD = 1_000_000_000n;

describe('a rejection for money rests on settled facts', () => {
  let edge: EdgeUnderTest;
  beforeEach(async () => (edge = await startEdge()));
  afterEach(() => edge.close());

  /** 200 USD per 1M completion tokens: without max_tokens a request holds the most that the context has room for. */
  function serveDear(upstreamModel: string, contextLength = 100_000): void {
    const model = testModel('simulator/dear', [{ provider: 'simulated', upstreamModel }], {
      context_length: contextLength,
    });
    for (const route of model.routes) {
      route.contextLength = contextLength;
      route.maxOutputTokens = contextLength;
      route.price = { ...route.price, completion_usd_per_1m: '200' };
    }
    edge.serveModels(model);
  }

  function keyOf(name: string, spendCapUsd: string | null, more: Partial<ScopeLimits> = {}): string {
    const limits = [keyScope(name, { spendCapUsd, ...more })];
    return edge.addKey(testPrincipal(name, { limits }));
  }

  async function statuses(key: string, count: number, more: object = {}): Promise<number[]> {
    const found: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const { max_tokens: _none, ...body } = hello('simulator/dear', more as Record<string, unknown>);
      const answer = await edge.post(body, { key });
      found.push(answer.status);
      await answer.text();
    }
    return found;
  }

  it.each([
    ['a cap', '20', 1_000n * USD, {}],
    ['a balance', null, 20n * USD, {}],
    ['a cap, streamed', '20', 1_000n * USD, { stream: true }],
    ['a balance, streamed', null, 20n * USD, { stream: true }],
  ] as const)(
    'R1 LIM-31 with room under %s one request after the other is served',
    async (_name, cap, balance, more) => {
      edge.funds.balanceNano = balance;
      serveDear('sim-chat:completion=10');
      expect(await statuses(keyOf('key_back_to_back', cap), 12, more)).toEqual(Array(12).fill(200));
    },
  );

  it('R1 LIM-31 a request that failed upstream holds nothing against the next', async () => {
    edge.funds.balanceNano = 20n * USD;
    const key = keyOf('key_after_failures', null);
    const found: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      serveDear(n % 2 === 0 ? 'sim-chat:error=400' : 'sim-chat:completion=10');
      found.push(...(await statuses(key, 1)));
    }
    expect(found).toEqual([400, 200, 400, 200, 400, 200]);
  });

  it.each([
    ['a cap', '0.2', 1_000n * USD, {}],
    ['a balance', null, USD / 5n, {}],
    ['a cap, streamed', '0.2', 1_000n * USD, { stream: true }],
    ['a balance, streamed', null, USD / 5n, { stream: true }],
  ] as const)(
    'R2 LIM-31 LIM-32 the first request after the one that crossed %s is refused',
    async (_name, cap, balance, more) => {
      edge.funds.balanceNano = balance;
      serveDear('sim-chat:completion=750');
      const key = keyOf('key_crossed', cap);
      // Each costs 0.15 USD and more, and may by its max_tokens cost 0.001.
      expect(await statuses(key, 5, { max_completion_tokens: 5, ...more })).toEqual([
        200, 200, 402, 402, 402,
      ]);
    },
  );

  it('R1 LIM-32 money that running requests hold is told as held, and may be waited for', async () => {
    edge.funds.balanceNano = 20n * USD;
    serveDear('sim-chat:endless;delay=20');
    const key = keyOf('key_held', null);
    const caller = new AbortController();
    const { max_tokens: _none, ...body } = hello('simulator/dear', { stream: true });
    await edge.post(body, { key, signal: caller.signal });
    const refused = await edge.post(body, { key });
    caller.abort();
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    expect(error).toMatchObject({ code: 'spend_limit_exceeded' });
    expect(error.message).toMatch(
      /^The balance of the organization is 20 USD\. Up to 20\.\d+ USD are held by running requests\./,
    );
    expect([refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).toEqual([
      '1',
      'true',
    ]);
    const record = await edge.record(refused, 'gateway.rejections.v1');
    expect(record).toMatchObject({
      limit_type: 'balance',
      cap_usd: null,
      money: { available_usd: '20', is_final: false, held_usd: expect.stringMatching(/^20\.\d+$/) },
    });
  });
});
