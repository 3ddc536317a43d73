import fc from 'fast-check';
import { seededRandom } from '@gateway/testing/plain';
import { drawFaults, PARTS } from './fault-plan.js';

const mix = { count: 5, parts: PARTS, stops: 30, forMsMin: 100, forMsMax: 900 };

describe('a schedule of faults', () => {
  it('is the same for the same seed, in order and inside the load', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
        const faults = drawFaults(200, mix, seededRandom(seed));
        expect(faults).toEqual(drawFaults(200, mix, seededRandom(seed)));
        expect(faults).toHaveLength(5);
        const begins = faults.map(({ afterRequests }) => afterRequests);
        expect(begins).toEqual(begins.toSorted((a, b) => a - b));
        for (const { afterRequests, forMs } of faults) {
          expect(afterRequests).toBeGreaterThanOrEqual(10);
          expect(afterRequests).toBeLessThan(170);
          expect(forMs).toBeGreaterThanOrEqual(100);
          expect(forMs).toBeLessThan(900);
        }
      }),
    );
  });

  it('reaches every part and both signals', () => {
    const random = seededRandom(1);
    const faults = Array.from({ length: 60 }, () => drawFaults(200, mix, random)).flat();
    expect(new Set(faults.map(({ part }) => part))).toEqual(new Set(PARTS));
    expect(new Set(faults.map(({ how }) => how))).toEqual(new Set(['kill', 'stop']));
  });
});
