import { figureOf } from './figure-of.js';

describe('a number that was typed', () => {
  it.each([
    ['100', 100],
    [' 0 ', 0],
    ['-1', -1],
    ['0.7', 0.7],
  ])('%j is sent as %d', (text, figure) => {
    expect(figureOf(text)).toBe(figure);
  });

  it.each(['10k', '1,000', '', '1e3', '0x10', 'NaN', 'Infinity'])(
    '%j is sent as it is, which the gateway rejects with 422, and never as null, which clears',
    (text) => {
      expect(JSON.stringify({ rpm: figureOf(text) })).toBe(JSON.stringify({ rpm: text }));
    },
  );
});
