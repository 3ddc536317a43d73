import fc from 'fast-check';
import { seededRandom } from './seeded-random.js';

describe('seededRandom', () => {
  it('gives the same numbers for the same seed and others for another', () => {
    const draw = (seed: number): number[] => Array.from({ length: 5 }, seededRandom(seed).fraction);
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(Buffer.from(seededRandom(7).bytes(16))).toEqual(Buffer.from(seededRandom(7).bytes(16)));
  });

  it('stays in [0, 1) and spreads over it', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seededRandom(seed);
        const numbers = Array.from({ length: 200 }, () => random.fraction());
        expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
        expect(new Set(numbers).size).toBeGreaterThan(190);
      }),
    );
  });
});
