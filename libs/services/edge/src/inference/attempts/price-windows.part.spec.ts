import { jest } from '@jest/globals';
import { SystemClock } from '@gateway/platform';
import { hello, startEdge, testModel, type EdgeUnderTest, type Json } from '../../edge.fixture.js';

const HOUR_MS = 3_600_000;

/** The machine's clock, some time ahead. */
class AheadClock extends SystemClock {
  aheadMs = 0;

  override now(): number {
    return super.now() + this.aheadMs;
  }
}

describe('prices by hour', () => {
  let edge: EdgeUnderTest;
  let clock: AheadClock;
  let from: number;
  beforeEach(async () => {
    clock = new AheadClock();
    edge = await startEdge({ clock });
    from = clock.now() + HOUR_MS / 4;
    const model = testModel('hours/one', [
      { provider: 'simulated', upstreamModel: 'sim-chat:prompt=10;completion=10' },
    ]);
    const prices = { prompt_usd_per_1m: '10', completion_usd_per_1m: '20' };
    const window = { name: 'peak', from: new Date(from).toISOString(), prices };
    model.routes[0].price = { ...model.routes[0].price, windows: [window] };
    edge.serveModels(model);
  });
  afterEach(() => edge.close());

  async function billed(): Promise<Json> {
    const response = await edge.post(hello('hours/one'));
    expect(response.status).toBe(200);
    await response.text();
    return edge.record(response);
  }

  it('issue 37 bills the price that is in force when the provider is called, and names it with its instant', async () => {
    const before = await billed();
    expect(before).toMatchObject({ cost_usd: '0.00003', priced_from: { price_window: null } });
    clock.aheadMs = HOUR_MS;
    const after = await billed();
    expect(after).toMatchObject({ cost_usd: '0.0003', priced_from: { price_window: 'peak' } });
    const instants = [before, after].map((record) =>
      Date.parse((record.priced_from as { priced_at: string }).priced_at),
    );
    expect(instants[0]).toBeLessThan(from);
    expect(instants[1]).toBeGreaterThanOrEqual(from);
  });

  it('issue 37 reserves the dearest price that can be in force before the request has to end', async () => {
    const admit = jest.spyOn(edge.limits, 'admit');
    await billed();
    clock.aheadMs = HOUR_MS;
    await billed();
    const [near, later] = admit.mock.calls.map(([request]) => request.reservationNano);
    expect(near).toBe(later);
    clock.aheadMs = -HOUR_MS;
    await billed();
    expect(Number(near)).toBeGreaterThan(5 * Number(admit.mock.calls.at(-1)?.[0].reservationNano));
  });
});
