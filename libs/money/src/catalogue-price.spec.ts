import type { PriceRecord } from '@gateway/contracts';
import {
  bestDiscounted,
  cheapestRoute,
  compareOutputPrices,
  comparePrices,
  discounted,
  isAtMost,
  withNulls,
} from './index.js';
import type { PricedOutput, PricedRoute } from './index.js';

function named(provider: string, record: PriceRecord): PricedRoute {
  return { provider, record };
}

describe('cheapestRoute', () => {
  it('orders by prompt + completion, then plain unit rate, then request_usd, then provider slug', () => {
    const token = { prompt_usd_per_1m: '1', completion_usd_per_1m: '2' };
    const ordered = [
      named('z-free', { is_free: true, prompt_usd_per_1m: '9' }),
      named('y', { prompt_usd_per_1m: '2.50', completion_usd_per_1m: '0.4' }),
      named('x', { ...token, request_usd: '0.2' }),
      named('w', { ...token, pricing_unit: 'per_1m_tokens', output_usd_per_unit: '2', request_usd: '0.2' }),
      named('b', { ...token, image_usd_per_unit: '0.01', request_usd: '0.1' }),
      named('a', { ...token, pricing_unit: 'per_image', output_usd_per_unit: '0.04' }),
    ];
    const byPrice = [...ordered]
      .reverse()
      .sort(comparePrices)
      .map(({ provider }) => provider);
    expect(byPrice).toEqual(['z-free', 'y', 'w', 'x', 'b', 'a']);
    expect(cheapestRoute(ordered)?.provider).toBe('z-free');
    expect(cheapestRoute([])).toBeNull();
  });

  it('compares as decimals, not as text', () => {
    expect(
      comparePrices(named('a', { prompt_usd_per_1m: '10' }), named('b', { prompt_usd_per_1m: '9' })),
    ).toBeGreaterThan(0);
    expect(
      comparePrices(named('a', { prompt_usd_per_1m: '1.0' }), named('b', { prompt_usd_per_1m: '1' })),
    ).toBeLessThan(0);
  });
});

describe('discounted', () => {
  it('MOD-22 shows the same rates with the discount applied, exact, as decimal strings', () => {
    const record: PriceRecord = {
      pricing_unit: 'per_image',
      prompt_usd_per_1m: '0.000000000003',
      completion_usd_per_1m: null,
      flex_prompt_usd_per_1m: '1.50',
      long_context_threshold_tokens: 200_000,
      tool_pricing: { web_search: '10.00' },
      price_matrix: [
        { when: { quality: 'low' }, usd_per_unit: '0.01' },
        { when: {}, usd_per_second: '0.4' },
      ],
    };
    expect(discounted(record, '12.5')).toEqual({
      prompt_usd_per_1m: '0.000000000002625',
      completion_usd_per_1m: null,
      flex_prompt_usd_per_1m: '1.3125',
      tool_pricing: { web_search: '8.75' },
      price_matrix: [
        { when: { quality: 'low' }, usd_per_unit: '0.00875' },
        { when: {}, usd_per_second: '0.35' },
      ],
    });
  });
});

describe('bestDiscounted', () => {
  const cheap = {
    ...named('cheap', { prompt_usd_per_1m: '2', completion_usd_per_1m: '8' }),
    discountPct: null,
  };
  const dear = {
    ...named('dear', { prompt_usd_per_1m: '3', completion_usd_per_1m: '9' }),
    discountPct: '25',
  };

  it('MOD-25 is the route cheapest after discount, as a whole and no mixture', () => {
    expect(bestDiscounted([cheap, dear])).toEqual({
      route: dear,
      discounted: { prompt_usd_per_1m: '2.25', completion_usd_per_1m: '6.75' },
      discount_pct: '25',
    });
  });

  it('keeps an undiscounted route where it is still the cheapest', () => {
    expect(bestDiscounted([cheap, { ...dear, discountPct: '1' }])).toEqual({
      route: cheap,
      discounted: { prompt_usd_per_1m: '2', completion_usd_per_1m: '8' },
      discount_pct: null,
    });
  });

  it('is the first of equal routes', () => {
    const twin = { ...dear, record: { ...dear.record } };
    expect(bestDiscounted([dear, twin])?.route).toBe(dear);
    expect(bestDiscounted([twin, dear])?.route).toBe(twin);
  });

  it('MOD-23 is absent where no route has a discount', () => {
    expect(bestDiscounted([cheap, { ...dear, discountPct: '0' }])).toBeNull();
    expect(bestDiscounted([])).toBeNull();
  });
});

