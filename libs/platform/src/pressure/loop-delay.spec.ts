import { LoopDelay } from './loop-delay.js';

describe('the delay of the event loop', () => {
  const seen = (...windows: [meanMs: number, lengthMs: number][]): number => {
    const delay = new LoopDelay();
    for (const [mean, length] of windows) delay.see(mean, length);
    return delay.meanMs;
  };

  it('U15 one long block is no overload, whether its window has samples or none', () => {
    expect(seen([0, 1_000], [NaN, 2_500])).toBe(0);
    expect(seen([0, 1_000], [900, 1_010])).toBe(0);
    expect(seen([NaN, 2_500], [0.2, 1_000])).toBe(0.2);
  });

  it('U15 a delay of two windows is one, also where blocks follow each other without a sample', () => {
    expect(seen([300, 1_000], [250, 1_000])).toBe(250);
    expect(seen([NaN, 1_400], [NaN, 1_700])).toBe(400);
  });

  it('measures nothing while the loop is idle and is never negative', () => {
    expect(seen([-1, 1_000], [-0.5, 1_000])).toBe(0);
  });
});
