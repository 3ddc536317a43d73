import { axisUsd } from './bar-height.js';

describe('an amount on an axis', () => {
  it.each([
    [0.0026, ['$0', '$0.00065', '$0.00130', '$0.00195', '$0.00260']],
    [8, ['$0', '$2.00', '$4.00', '$6.00', '$8.00']],
    [100, ['$0', '$25', '$50', '$75', '$100']],
    [0, ['$0', '$0', '$0', '$0', '$0']],
    [2_600, ['$0', '$650.00', '$1.30K', '$1.95K', '$2.60K']],
  ])('up to %d has as many decimals as its neighbours', (top, shown) => {
    expect([0, 0.25, 0.5, 0.75, 1].map((share) => axisUsd(share * top, top))).toEqual(shown);
  });

  it('on the axis of a chart whose top is 0 has cents, and no row of zeros', () => {
    expect([1, 2, 3, 4].map((height) => axisUsd(height, 0))).toEqual(['$1.00', '$2.00', '$3.00', '$4.00']);
  });

  it('of its own has three digits, and is never shown as nothing', () => {
    expect([0.000001, 0.05, 1.5, 99_999_999_999].map((height) => axisUsd(height))).toEqual([
      '$0.00000100',
      '$0.0500',
      '$1.50',
      '$100.00B',
    ]);
  });
});
