import { priceOf } from './model-price.js';

describe('the price of a model in the playground', () => {
  it('is that of a million tokens in and out, the own one where there is one', () => {
    const pricing = { prompt_usd_per_1m: '0.5', completion_usd_per_1m: '2' };
    expect(priceOf({ is_free: false, pricing })).toBe('$0.50 in, $2.00 out, a million tokens');
    const discounted = { ...pricing, completion_usd_per_1m: '1.8' };
    expect(priceOf({ is_free: false, pricing: { ...pricing, discounted } })).toBe(
      '$0.50 in, $1.80 out, a million tokens',
    );
  });

  it('is free, or nothing where it is not by token or not known', () => {
    expect(priceOf({ is_free: true, pricing: {} })).toBe('free');
    expect(priceOf({ is_free: false, pricing: { request_usd: '0.01' } })).toBe('');
    expect(priceOf(undefined)).toBe('');
  });
});
