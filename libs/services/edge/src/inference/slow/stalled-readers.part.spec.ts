import { Drain } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import { hello } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './slow.fixture.js';

const edge = tenantOf(started, 'stalled_readers');

describe('U11 a caller that leaves', () => {
  it('U06 a reader that stalls is closed, its upstream too, and memory stays bounded', async () => {
    const model = edge.serve('leave/scripted', 'sim-chat:bytes=30000000;chunk=60000');
    const response = await edge.post(hello(model, { stream: true }));
    expect(response.status).toBe(200);
    await eventually(() => edge.shipped().length === 1);
    const [record] = edge.shipped();
    expect(record).toMatchObject({ outcome: 'cancelled', http_status: 200 });
    expect((record.usage as Record<string, number>).completion_tokens).toBeLessThan(8_000_000 / 4);
    await eventually(() => edge.sim.connections().open === 0);
    await response.body?.cancel().catch(() => undefined);
  });

  it('U06 a reader that takes nothing of a whole answer is closed', async () => {
    const model = edge.serve('leave/scripted', 'sim-chat:bytes=30000000');
    const response = await edge.post(hello(model));
    expect(response.status).toBe(200);
    const drain = edge.app.app.get(Drain);
    await eventually(() => drain.requestsInFlight === 0);
    await expect(response.text()).rejects.toThrow();
  });
});
