import { SystemClock } from '@gateway/platform';
import { HandClock, startFaultProxy, type FaultProxy } from '@gateway/testing';
import { hello, startEdge, testPrincipal, type EdgeUnderTest } from '../../edge.fixture.js';

/** Requests of callers that send one after another. */
async function ask(count: number, callers: number, one: (n: number) => Promise<number>): Promise<number[]> {
  const statuses: number[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      statuses.push(await one(next));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return statuses;
}

describe('a provider that fails every request', () => {
  let edge: EdgeUnderTest;
  let proxy: FaultProxy;
  let key: string;
  let clock: HandClock;
  beforeEach(async () => {
    clock = new HandClock(new SystemClock());
    edge = await startEdge({
      clock,
      upstreams: async (sim) => {
        proxy = await startFaultProxy(sim.url);
        return { simulated: `http://${proxy.address}` };
      },
    });
    key = edge.addKey(testPrincipal('key_outage', { routingPolicy: null }));
    proxy.set({ connect: 'reset' });
  });
  afterEach(async () => {
    await edge.close();
    await proxy.close();
  });

  const send = async (model: string, n: number): Promise<number> => {
    const stream = n % 2 === 0;
    const answer = await edge.post(hello(model, { stream }), { key });
    await answer.text();
    return answer.status;
  };

  it('U02 is left alone within 20 calls, and serves within 10 s of its recovery', async () => {
    const statuses = await ask(1_000, 4, (n) => send('simulator/chat', n));
    expect(new Set(statuses)).toEqual(new Set([502, 503]));
    const calls = proxy.accepted();
    expect(calls).toBeLessThan(20);
    // One call every five seconds tries it, and a failure of that one leaves it alone again.
    clock.advance(6_000);
    expect(await send('simulator/chat', 0)).toBeGreaterThanOrEqual(502);
    proxy.set({});
    expect(await send('simulator/chat', 1)).toBe(503);
    expect(proxy.accepted()).toBe(calls + 1);
    clock.advance(6_000);
    expect(await send('simulator/chat', 0)).toBe(200);
    expect(await send('simulator/chat', 1)).toBe(200);
  });

  it('U03 gets at most 1.2 calls a request, also where no breaker helps because its models are many', async () => {
    // Five requests of a model and their retries are fewer than open a breaker.
    const models = Array.from({ length: 200 }, (_, n) => edge.serve(`many/m${n}`, `sim-chat-${n}`));
    const statuses = await ask(1_000, 8, (n) => send(models[n % models.length], n));
    expect(new Set(statuses)).toEqual(new Set([502]));
    expect(proxy.accepted()).toBeGreaterThan(1_050);
    expect(proxy.accepted()).toBeLessThanOrEqual(1_200);
  });

  it('ROUTE-02 costs no caller an answer where another route exists', async () => {
    const model = edge.serve('two/routes', 'sim-chat', 'sim-claude');
    const statuses = await ask(1_000, 8, (n) => send(model, n));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(proxy.accepted()).toBeLessThan(24);
  });
});
