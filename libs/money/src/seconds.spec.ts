import { exactText, fromDecimal } from './exact.js';
import { billedSeconds, secondsOf } from './seconds.js';

describe('billedSeconds', () => {
  it.each([
    ['0', '1', '7', '0'],
    ['0.1', '1', '0', '1'],
    ['5', '1', '0', '5'],
    ['5.04', '0', '0', '5.04'],
    ['30.5', '15', '10', '45'],
    ['2.5', '1', '7', '7'],
    ['1.25', '0.1', '0', '1.3'],
    ['3', '0.3', '0', '3'],
    ['1', '0', '1.5', '1.5'],
  ])('%s s in steps of %s and at least %s bill %s', (seconds, increment, minimum, billed) => {
    expect(exactText(billedSeconds(fromDecimal(seconds), fromDecimal(increment), fromDecimal(minimum)))).toBe(
      billed,
    );
  });

  it.each([
    [0.1 + 0.2, '0.3'],
    [0.000_000_001, '0.000000001'],
    [0.000_000_000_4, '0'],
    ['0.3', '0.3'],
    [-1, '0'],
    ['-1', '0'],
    [Number.NaN, '0'],
    [Number.POSITIVE_INFINITY, '0'],
    ['soon', '0'],
    [null, '0'],
    [undefined, '0'],
  ])('reads %p as %s s', (value, seconds) => {
    expect(exactText(secondsOf(value))).toBe(seconds);
  });
});
