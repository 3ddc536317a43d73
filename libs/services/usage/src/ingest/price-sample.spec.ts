import { FixedClock } from '@gateway/testing/plain';
import { PriceSample } from './price-sample.js';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('the sample of prices', () => {
  let clock: FixedClock;
  let sample: PriceSample;
  beforeEach(() => {
    clock = new FixedClock('2026-11-29T00:00:00Z');
    sample = new PriceSample(clock);
  });

  it('every unit of a second with up to 500 is checked, in however many batches they come', () => {
    for (const size of [1, 199, 300]) expect(sample.take(numbers(size))).toEqual(numbers(size));
  });

  it('of a busier second the first 500 are checked and one in 16 of the rest', () => {
    expect(sample.take(numbers(400))).toHaveLength(400);
    const taken = sample.take(numbers(1_700));
    expect(taken.slice(0, 100)).toEqual(numbers(100));
    expect(taken.slice(100)).toEqual(numbers(1_700).filter((n) => n >= 100 && (400 + n) % 16 === 0));
    expect(taken).toHaveLength(200);
  });

  it('each second begins anew', async () => {
    expect(sample.take(numbers(1_600)).length).toBeLessThan(1_600);
    await clock.advance(1_000);
    expect(sample.take(numbers(500))).toHaveLength(500);
    expect(sample.take(numbers(160))).toHaveLength(10);
  });
});
