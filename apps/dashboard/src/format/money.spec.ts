import { exactUsd, formatPrice, formatUsd, scaleUsd, usdRatio } from './money.js';

describe('an amount', () => {
  it.each([
    ['0', 2, '$0.00'],
    ['0.000000', 6, '$0.000000'],
    ['0.000001', 2, '<$0.01'],
    ['0.000001', 6, '$0.000001'],
    ['0.0000001', 6, '<$0.000001'],
    ['-0.000001', 2, '-<$0.01'],
    ['1043.834', 2, '$1,043.83'],
    ['0.005', 2, '$0.01'],
    ['0.995', 2, '$1.00'],
    ['-12.5', 2, '-$12.50'],
    ['99999999999.123456789012', 2, '$99,999,999,999.12'],
    ['99999999999.123456789012', 12, '$99,999,999,999.123456789012'],
    ['1000', 0, '$1,000'],
  ])('%s at %i decimals is %s', (amount, decimals, shown) => {
    expect(formatUsd(amount, decimals)).toBe(shown);
  });
});

describe('a price', () => {
  it.each([
    ['3.000000', '$3.00'],
    ['2.4', '$2.40'],
    ['0.0000005', '$0.0000005'],
    ['0.000123456', '$0.0001235'],
    ['0.068160', '$0.06816'],
    ['12.3456', '$12.35'],
    ['1.23456', '$1.235'],
    ['0', '$0.00'],
    ['-0.0012', '-$0.0012'],
    ['1234.5678', '$1,234.57'],
    ['0.000000000001', '$0.000000000001'],
    ['0.99999', '$1.00'],
  ])('%s has four digits and at least cents: %s', (amount, shown) => {
    expect(formatPrice(amount)).toBe(shown);
  });
});

describe('an exact amount', () => {
  it.each([
    ['0.015600000', '$0.0156'],
    ['1200', '$1,200.00'],
    ['0.000000000001', '$0.000000000001'],
  ])('%s has every digit and no empty ones: %s', (amount, shown) => {
    expect(exactUsd(amount)).toBe(shown);
  });
});

describe('the ratio of two amounts', () => {
  it.each([
    ['10', '2.5', 4],
    ['-1', '2', -0.5],
    ['0', '0.000001', 0],
    ['5', '0', null],
    ['0', '0.000000000000', null],
  ])('%s to %s is %p', (amount, other, ratio) => {
    expect(usdRatio(amount, other)).toBe(ratio);
  });
});

describe('an estimate from an amount', () => {
  it.each([
    ['7', 1.4, '9.800000000000'],
    ['0.000000000001', 2, '0.000000000002'],
    ['-3', 0.5, '-1.500000000000'],
    ['99999999999.123456789012', 1, '99999999999.123456789012'],
  ])('%s times %d is %s', (amount, factor, scaled) => {
    expect(scaleUsd(amount, factor)).toBe(scaled);
  });
});
