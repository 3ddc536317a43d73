import { mainRate, priceLines, stepStart } from './price.js';

describe('the price of a model', () => {
  it('reads each rate that is set with its unit, exactly as it came', () => {
    const lines = priceLines({
      prompt_usd_per_1m: '0.000000000001',
      completion_usd_per_1m: null,
      cache_read_input_usd_per_1m: '0.125',
      video_usd_per_second: '0.5',
      request_usd: '0.01',
      effective_date: '2026-11-01',
      discount_pct: '10',
    });
    expect(lines.map(({ label, usd }) => `${label}: ${usd}`)).toEqual([
      'Prompt per million tokens: 0.000000000001',
      'Cache read input per million tokens: 0.125',
      'Video per second: 0.5',
      'Request each: 0.01',
    ]);
  });

  it('shows the rate after a discount, and nothing where none is set', () => {
    const pricing = { prompt_usd_per_1m: '2', discounted: { prompt_usd_per_1m: '1.8' } };
    expect(mainRate(pricing, 'prompt_usd_per_1m')).toBe('1.8');
    expect(mainRate(pricing, 'completion_usd_per_1m')).toBeNull();
  });

  it('holds from a day, or from the start where no day is known', () => {
    expect(['2026-11-01', '1970-01-01'].map(stepStart)).toEqual(['2026-11-01', 'the start']);
  });
});
