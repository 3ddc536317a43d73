import { jest } from '@jest/globals';
import { SystemClock } from '@gateway/platform';
import {
  EDGE_USAGE,
  eventually,
  HOURLY_PRICE,
  PRICE_EDGES,
  startUpstreamDouble,
  type ScriptedAnswer,
  type UpstreamDouble,
} from '@gateway/testing';
import { Decimal } from 'decimal.js';
import { hello, startEdge, testModel, type EdgeUnderTest, type Json } from '../../edge.fixture.js';

const ANSWER: ScriptedAnswer = {
  json: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'one' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { ...EDGE_USAGE, total_tokens: 20 },
  },
};

/** The machine's clock, whose time of day a test names. */
class NamedClock extends SystemClock {
  atMs = 0;

  override now(): number {
    return this.atMs;
  }
}

describe('a unit at each edge of prices by hour', () => {
  let edge: EdgeUnderTest;
  let provider: UpstreamDouble;
  let clock: NamedClock;
  beforeAll(async () => {
    clock = new NamedClock();
    clock.atMs = Date.parse(PRICE_EDGES[0].at);
    provider = await startUpstreamDouble();
    edge = await startEdge({ clock, upstreams: () => Promise.resolve({ openai: provider.url }) });
    const model = testModel('hours/edges', [{ provider: 'openai', upstreamModel: 'one' }]);
    model.routes[0].price = HOURLY_PRICE;
    edge.serveModels(model);
  });
  afterAll(async () => {
    await Promise.all([edge?.close(), provider?.close()]);
  });
  beforeEach(() => {
    provider.answer = () => ANSWER;
  });
  afterEach(() => jest.restoreAllMocks());

  async function billed(): Promise<Json> {
    const response = await edge.post(hello('hours/edges'));
    expect(response.status).toBe(200);
    await response.text();
    return edge.record(response);
  }

  const nanoOf = (usd: string): bigint => BigInt(new Decimal(usd).times(1_000_000_000).toFixed());

  it.each(PRICE_EDGES.map(({ at, window, costUsd }) => [at, window, costUsd] as const))(
    'issue 37 at %s is billed by %s: the event and what is settled say %s',
    async (at, window, costUsd) => {
      clock.atMs = Date.parse(at);
      const put = jest.spyOn(edge.limits, 'put');
      const record = await billed();
      expect(record).toMatchObject({
        ...{ cost_usd: costUsd, created_at: at, usage: EDGE_USAGE },
        priced_from: { price_window: window, priced_at: at },
      });
      const unit = `${String(record.request_id)}/0`;
      const settled = await eventually(() =>
        put.mock.calls.flat(2).find((each) => each.unit === unit && each.action === 'settle'),
      );
      expect(settled.nano).toBe(nanoOf(costUsd));
    },
  );

  it('issue 37 a request that begins a millisecond before an edge keeps the price of its beginning, however late it is answered', async () => {
    const [before, after] = [PRICE_EDGES[0], PRICE_EDGES[1]];
    clock.atMs = Date.parse(before.at);
    provider.answer = () => {
      clock.atMs = Date.parse(after.at) + 60_000;
      return ANSWER;
    };
    expect(await billed()).toMatchObject({
      cost_usd: before.costUsd,
      priced_from: { price_window: null, priced_at: before.at },
    });
  });

  it('issue 37 an attempt that is begun after the edge has the price behind it, and it was reserved', async () => {
    const [before, after] = [PRICE_EDGES[0], PRICE_EDGES[1]];
    clock.atMs = Date.parse(before.at);
    const admit = jest.spyOn(edge.limits, 'admit');
    let calls = 0;
    provider.answer = () => {
      clock.atMs = Date.parse(after.at);
      return (calls += 1) === 1 ? { status: 500, json: { error: { message: 'no' } } } : ANSWER;
    };
    const record = await billed();
    expect(record).toMatchObject({
      ...{ cost_usd: after.costUsd, created_at: before.at },
      priced_from: { price_window: after.window, priced_at: after.at },
      attempts: [
        { started_at: before.at, served: false },
        { started_at: after.at, served: true },
      ],
    });
    // Far from any edge the same request may cost a tenth.
    clock.atMs = Date.parse('2027-01-02T12:00:00Z');
    provider.answer = () => ANSWER;
    await billed();
    const reserved = admit.mock.calls.filter(([{ accountId }]) => accountId === 'acct_test');
    const [near, far] = reserved.map(([{ worstNano }]) => worstNano);
    expect([far, near]).toEqual([expect.any(BigInt), 10n * BigInt(far ?? 0n)]);
  });
});
