import fc from 'fast-check';
import { changePct } from './change-pct.js';

const rate = fc.tuple(fc.integer({ min: 1, max: 999_999_999 }), fc.integer({ min: 0, max: 999_999 }));
const textOf = ([whole, part]: [number, number]): string => `${whole}.${String(part).padStart(6, '0')}`;

describe('change of a rate in per cent', () => {
  it('is exact to a tenth', () => {
    expect([
      changePct('2', '2.5'),
      changePct('2.5', '0.10'),
      changePct('3', '4'),
      changePct('1', '1'),
    ]).toEqual([25, -96, 33.3, 0]);
  });

  it('is not known from nothing, from 0 or to nothing', () => {
    expect([
      changePct('0', '1'),
      changePct(null, '1'),
      changePct('1', undefined),
      changePct('0.00', '0'),
    ]).toEqual([null, null, null, null]);
  });

  it('is 0 to the same rate, 100 to twice of it, -100 to nothing billed', () => {
    fc.assert(
      fc.property(rate, ([whole, part]) => {
        const text = textOf([whole, part]);
        const twice = textOf([2 * whole + Math.floor((2 * part) / 1_000_000), (2 * part) % 1_000_000]);
        expect([changePct(text, text), changePct(text, twice), changePct(text, '0')]).toEqual([0, 100, -100]);
      }),
    );
  });
});
