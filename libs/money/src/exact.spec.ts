import { divide, exactText, fraction, fromDecimal, multiply, roundTo } from './exact.js';

describe('exact numbers', () => {
  it.each([
    [-1n, 3n, '-1/3'],
    [-4n, 6n, '-2/3'],
    [-1n, 4n, '-0.25'],
    [-1n, 400n, '-0.0025'],
    [-1_250n, 1n, '-1250'],
    [0n, 3n, '0'],
    [7n, 30n, '7/30'],
    [10n, 5n, '2'],
  ])('%s/%s is written %s', (n, d, text) => {
    expect(exactText(fraction(n, d))).toBe(text);
  });

  it('shortens a product of fractions', () => {
    expect(exactText(multiply(fraction(1n, 3n), fromDecimal('3')))).toBe('1');
    expect(exactText(multiply(fraction(-2n, 3n), fromDecimal('0.6')))).toBe('-0.4');
  });

  it('divides by fractions whose decimals do not end', () => {
    expect(exactText(divide(fraction(2n, 3n), fraction(1n, 7n)))).toBe('14/3');
    expect(exactText(divide(fraction(2n, 3n), fraction(5n, 3n)))).toBe('0.4');
    expect(exactText(divide(fromDecimal('0.02'), fraction(4n, 9n)))).toBe('0.045');
  });

  it.each([
    ['0.5', 'up', 1n],
    ['0.0001', 'up', 1n],
    ['1', 'up', 1n],
    ['0', 'up', 0n],
  ] as const)('%s rounds %s to %s', (value, mode, rounded) => {
    expect(roundTo(fromDecimal(value), 0, mode)).toBe(rounded);
  });
});
