import { fixedClock, seededRandom } from '@gateway/testing/plain';
import { InProcessEventLog } from './in-process-event-log.js';

describe('InProcessEventLog', () => {
  const clock = fixedClock('2026-01-01T00:00:00Z');
  const text = 'x'.repeat(1_000);
  const records = (count: number) => Array.from({ length: count }, (_, n) => ({ key: `${n}`, value: text }));

  it('makes append wait while a topic is full, until its consumers have caught up', async () => {
    const log = new InProcessEventLog({ clock, random: seededRandom(1), topicCharsMax: 50_000 });
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    let handled = 0;
    const handler = async (batch: unknown[]): Promise<void> => {
      await gate;
      handled += batch.length;
    };
    await log.consume({ topics: ['t'], group: 'g', maxBatch: 20, lingerMs: 0, handler });
    log.consumersBegan();
    await log.append('t', records(60));
    let isIn = false;
    const waiting = log.append('t', records(1)).then(() => (isIn = true));
    await clock.advance(60_000);
    expect(isIn).toBe(false);
    release();
    await waiting;
    await clock.advance(1_000);
    expect(handled).toBe(61);
    await log.close();
  });

  it('lets the oldest records of a topic go that nobody reads', async () => {
    const log = new InProcessEventLog({ clock, random: seededRandom(1), topicCharsMax: 50_000 });
    for (let n = 0; n < 200; n += 1) await log.append('t', records(10));
    let handled = 0;
    const handler = async (batch: unknown[]): Promise<void> => void (handled += batch.length);
    await log.consume({ topics: ['t'], group: 'g', maxBatch: 100, lingerMs: 0, handler });
    await clock.advance(10);
    expect(handled).toBeGreaterThan(10);
    expect(handled).toBeLessThan(100);
    await log.close();
  });

  it('holds what one group has read for one that comes later, until the consumers have begun', async () => {
    const log = new InProcessEventLog({ clock, random: seededRandom(1) });
    const handled = { early: 0, late: 0 };
    const consume = (group: 'early' | 'late') =>
      log.consume({
        topics: ['t'],
        group,
        maxBatch: 20,
        lingerMs: 0,
        handler: async (batch) => void (handled[group] += batch.length),
      });
    await log.append('t', records(10));
    await consume('early');
    await clock.advance(10);
    expect(handled).toEqual({ early: 10, late: 0 });
    await consume('late');
    log.consumersBegan();
    await log.kept('t');
    expect(handled).toEqual({ early: 10, late: 10 });
    await log.close();
  });

  it('waits longer after each failure of a handler, up to 10 s', async () => {
    const log = new InProcessEventLog({
      clock,
      random: { bytes: (size) => new Uint8Array(size), fraction: () => 1 },
    });
    const at: number[] = [];
    const handler = async (): Promise<void> => {
      at.push(clock.monotonic());
      throw new Error('The database is away.');
    };
    await log.consume({ topics: ['t'], group: 'g', maxBatch: 20, lingerMs: 0, handler });
    await log.append('t', records(1));
    await clock.advance(40_000);
    const waits = at.slice(1).map((time, index) => time - at[index]);
    expect(waits.slice(0, 9)).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000]);
    await log.close();
  });
});
