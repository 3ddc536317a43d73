import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { Usd, settledNano } from './index.js';

const pico = fc.bigInt({ min: -(10n ** 31n), max: 10n ** 31n });

/** Writes an integer count of 10^-12 with all its decimals, independently of the serialiser. */
function written(value: bigint): string {
  const magnitude = value < 0n ? -value : value;
  const sign = value < 0n ? '-' : '';
  return `${sign}${magnitude / 10n ** 12n}.${(magnitude % 10n ** 12n).toString().padStart(12, '0')}`;
}

describe('Usd', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['-0.000', '0'],
    ['12.00', '12'],
    ['100', '100'],
    ['0.10', '0.1'],
    ['007.50', '7.5'],
    ['0.000000000001', '0.000000000001'],
    ['-0.000000120000', '-0.00000012'],
    ['99999999999999999999.999999999999', '99999999999999999999.999999999999'],
  ])('EDGE-03 writes %s as %s', (text, wanted) => {
    expect(Usd.parse(text).toString()).toBe(wanted);
  });

  it.each([
    '',
    '.5',
    '5.',
    '+1',
    '1e3',
    '1E-7',
    ' 1',
    '1\n',
    '0x1',
    '1,5',
    '--1',
    'NaN',
    'Infinity',
    '0.0000000000001',
    '1'.repeat(21),
  ])('refuses %j', (text) => {
    expect(Usd.isMoney(text)).toBe(false);
    expect(() => Usd.parse(text)).toThrow(RangeError);
  });

  it.each(['0.1', '12', '-3', 'null', 'true', '["1"]', '{}'])(
    'EDGE-03 refuses the JSON value %s, no string',
    (json) => {
      const value = JSON.parse(json);
      expect(() => Usd.parse(value)).toThrow(RangeError);
      expect(Usd.isMoney(value)).toBe(false);
    },
  );

  it('EDGE-03 is a string in JSON, never a number and never in exponent form', () => {
    fc.assert(
      fc.property(pico, (value) => {
        const json = JSON.stringify({ cost_usd: Usd.parse(written(value)) });
        expect(json).toMatch(/^\{"cost_usd":"(0|-?(0|[1-9]\d*)(\.\d*[1-9])?)"\}$/);
      }),
    );
  });

  it('reads back what it writes, and writes one text for one amount', () => {
    fc.assert(
      fc.property(pico, (value) => {
        const amount = Usd.parse(written(value));
        expect(Usd.parse(amount.toString()).equals(amount)).toBe(true);
        expect(Usd.parse(amount.toString()).toString()).toBe(amount.toString());
      }),
    );
  });

  it('adds, subtracts, negates and compares as the integers of its last decimal', () => {
    fc.assert(
      fc.property(pico, pico, (a, b) => {
        const [left, right] = [Usd.parse(written(a)), Usd.parse(written(b))];
        expect(left.plus(right).equals(Usd.sum([left, right]))).toBe(true);
        expect(left.minus(right).plus(right).equals(left)).toBe(true);
        expect(left.neg().plus(left).isZero()).toBe(true);
        expect(left.compare(right)).toBe(a < b ? -1 : a > b ? 1 : 0);
        expect(left.isNegative()).toBe(a < 0n);
      }),
    );
    expect(Usd.parse('0.1').plus(Usd.parse('0.2')).toString()).toBe('0.3');
    expect(Usd.parse('-1').minus(Usd.parse('0.5')).toString()).toBe('-1.5');
  });

  it.each([
    ['0.0000000014', 2n, 1n],
    ['0.0000000015', 2n, 2n],
    ['0.000000001', 1n, 1n],
    ['0.000000000001', 1n, 0n],
    ['-0.0000000015', -2n, -2n],
    ['-0.0000000014', -2n, -1n],
    ['6033.333333333333', 6033333333334n, 6033333333333n],
  ])('rounds %s to %d nano up and %d nano half up', (text, up, halfUp) => {
    expect(Usd.parse(text).toNano('up')).toBe(up);
    expect(Usd.parse(text).toNano('half-up')).toBe(halfUp);
    expect(settledNano(text)).toBe(halfUp);
  });

  it('rounds to nano-USD as integers do: away from zero, and ties away from zero', () => {
    const parts = 1_000n;
    fc.assert(
      fc.property(pico, (value) => {
        const magnitude = value < 0n ? -value : value;
        const rest = magnitude % parts;
        const signed = (nano: bigint): bigint => (value < 0n ? -nano : nano);
        const amount = Usd.parse(written(value));
        expect(amount.toNano('up')).toBe(signed(magnitude / parts + (rest > 0n ? 1n : 0n)));
        const halfUp = signed(magnitude / parts + (2n * rest >= parts ? 1n : 0n));
        expect(amount.toNano('half-up')).toBe(halfUp);
        expect(settledNano(written(value))).toBe(halfUp);
      }),
    );
  });

  it('sums any number of amounts to the last decimal, in any order', () => {
    fc.assert(
      fc.property(fc.array(pico, { maxLength: 50 }), (values) => {
        const amounts = values.map((value) => Usd.parse(written(value)));
        const total = values.reduce((sum, value) => sum + value, 0n);
        expect(Usd.sum(amounts).toString()).toBe(Usd.sum(amounts.toReversed()).toString());
        expect(Usd.sum(amounts).toNano('half-up')).toBe(
          amounts.reduce((sum, amount) => sum.plus(amount), Usd.zero).toNano('half-up'),
        );
        const [whole, decimals = ''] = Usd.sum(amounts).toString().replace('-', '').split('.');
        const magnitude = total < 0n ? -total : total;
        expect(BigInt(`${whole}${decimals.padEnd(12, '0')}`)).toBe(magnitude);
        expect(Usd.sum(amounts).isNegative()).toBe(total < 0n);
        expect(Usd.sum(amounts).isPositive()).toBe(total > 0n);
      }),
    );
  });

  it('is decimal.js whose settings nobody else can change', () => {
    Decimal.set({ precision: 2, rounding: Decimal.ROUND_DOWN, toExpPos: 1 });
    expect(Usd.parse('99999999999999999999.999999999999').plus(Usd.parse('0.000000000001')).toString()).toBe(
      '100000000000000000000',
    );
    Decimal.set({ defaults: true });
  });

  it('keeps nano-USD whole', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 28n), max: 10n ** 28n }), (nano) => {
        expect(Usd.fromNano(nano).toNano('up')).toBe(nano);
        expect(Usd.fromNano(nano).toNano('half-up')).toBe(nano);
      }),
    );
    expect(Usd.fromNano(-1_500_000_000n).toString()).toBe('-1.5');
  });
});
