import type { PriceRecord, UnitUsage } from '@gateway/contracts';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { Usd, price, priceLines, tokenClasses } from './index.js';
import type { PriceInput } from './index.js';

/** Digits enough for every product below, so that only the one division and the one rounding are inexact. */
const Wide = Decimal.clone({
  precision: 400,
  rounding: Decimal.ROUND_HALF_UP,
  toExpNeg: -9e15,
  toExpPos: 9e15,
});

const rate = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 12 }), fc.nat(999_999_999))
  .map(([whole, decimals, rest]) =>
    decimals === 0 ? `${whole}` : `${whole}.${`${rest}`.padEnd(12, '7').slice(0, decimals)}`,
  );
const above0 = rate.filter((text) => !/^[0.]+$/.test(text));
const maybe = fc.option(rate, { nil: null });
const tokens = fc.integer({ min: -5, max: 3_000_000 });

const record: fc.Arbitrary<PriceRecord> = fc.record({
  prompt_usd_per_1m: above0,
  completion_usd_per_1m: above0,
  cache_read_input_usd_per_1m: maybe,
  cache_write_input_usd_per_1m: maybe,
  cache_write_1h_input_usd_per_1m: maybe,
  audio_input_usd_per_1m: maybe,
  audio_output_usd_per_1m: maybe,
  image_input_usd_per_1m: maybe,
  image_output_usd_per_1m: maybe,
  long_context_threshold_tokens: fc.constantFrom(null, 1_000_000),
  long_context_prompt_usd_per_1m: maybe,
  long_context_completion_usd_per_1m: maybe,
  flex_prompt_usd_per_1m: rate,
  flex_completion_usd_per_1m: maybe,
  batch_prompt_usd_per_1m: maybe,
  batch_completion_usd_per_1m: maybe,
  request_usd: maybe,
});

const usage: fc.Arbitrary<UnitUsage> = fc.record({
  requests: fc.nat(2),
  prompt_tokens: tokens,
  cached_tokens: tokens,
  cache_write_tokens: tokens,
  cache_write_1h_tokens: tokens,
  audio_input_tokens: tokens,
  image_input_tokens: tokens,
  cached_audio_tokens: tokens,
  cached_image_tokens: tokens,
  completion_tokens: tokens,
  reasoning_tokens: tokens,
  audio_output_tokens: tokens,
  image_output_tokens: tokens,
});

const COUNTERS = [
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'audio_input_tokens',
  'completion_tokens',
  'audio_output_tokens',
  'images',
  'input_images',
  'videos',
  'characters',
  'searches',
] as const;

const terms = fc.record({
  tier: fc.constantFrom('default' as const, 'flex' as const, 'batch' as const),
  discountPct: fc.constantFrom(null, '0', '12.5', '33.333', '100'),
  byok: fc.record({ served: fc.boolean(), feePct: fc.constantFrom('0', '5', '2.75', '100') }),
});

const input: fc.Arbitrary<PriceInput> = fc
  .tuple(usage, record, terms)
  .map(([ofUsage, ofRecord, ofTerms]) => ({ usage: ofUsage, record: ofRecord, ...ofTerms, context: {} }));

const plain: PriceInput = {
  usage: { requests: 1, prompt_tokens: 1200, cached_tokens: 1000, completion_tokens: 34 },
  record: { prompt_usd_per_1m: '2.50', completion_usd_per_1m: '10.00', cache_read_input_usd_per_1m: '1.25' },
  tier: 'default',
  discountPct: null,
  byok: { served: false, feePct: '0' },
  context: {},
};

