import { SystemClock } from '@gateway/platform';
import { eventually, HandClock } from '@gateway/testing';
import { hello, startEdge, testPrincipal, type EdgeUnderTest, type Json } from '../../edge.fixture.js';

const BUSY = 'error=503-overloaded;retry_after_ms=1';

/** Time of an attempt without a bound of ours. */
const HANG_MS = 600_000;

describe('attempts', () => {
  let edge: EdgeUnderTest;
  let clock: HandClock;
  beforeEach(async () => {
    clock = new HandClock(new SystemClock());
    edge = await startEdge({ clock });
  });
  afterEach(() => edge.close());

  function keyWith(policy: Json): string {
    return edge.addKey(testPrincipal('key_policy', { routingPolicy: { retry_backoff_ms: 1, ...policy } }));
  }

  it('ROUTE-01 fail-first-n: the same route is tried again and serves', async () => {
    const model = edge.serve('retry/scripted', `sim-chat:${BUSY};fail=2`);
    for (const stream of [false, true]) {
      edge.sim.reset();
      const response = await edge.post(hello(model, { stream }));
      expect(response.status).toBe(200);
      await response.text();
      const record = await edge.record(response);
      expect(
        (record.attempts as Json[]).map(({ n, status, served, house_usd }) => [n, status, served, house_usd]),
      ).toEqual(
        [
          [1, 'error', false, null],
          [2, 'error', false, null],
          [3, 'success', true, null],
        ].slice(stream ? 0 : 0),
      );
      expect(record).toMatchObject({ outcome: 'served', routing_fallback: false });
      edge.sim.reset();
      await edge.close();
      edge = await startEdge({ clock });
      edge.serve('retry/scripted', `sim-chat:${BUSY};fail=2`);
    }
  });

  it('ROUTE-02 USG-10 a second route serves: fallback told in the answer and in the record, priced at its own route', async () => {
    const routes = ['sim-chat:error=429-quota', 'sim-claude:prompt=10;completion=10'];
    const model = edge.serve('retry/two', ...routes);
    const response = await edge.post(hello(model));
    expect(((await response.json()) as { usage: Json }).usage).toMatchObject({ fallback_triggered: true });
    expect(await edge.record(response)).toMatchObject({
      routing_fallback: true,
      provider: 'simulated-messages',
      cost_usd: '0.00004',
      priced_from: { provider: 'simulated-messages' },
    });
  });

  it.each([
    ['the first route serves', ['sim-chat:prompt=10', 'sim-claude:prompt=10'], false],
    ['the first route serves at a second try', [`sim-chat:${BUSY};fail=1`, 'sim-claude:prompt=10'], false],
    ['a second route serves', ['sim-chat:error=429-quota', 'sim-claude:prompt=10'], true],
  ])('USG-15 %s: fallback_triggered says so, plain and in a stream', async (_case, routes, isFallback) => {
    const model = edge.serve('retry/told', ...routes);
    for (const stream of [false, true]) {
      edge.sim.reset();
      const response = await edge.post(hello(model, { stream }));
      const told = [...(await response.text()).matchAll(/"fallback_triggered":\s*(true|false)/g)];
      expect(told.map(([, value]) => value)).toEqual([String(isFallback)]);
    }
  });

  it('ERR-14 lists every attempt of a failure without naming providers', async () => {
    const model = edge.serve('retry/two', 'sim-chat:error=429-quota', 'sim-claude:error=401-key');
    const response = await edge.post(hello(model));
    const { error } = (await response.json()) as { error: { attempts: Json[] } };
    expect(error.attempts).toEqual([
      {
        n: 1,
        code: 'upstream_error',
        provider_code: 'internal_provider_error',
        status: 429,
        fault: 'service',
      },
      {
        n: 2,
        code: 'upstream_error',
        provider_code: 'internal_provider_error',
        status: 401,
        fault: 'service',
      },
    ]);
    expect((await edge.record(response)).attempts).toHaveLength(2);
  });

  it('U04 after the first event nothing is tried again', async () => {
    const model = edge.serve('retry/two', 'sim-chat:cut=3;bytes=400', 'sim-claude');
    const response = await edge.post(hello(model, { stream: true }));
    expect(await response.text()).toContain('connection_error');
    expect(edge.upstream()).toHaveLength(1);
  });

  it('U05 an attempt’s own timeout ends it and the next route serves', async () => {
    const key = keyWith({ attempt_timeout_ms: 300 });
    const model = edge.serve('retry/two', `sim-chat:hang=${HANG_MS}`, 'sim-claude');
    for (const stream of [false, true]) {
      edge.sim.reset();
      const asked = edge.post(hello(model, { stream }), { key });
      await eventually(() => edge.upstream().length === 1);
      clock.advance(350);
      const response = await asked;
      expect(response.status).toBe(200);
      await response.text();
      const [first] = (await edge.record(response)).attempts as Json[];
      expect(first).toMatchObject({ error_code: 'gateway_timeout', provider_code: 'provider_timeout' });
      expect(first.latency_ms).toBe(350);
    }
  });

  it('ERR-50 U05 the caller’s total bound ends everything with 504', async () => {
    const key = keyWith({ total_timeout_ms: 400 });
    const model = edge.serve('retry/two', `sim-chat:hang=${HANG_MS}`, `sim-claude:hang=${HANG_MS}`);
    for (const stream of [false, true]) {
      edge.sim.reset();
      const asked = edge.post(hello(model, { stream }), { key });
      await eventually(() => edge.upstream().length === 1);
      clock.advance(450);
      const response = await asked;
      expect(response.status).toBe(504);
      expect(await response.json()).toMatchObject({ error: { code: 'gateway_timeout' } });
      expect(await edge.record(response)).toMatchObject({ outcome: 'failed', error_code: 'gateway_timeout' });
      expect(edge.upstream()).toHaveLength(1);
    }
  });

  it('a short Retry-After is waited for, a long one is passed on', async () => {
    const short = edge.serve('retry/short', 'sim-chat:error=429-rate;retry_after=1;fail=1');
    expect((await edge.post(hello(short))).status).toBe(200);
    const [first, second] = edge.upstream();
    expect(second.receivedAt - first.receivedAt).toBeGreaterThanOrEqual(950);
    const long = edge.serve('retry/long', 'sim-chat:error=429-rate;retry_after=30');
    const response = await edge.post(hello(long));
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(30);
    expect(edge.upstream()).toHaveLength(3);
  });
});
