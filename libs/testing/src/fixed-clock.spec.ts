import { fixedClock } from './fixed-clock.js';

const START = '2026-01-31T23:59:59.500Z';

describe('fixedClock', () => {
  it('stands still until the test advances it', async () => {
    const clock = fixedClock(START);
    expect([clock.now(), clock.monotonic()]).toEqual([Date.parse(START), 0]);
    await clock.advance(500);
    expect([clock.now(), clock.monotonic()]).toEqual([Date.parse('2026-02-01T00:00:00Z'), 500]);
  });

  it('runs timers in the order of their moments, each at its own moment', async () => {
    const clock = fixedClock(START);
    const seen: [string, number][] = [];
    clock.setTimer(30, () => seen.push(['late', clock.monotonic()]));
    clock.setTimer(10, () => seen.push(['early', clock.monotonic()]));
    clock.setTimer(10, () => seen.push(['second', clock.monotonic()]));
    clock.setTimer(20, () => seen.push(['never', 0])).cancel();
    await clock.advance(29);
    expect(seen).toEqual([
      ['early', 10],
      ['second', 10],
    ]);
    await clock.advance(1);
    expect(seen.at(-1)).toEqual(['late', 30]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('wakes a chain of sleeps within one span', async () => {
    const clock = fixedClock(START);
    const woken: number[] = [];
    const chain = (async () => {
      for (let round = 0; round < 3; round += 1) {
        await clock.sleep(100);
        woken.push(clock.monotonic());
      }
    })();
    await clock.advance(1_000);
    await chain;
    expect(woken).toEqual([100, 200, 300]);
  });

  it('rejects a sleep with the reason of its signal and keeps no timer', async () => {
    const clock = fixedClock(START);
    const abort = new AbortController();
    const sleeping = clock.sleep(1_000, abort.signal);
    abort.abort(new Error('the client hung up'));
    await expect(sleeping).rejects.toThrow('the client hung up');
    await expect(clock.sleep(1, abort.signal)).rejects.toThrow('the client hung up');
    expect(clock.pendingTimers).toBe(0);
  });

  it('steps the wall clock without touching durations', async () => {
    const clock = fixedClock(START);
    await clock.advance(5);
    clock.step('2026-01-01T00:00:00Z');
    expect([clock.now(), clock.monotonic()]).toEqual([Date.parse('2026-01-01T00:00:00Z'), 5]);
  });
});
