import { fixedClock } from '@gateway/testing/plain';
import { repeat } from './repeat.js';

const start = '2026-11-21T00:00:00.000Z';

describe('repeat', () => {
  it('runs at once, then after each delay, also after a failure', async () => {
    const clock = fixedClock(start);
    const failures: unknown[] = [];
    let runs = 0;
    const loop = repeat(
      clock,
      1_000,
      async () => {
        runs += 1;
        if (runs === 2) throw new Error('second');
      },
      (failure) => failures.push(failure),
    );
    await clock.advance(0);
    expect(runs).toBe(1);
    await clock.advance(2_000);
    expect([runs, failures.length]).toEqual([3, 1]);
    await loop.stop();
    await clock.advance(10_000);
    expect([runs, clock.pendingTimers]).toEqual([3, 0]);
  });

  it('begins after the time that is given for the first run', async () => {
    const clock = fixedClock(start);
    let runs = 0;
    const count = async (): Promise<void> => void (runs += 1);
    const loop = repeat(clock, 1_000, count, () => undefined, 1_000);
    await clock.advance(999);
    expect(runs).toBe(0);
    await clock.advance(1);
    expect(runs).toBe(1);
    await loop.stop();
  });

  it('repeats a run that failed after the time that is given for that', async () => {
    const clock = fixedClock(start);
    let runs = 0;
    const task = (): Promise<void> => {
      runs += 1;
      return runs === 1 ? Promise.reject(new Error('too early')) : Promise.resolve();
    };
    const loop = repeat(clock, 15_000, task, () => undefined, 0, 1_000);
    await clock.advance(999);
    expect(runs).toBe(1);
    await clock.advance(1);
    expect(runs).toBe(2);
    await clock.advance(14_999);
    expect(runs).toBe(2);
    await clock.advance(1);
    expect(runs).toBe(3);
    await loop.stop();
  });

  it('a wake while a run is under way is not lost, and no two runs overlap', async () => {
    const clock = fixedClock(start);
    const ends: (() => void)[] = [];
    const task = (): Promise<void> => new Promise((end) => ends.push(end));
    const loop = repeat(clock, 60_000, task, () => undefined);
    await clock.advance(0);
    loop.wake();
    await clock.advance(10);
    expect(ends).toHaveLength(1);
    ends[0]();
    await clock.advance(10);
    expect(ends).toHaveLength(2);
    ends[1]();
    await loop.stop();
  });
});
