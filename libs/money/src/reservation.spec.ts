import type { PriceRecord } from '@gateway/contracts';
import fc from 'fast-check';
import { p95OutputTokens, price, reservation, settledNano } from './index.js';
import type { ReservationRequest, ReservedRoute } from './index.js';

const route: ReservedRoute = {
  record: { prompt_usd_per_1m: '3', completion_usd_per_1m: '15' },
  discountPct: null,
  byok: { served: false, feePct: '0' },
  maxOutputTokens: 8_000,
  contextLength: 100_000,
  p95OutputTokens: 500,
};
const request: ReservationRequest = {
  routes: [route],
  tier: 'default',
  input: { inputBytes: 4_000 },
  maxTokens: null,
  context: {},
};

function nano(more: Partial<ReservationRequest>, ofRoute: Partial<ReservedRoute> = {}): [number, number] {
  const { routes = [{ ...route, ...ofRoute }] } = more;
  const held = reservation({ ...request, ...more, routes });
  return [Number(held.worst_case_nano), Number(held.reserved_nano)];
}

function unitNano(record: PriceRecord, more: Partial<ReservationRequest>): number {
  return nano({ input: { inputBytes: 0 }, ...more }, { record })[0];
}

describe('reservation', () => {
  it('holds input and the likely output; the worst case is all output the model may give', () => {
    expect(nano({})).toEqual([3_000_000 + 120_000_000, 3_000_000 + 7_500_000]);
  });

  it('takes max_tokens before the model’s maximum, and what the context leaves where neither is set', () => {
    expect(nano({ maxTokens: 100 })).toEqual([4_500_000, 4_500_000]);
    expect(nano({}, { maxOutputTokens: null })[0]).toBe(3_000_000 + 99_000 * 15_000);
    expect(nano({}, { maxOutputTokens: null, contextLength: 500 })[0]).toBe(3_000_000);
  });

  it('counts audio and images into the input: for the context that is left and the long-context rates', () => {
    const input = { inputBytes: 4_000, inputAudioSeconds: 10, inputImages: 2 };
    const sent = 1_000 + 320 + 2_000;
    const left = { maxOutputTokens: null, contextLength: 10_000 };
    expect(nano({ input }, left)[0]).toBe(sent * 3_000 + (10_000 - sent) * 15_000);
    const record = {
      ...{ prompt_usd_per_1m: '3', completion_usd_per_1m: '15', long_context_threshold_tokens: sent - 1 },
      ...{ long_context_prompt_usd_per_1m: '6', long_context_completion_usd_per_1m: '15' },
    };
    expect(nano({ input, maxTokens: 0 }, { record })[0]).toBe(sent * 6_000);
    const atThreshold = { ...record, long_context_threshold_tokens: sent };
    expect(nano({ input, maxTokens: 0 }, { record: atThreshold })[0]).toBe(sent * 3_000);
  });

  it('multiplies the output by the choices asked for', () => {
    expect(nano({ choices: 3 })).toEqual([3_000_000 + 360_000_000, 3_000_000 + 22_500_000]);
  });

  it('takes the dearest route of the plan, and nothing of a plan without one', () => {
    const dear = { ...route, record: { prompt_usd_per_1m: '30', completion_usd_per_1m: '15' } };
    expect(nano({ routes: [route, dear, route] })[1]).toBe(30_000_000 + 7_500_000);
    expect(nano({ routes: [] })).toEqual([0, 0]);
  });

  it('holds nothing for a free model and for BYOK at fee 0, and the fee otherwise', () => {
    expect(nano({}, { record: { ...route.record, is_free: true } })).toEqual([0, 0]);
    expect(nano({}, { byok: { served: true, feePct: '0' } })).toEqual([0, 0]);
    expect(nano({}, { byok: { served: true, feePct: '10' }, discountPct: '50' })[1]).toBe(1_050_000);
  });

  it('holds input at the dearest cache write rate where the request asks to write caches', () => {
    const record = {
      ...route.record,
      cache_write_input_usd_per_1m: '3.75',
      cache_write_1h_input_usd_per_1m: '6',
    };
    expect(nano({ maxTokens: 0 }, { record })[0]).toBe(3_000_000);
    expect(nano({ maxTokens: 0, writesCache: true }, { record })[0]).toBe(6_000_000);
  });

  it('holds output at the dearest class that was asked for', () => {
    const record = { ...route.record, audio_output_usd_per_1m: '60', image_output_usd_per_1m: '40' };
    const ask = { maxTokens: 1_000, input: { inputBytes: 0 } };
    expect(nano(ask, { record })[0]).toBe(15_000_000);
    expect(nano({ ...ask, wantsImages: true }, { record })[0]).toBe(40_000_000);
    expect(nano({ ...ask, wantsImages: true, wantsAudio: true }, { record })[0]).toBe(60_000_000);
  });

  it('holds 8,192 tokens an image without a history, and at least a nano-dollar where anything may cost', () => {
    const record = { prompt_usd_per_1m: '5', image_output_usd_per_1m: '40' };
    const images = { wantsImages: true, choices: 2, input: { inputBytes: 0 } };
    const unknown = { record, p95OutputTokens: null, maxOutputTokens: null, contextLength: null };
    expect(nano(images, unknown)[1]).toBe(2 * 8_192 * 40_000);
    const nothing = { maxTokens: 0, input: { inputBytes: 0 } };
    expect(nano(nothing)).toEqual([1, 1]);
    expect(nano(nothing, { record: { price_matrix: [{ when: {}, usd_per_unit: '0.1' }] } })).toEqual([1, 1]);
    expect(nano(nothing, { record: { prompt_usd_per_1m: '0', request_usd: '0.000' } })).toEqual([0, 0]);
    expect(nano(nothing, { record: { prompt_usd_per_1m: '0', billing_increment_seconds: '60' } })).toEqual([
      0, 0,
    ]);
    expect(nano(nothing, { record: { ...route.record, is_free: true } })).toEqual([0, 0]);
  });

  it('holds audio and images sent at the rate of their class', () => {
    const record = { ...route.record, audio_input_usd_per_1m: '40', image_input_usd_per_1m: '10' };
    const input = { inputBytes: 0, inputImages: 2, inputAudioSeconds: 10 };
    expect(nano({ maxTokens: 0, input }, { record })[0]).toBe(320 * 40_000 + 2_000 * 10_000);
  });

  it('takes the dearest matrix row that the request leaves possible', () => {
    const record: PriceRecord = {
      image_usd_per_unit: '0.2',
      price_matrix: [
        { when: { quality: 'low' }, usd_per_unit: '0.01' },
        { when: { quality: 'high', size: 'small' }, usd_per_unit: '0.3' },
        { when: { quality: 'high' }, usd_per_unit: '0.25' },
      ],
    };
    const images = (context: ReservationRequest['context']): number =>
      unitNano(record, { billableUnits: { images: 2 }, context });
    expect(images({})).toBe(600_000_000);
    expect(images({ quality: 'low' })).toBe(20_000_000);
    expect(images({ quality: 'HIGH' })).toBe(600_000_000);
    expect(images({ quality: 'high', size: 'large' })).toBe(500_000_000);
    expect(images({ quality: 'medium' })).toBe(400_000_000);
  });

  it('holds seconds of video, characters, searches and audio, as they are rounded for the bill', () => {
    const byVideo: PriceRecord = {
      price_matrix: [{ when: { resolution: '1080p' }, usd_per_second: '0.5' }],
      video_usd_per_second: '0.1',
    };
    expect(unitNano(byVideo, { billableUnits: { videos: 1, video_seconds: '4.2' } })).toBe(2_500_000_000);
    expect(unitNano({ characters_usd_per_1m: '15' }, { billableUnits: { characters: 1_000 } })).toBe(
      15_000_000,
    );
    expect(unitNano({ search_usd_per_1k: '5' }, { billableUnits: { searches: 2 } })).toBe(10_000_000);
    expect(unitNano({ audio_usd_per_minute: '0.006' }, { billableUnits: { audio_seconds: '59.5' } })).toBe(
      6_000_000,
    );
    expect(unitNano({ request_usd: '0.0000000001' }, {})).toBe(1);
  });

  it('covers the cost of every answer within the estimate of its input and max_tokens', () => {
    const amount = fc
      .nat(10_000_000)
      .map((micro) => `${Math.floor(micro / 1000)}.${`${micro % 1000}`.padStart(3, '0')}`);
    const counts = fc.record({
      bytes: fc.nat(100_000),
      maxTokens: fc.nat(5_000),
      used: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(amount, amount, amount, counts, (prompt, completion, write, { bytes, maxTokens, used }) => {
        const record = {
          prompt_usd_per_1m: prompt,
          completion_usd_per_1m: completion,
          cache_write_input_usd_per_1m: write,
        };
        const input = Math.ceil(bytes / 4);
        const cost = price({
          usage: {
            prompt_tokens: input,
            cache_write_tokens: Math.floor(input * used),
            completion_tokens: Math.floor(maxTokens * used),
          },
          record,
          tier: 'default',
          discountPct: '10',
          byok: route.byok,
          context: {},
        });
        const routes = [{ ...route, record, discountPct: '10' }];
        const held = reservation({
          ...request,
          routes,
          input: { inputBytes: bytes },
          maxTokens,
          writesCache: true,
        });
        expect(held.worst_case_nano).toBeGreaterThanOrEqual(settledNano(cost.cost_usd));
        expect(held.reserved_nano).toBeLessThanOrEqual(held.worst_case_nano);
      }),
    );
  });
});

describe('p95OutputTokens', () => {
  it('is the nearest rank, and unknown under 20 units', () => {
    const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => count - index);
    expect(p95OutputTokens(upTo(19))).toBeNull();
    expect(p95OutputTokens(upTo(20))).toBe(19);
    expect(p95OutputTokens(upTo(100))).toBe(95);
    expect(p95OutputTokens(upTo(101))).toBe(96);
  });
});
