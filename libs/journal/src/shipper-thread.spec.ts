import { fixedClock } from '@gateway/testing/plain';
import { ShipperThread, type ShipperOrder } from './shipper-thread.js';

describe('the shipper seen from the main thread', () => {
  it('tells the worker every 50 ms what may ship, and every 200 ms from 500 records a second on', async () => {
    const clock = fixedClock('2026-11-21T00:00:00.000Z');
    const sent: [ms: number, seq: number][] = [];
    const begunMs = clock.monotonic();
    const port = {
      on: () => port,
      postMessage: (order: ShipperOrder) => {
        if (order.kind === 'may_ship') sent.push([clock.monotonic() - begunMs, order.position.seq]);
      },
    };
    const shipper = new ShipperThread(port as never, {
      clock,
      watermark: () => Promise.resolve(0),
      events: { watermark: () => undefined, alarm: () => undefined },
    });
    let seq = 0;
    const write = async (ms: number, everyMs: number, records: number): Promise<void> => {
      for (let at = 0; at < ms; at += everyMs) {
        seq += records;
        shipper.mayShip({ segment: 1, offset: seq, seq });
        await clock.advance(everyMs);
      }
    };
    await write(100, 10, 4);
    expect(sent.splice(0)).toEqual([
      [50, 20],
      [100, 40],
    ]);
    await write(450, 10, 6);
    expect(sent.splice(0).map(([ms]) => ms)).toEqual([150, 350, 550]);
    await write(250, 10, 1);
    expect(sent.splice(0).map(([ms]) => ms)).toEqual([750, 800]);
    // An answer waits for it.
    shipper.mayShip({ segment: 1, offset: seq + 1, seq: seq + 1 });
    shipper.hurry();
    expect(sent.splice(0).map(([ms]) => ms)).toEqual([800]);
    shipper.hurry();
    expect(sent).toEqual([]);
  });
});
