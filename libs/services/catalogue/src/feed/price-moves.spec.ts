import fc from 'fast-check';
import { isReshaped, movesBeyond, movesByFactor, priceMoves } from './price-moves.js';

const rate = fc
  .tuple(fc.nat(999), fc.nat(999))
  .map(([whole, part]) => `${whole}.${String(part).padStart(3, '0')}`);
const move = (from: string | null, to: string | null) => ({
  window: null,
  field: 'prompt_usd_per_1m',
  from,
  to,
});

describe('moves of prices', () => {
  it('issue 37 are none between equal prices, however the rates are written', () => {
    expect(
      priceMoves({ prompt_usd_per_1m: '1.50', completion_usd_per_1m: null }, { prompt_usd_per_1m: '1.5' }),
    ).toEqual([]);
  });

  it('issue 37 name each rate of the base, of windows, of tools and of a matrix', () => {
    const price = (usd: string) => ({
      prompt_usd_per_1m: usd,
      tool_pricing: { web_search: usd },
      price_matrix: [{ when: {}, usd_per_unit: usd }],
      windows: [{ name: 'peak', hours_utc: ['01:00-02:00'], prices: { prompt_usd_per_1m: usd } }],
    });
    expect(priceMoves(price('1'), price('2')).map(({ window, field }) => [window, field])).toEqual([
      [null, 'prompt_usd_per_1m'],
      [null, 'tool_pricing.web_search'],
      [null, 'price_matrix.0'],
      ['peak', 'prompt_usd_per_1m'],
    ]);
    expect(isReshaped(price('1'), price('2'))).toBe(false);
    const moved = price('1');
    moved.windows[0].hours_utc = ['02:00-03:00'];
    expect(isReshaped(price('1'), moved)).toBe(true);
  });

  it('issue 37 are beyond a percentage exactly where whole numbers say so', () => {
    fc.assert(
      fc.property(rate, rate, fc.nat(1000), (from, to, pct) => {
        const [left, right] = [from, to].map((text) => BigInt(text.replace('.', '')));
        const distance = left > right ? left - right : right - left;
        expect(movesBeyond(move(from, to), pct)).toBe(distance * 100n > left * BigInt(pct));
        const isFar = left > 0n && (right === 0n || right > left * 10n || right * 10n < left);
        expect(movesByFactor(move(from, to), 10n)).toBe(isFar);
      }),
    );
    expect([movesBeyond(move(null, '1'), 1000), movesBeyond(move('0', '0.1'), 1000)]).toEqual([true, true]);
  });
});