/** The rules written out once more, naively: every rate over a common denominator, one division at the end. */
function oracle({ usage: counts, record: of, tier, discountPct, byok }: PriceInput): string {
  const split = tokenClasses(counts);
  const isLong = (counts.prompt_tokens ?? 0) > (of.long_context_threshold_tokens ?? Infinity);
  const sides = {
    prompt: new Wide(of.prompt_usd_per_1m ?? 0),
    completion: new Wide(of.completion_usd_per_1m ?? 0),
  };
  const scale = (side: 'prompt' | 'completion'): { top: Decimal; bottom: Decimal } => {
    const base = sides[side];
    const long = isLong ? (of[`long_context_${side}_usd_per_1m`] ?? null) : null;
    const tiered = tier === 'default' ? null : (of[`${tier}_${side}_usd_per_1m`] ?? null);
    return { top: new Wide(long ?? base).times(new Wide(tiered ?? base)), bottom: base.times(base) };
  };
  const [inScale, outScale] = [scale('prompt'), scale('completion')];
  const bill = (parts: [number, ...(string | null | undefined)[]][]): Decimal =>
    parts.reduce(
      (sum, [count, ...rates]) => sum.plus(new Wide(rates.find((one) => one != null) ?? 0).times(count)),
      new Wide(0),
    );
  const {
    prompt_usd_per_1m: prompt,
    completion_usd_per_1m: completion,
    cache_write_input_usd_per_1m: write,
  } = of;
  const inSum = bill([
    [split.fresh, prompt],
    [split.cached, of.cache_read_input_usd_per_1m, prompt],
    [split.cache_write, write, prompt],
    [split.cache_write_1h, of.cache_write_1h_input_usd_per_1m, write, prompt],
    [split.audio_input, of.audio_input_usd_per_1m, prompt],
    [split.image_input, of.image_input_usd_per_1m, prompt],
  ]);
  const outSum = bill([
    [split.completion, completion],
    [split.audio_output, of.audio_output_usd_per_1m, completion],
    [split.image_output, of.image_output_usd_per_1m, completion],
  ]);
  const requests = new Wide(of.request_usd ?? 0).times(counts.requests ?? 0).times(1_000_000);
  const over = inScale.bottom.times(outScale.bottom);
  const total = inSum
    .times(inScale.top)
    .times(outScale.bottom)
    .plus(outSum.times(outScale.top).times(inScale.bottom))
    .plus(requests.times(over));
  const percent = byok.served ? new Wide(byok.feePct) : new Wide(100).minus(discountPct ?? 0);
  return total
    .times(percent)
    .dividedBy(over.times(100_000_000))
    .toDecimalPlaces(12, Decimal.ROUND_HALF_UP)
    .toFixed();
}