describe('withNulls', () => {
  it('MOD-21 shows a dimension the model does not bill as null, neither absent nor "0"', () => {
    const full = withNulls({ prompt_usd_per_1m: '2.50', request_usd: '0' });
    expect(full).toMatchObject({
      prompt_usd_per_1m: '2.50',
      completion_usd_per_1m: null,
      request_usd: '0',
      search_usd_per_1k: null,
    });
    expect(Object.values(full)).not.toContain(undefined);
  });
});

describe('compareOutputPrices', () => {
  const order = (output: PricedOutput, ...records: PriceRecord[]): number[] =>
    records
      .map((record, at) => ({ record, at }))
      .sort((a, b) => compareOutputPrices(a.record, b.record, output))
      .map(({ at }) => at);

  it('MOD-37 compares text by a million tokens in and out, what is free first and what has no price last', () => {
    const cheap = { prompt_usd_per_1m: '0.1', completion_usd_per_1m: '0.2' };
    const dear = { prompt_usd_per_1m: '0.05', completion_usd_per_1m: '9.99' };
    expect(order('text', {}, dear, cheap, { is_free: true })).toEqual([3, 2, 1, 0]);
  });

  it('MOD-37 says of two in either order which is dearer, and of two without a price nothing', () => {
    const priced = { prompt_usd_per_1m: '0.1' };
    expect(compareOutputPrices({}, priced, 'text')).toBe(1);
    expect(compareOutputPrices(priced, {}, 'text')).toBe(-1);
    expect(compareOutputPrices({}, {}, 'text')).toBe(0);
    const perImage = { image_usd_per_unit: '0.03' };
    expect(compareOutputPrices(perImage, { image_output_usd_per_1m: '30' }, 'image')).toBe(0);
  });

  it('MOD-37 compares videos by the second, whatever their pictures cost', () => {
    const bySecond = { video_usd_per_second: '0.2', image_usd_per_unit: '9' };
    const byUnit = {
      pricing_unit: 'per_second',
      output_usd_per_unit: '0.1',
      image_usd_per_unit: '10',
    } as const;
    const byRow: PriceRecord = { price_matrix: [{ when: {}, usd_per_second: '0.15', usd_per_unit: '11' }] };
    const byToken = { completion_usd_per_1m: '1', image_output_usd_per_1m: '900000' };
    expect(order('video', bySecond, byRow, byUnit, byToken)).toEqual([3, 2, 1, 0]);
  });

  it('MOD-37 compares images by the image, and by 1,000 tokens where only tokens are priced', () => {
    const perImage = { image_usd_per_unit: '0.04' };
    const perToken = { image_output_usd_per_1m: '30' };
    const matrix: PriceRecord = {
      price_matrix: [
        { when: { size: '1x1' }, usd_per_unit: '9' },
        { when: {}, usd_per_unit: '0.035' },
      ],
    };
    expect(
      order('image', perImage, perToken, matrix, { pricing_unit: 'per_image', output_usd_per_unit: '0.01' }),
    ).toEqual([3, 1, 2, 0]);
  });

  it('MOD-37 compares video by the second', () => {
    expect(order('video', { video_usd_per_second: '0.4' }, { completion_usd_per_1m: '1000' })).toEqual([
      1, 0,
    ]);
  });
});

describe('isAtMost', () => {
  it.each([
    ['0.99', '1', true],
    ['1.00', '1', true],
    ['1.000000000001', '1', false],
    ['10', '9', false],
    [null, '0', true],
    [null, '0.1', true],
  ])('says of the rate %s under the limit %s: %s', (rate, limit, expected) => {
    expect(isAtMost(rate, limit)).toBe(expected);
  });
});