describe('price', () => {
  it('LIM-33 prices the usage the response reports, to the last digit of a naive calculation', () => {
    fc.assert(
      fc.property(input, (one) => expect(price(one).cost_usd).toBe(oracle(one))),
      { numRuns: 500 },
    );
  });

  it('LIM-33 follows the reported usage and nothing else', () => {
    expect(price(plain).cost_usd).toBe('0.00209');
    expect(price({ ...plain, usage: { ...plain.usage, completion_tokens: 35 } }).cost_usd).toBe('0.0021');
    expect(price({ ...plain, usage: { ...plain.usage, cached_tokens: 0 } }).cost_usd).toBe('0.00334');
  });

  it('EDGE-03 answers decimal strings without exponent, never negative', () => {
    fc.assert(
      fc.property(input, (one) => {
        const { cost_usd: cost, list_cost_usd: list } = price(one);
        for (const text of [cost, list]) expect(text).toMatch(/^(0|[1-9]\d*)(\.\d{0,11}[1-9])?$/);
        for (const line of priceLines(one)) {
          expect([line.quantity, line.rate, line.usd].join(' ')).toMatch(
            /^[\d.]+(\/\d+)? [\d.]+(\/\d+)? [\d.]+(\/\d+)?$/,
          );
        }
        expect(Usd.parse(cost).toString()).toBe(cost);
      }),
    );
  });

  it('MOD-20 bills request_usd on top of the tokens of each request, at any tier', () => {
    fc.assert(
      fc.property(input, above0, fc.nat(3), (one, requestUsd, requests) => {
        const atList = { ...one, discountPct: null, byok: { served: false, feePct: '0' } };
        const cost = (usd: string | null): Usd =>
          Usd.parse(
            price({
              ...atList,
              usage: { ...one.usage, requests },
              record: { ...one.record, request_usd: usd },
            }).cost_usd,
          );
        const charged = new Wide(requestUsd).times(requests).toFixed();
        expect(cost(requestUsd).minus(cost(null)).toString()).toBe(Usd.parse(charged).toString());
      }),
    );
  });

  it('MOD-26 gives a unit served by BYOK no discount, and the account’s platform units theirs', () => {
    const terms = { discountPct: '20', byok: { served: true, feePct: '100' } };
    expect(price({ ...plain, ...terms }).cost_usd).toBe('0.00209');
    expect(price({ ...plain, ...terms, byok: { served: true, feePct: '10' } }).cost_usd).toBe('0.000209');
    expect(price({ ...plain, ...terms, byok: { served: false, feePct: '10' } }).cost_usd).toBe('0.001672');
    fc.assert(
      fc.property(input, (one) => {
        const served = { ...one, byok: { ...one.byok, served: true } };
        expect(price({ ...served, discountPct: '50' })).toEqual(price({ ...served, discountPct: null }));
      }),
    );
  });

  it('costs the same for a counter of 0 as without it, so that records leave it out', () => {
    const zeros = fc.array(fc.constantFrom(...COUNTERS), { minLength: 1 });
    fc.assert(
      fc.property(input, zeros, (one, names) => {
        const record: PriceRecord = {
          ...one.record,
          ...{
            characters_usd_per_1m: '15',
            image_usd_per_unit: '0.04',
            video_usd_per_second: '1',
            search_usd_per_1k: '5',
          },
        };
        const of = {
          ...one.usage,
          images: 1,
          input_images: 1,
          videos: 1,
          video_seconds: '4',
          characters: 9,
          searches: 2,
        };
        const [zero, none]: Partial<Record<string, unknown>>[] = [{ ...of }, { ...of }];
        for (const name of names) {
          zero[name] = 0;
          delete none[name];
        }
        const [withZeros, without] = [zero, none].map((usage) => ({ ...one, record, usage }));
        expect(price(withZeros)).toEqual(price(without));
        expect(priceLines(withZeros)).toEqual(priceLines(without));
      }),
    );
  });

  it('never costs less for more completion tokens, requests or characters', () => {
    const more = fc.constantFrom('completion_tokens' as const, 'requests' as const, 'characters' as const);
    fc.assert(
      fc.property(input, more, fc.nat(1000), (one, name, extra) => {
        const record: PriceRecord = { ...one.record, characters_usd_per_1m: '15' };
        // Audio and image rates may lie below the plain one: without them every completion token costs the same.
        const counts: UnitUsage = {
          ...one.usage,
          characters: 10,
          audio_output_tokens: 0,
          image_output_tokens: 0,
        };
        const larger = { ...counts, [name]: Math.max(0, counts[name] ?? 0) + extra };
        const [less, greater] = [counts, larger].map((of) =>
          Usd.parse(price({ ...one, record, usage: of }).cost_usd),
        );
        expect(greater.compare(less)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('costs exactly twice as much for twice the usage where no threshold lies between', () => {
    fc.assert(
      fc.property(input, (one) => {
        const record = { ...one.record, long_context_threshold_tokens: null };
        const doubled = Object.fromEntries(
          Object.entries(one.usage).map(([name, count]) => [name, 2 * Number(count)]),
        );
        // Both are rounded once, so twice the one may differ from the other by a last digit.
        const twice = Usd.parse(price({ ...one, record }).cost_usd);
        const difference = Usd.parse(price({ ...one, record, usage: doubled }).cost_usd)
          .minus(twice)
          .minus(twice);
        expect(['-0.000000000001', '0', '0.000000000001']).toContain(difference.toString());
      }),
    );
  });

  it('shows the list cost before discount and fee', () => {
    fc.assert(
      fc.property(input, (one) => {
        const atList = price({ ...one, discountPct: null, byok: { served: false, feePct: '0' } });
        expect(price(one).list_cost_usd).toBe(atList.cost_usd);
        expect(atList.list_cost_usd).toBe(atList.cost_usd);
      }),
    );
  });

  it('bills a free model 0 for every line', () => {
    const record = { ...plain.record, is_free: true, request_usd: '1' };
    expect(price({ ...plain, record })).toEqual({ cost_usd: '0', list_cost_usd: '0' });
    expect(priceLines({ ...plain, record })).toEqual([]);
  });

  it('bills audio by the second or by the token, never both', () => {
    const tokens = { ...plain.record, audio_input_usd_per_1m: '40', audio_output_usd_per_1m: '80' };
    const usage = {
      prompt_tokens: 100,
      audio_input_tokens: 100,
      completion_tokens: 50,
      audio_output_tokens: 50,
    };
    const cost = (record: PriceRecord): string =>
      price({ ...plain, record, usage: { ...usage, audio_seconds: '60' } }).cost_usd;
    expect(cost(tokens)).toBe('0.008');
    expect(cost({ ...tokens, audio_usd_per_minute: '0.06' })).toBe('0.06');
  });

  it('does not let a tool’s name reach beyond the listed prices', () => {
    const record = { ...plain.record, tool_pricing: { web_search: '10' } };
    const tools = { constructor: 5, toString: 1, web_search: -2 };
    expect(price({ ...plain, record, usage: { tool_calls: tools } }).cost_usd).toBe('0');
  });

  it.each(['-1', '100.1', '101', '1e1', '', 'x'])('refuses a discount of %j per cent', (pct) => {
    expect(() => price({ ...plain, discountPct: pct })).toThrow(RangeError);
  });

  it.each(['-1', '1e3', '', '1234567890', '0.0000000000001'])('refuses a rate of %j', (usd) => {
    expect(() => price({ ...plain, record: { prompt_usd_per_1m: usd } })).toThrow(RangeError);
  });
});
