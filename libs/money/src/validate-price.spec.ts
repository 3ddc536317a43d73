import type { PriceMatrixRow, PriceRecord } from '@gateway/contracts';
import { validatePriceRecord } from './index.js';
import type { PricedModelType } from './index.js';

const good: PriceRecord = {
  prompt_usd_per_1m: '2.50',
  completion_usd_per_1m: '10',
  flex_prompt_usd_per_1m: '1',
};

function locs(record: PriceRecord, type: PricedModelType = 'text'): string[] {
  return validatePriceRecord(record, type).map(({ loc }) => loc.join('.'));
}

describe('validatePriceRecord', () => {
  it.each<[PricedModelType, PriceRecord]>([
    ['text', good],
    ['text', { request_usd: '0.01' }],
    ['text', { pricing_unit: 'per_request', output_usd_per_unit: '0.01' }],
    ['text', { prompt_usd_per_1m: null, completion_usd_per_1m: null, is_free: true }],
    ['embedding', { prompt_usd_per_1m: '0.02', completion_usd_per_1m: null }],
    ['image', { image_output_usd_per_1m: '40' }],
    ['image', { pricing_unit: 'per_image', output_usd_per_unit: '0.04' }],
    ['image', { price_matrix: [{ when: {}, usd_per_unit: '0.04' }] }],
    ['tts', { characters_usd_per_1m: '15' }],
    ['tts', { completion_usd_per_1m: '12' }],
    ['tts', { audio_output_usd_per_1m: '12' }],
    ['tts', { audio_usd_per_minute: '0.015' }],
    ['audio', { completion_usd_per_1m: '12' }],
    ['audio', { audio_output_usd_per_1m: '12' }],
    ['audio', { audio_usd_per_minute: '0.015' }],
    ['stt', { audio_usd_per_minute: '0.006' }],
    ['stt', { audio_input_usd_per_1m: '6' }],
    ['stt', { prompt_usd_per_1m: '2.50' }],
    ['stt', { completion_usd_per_1m: '10' }],
    ['image', { image_usd_per_unit: '0.04' }],
    ['image', { completion_usd_per_1m: '40' }],
    ['video', { video_usd_per_second: '0.2' }],
    ['video', { completion_usd_per_1m: '8' }],
    ['stt', { pricing_unit: 'per_minute', input_usd_per_unit: '0.006' }],
    [
      'video',
      { price_matrix: [{ when: { audio: true }, usd_per_second: '0.4' }], video_usd_per_second: '0.2' },
    ],
    ['search', { search_usd_per_1k: '5' }],
  ])('accepts a %s price %j', (type, record) => {
    expect(validatePriceRecord(record, type)).toEqual([]);
  });

  it.each<[PricedModelType, PriceRecord]>([
    ['text', {}],
    ['text', { prompt_usd_per_1m: '1' }],
    ['text', { pricing_unit: 'per_1m_tokens', input_usd_per_unit: '1', output_usd_per_unit: '1' }],
    ['embedding', { completion_usd_per_1m: '1' }],
    ['image', { prompt_usd_per_1m: '1' }],
    ['tts', { prompt_usd_per_1m: '1' }],
    ['stt', { characters_usd_per_1m: '1' }],
    ['video', { image_usd_per_unit: '1' }],
    ['search', { completion_usd_per_1m: '1' }],
  ])('refuses a %s price without a rate for what it delivers: %j', (type, record) => {
    expect(validatePriceRecord(record, type)).toEqual([{ loc: [], msg: expect.stringContaining(type) }]);
  });

  it.each(['-1', '+1', '1e3', '.5', '1.', '', '1234567890', '0.0000000000001', '1,5'])(
    'refuses the rate %j anywhere',
    (usd) => {
      const record: PriceRecord = {
        ...good,
        request_usd: usd,
        tool_pricing: { web_search: usd },
        price_matrix: [{ when: {}, usd_per_unit: usd }],
      };
      expect(locs(record)).toEqual(['request_usd', 'tool_pricing.web_search', 'price_matrix.0.usd_per_unit']);
    },
  );

  it('EDGE-03 refuses a rate that is a JSON number', () => {
    expect(locs({ ...good, ...JSON.parse('{"request_usd": 0.5}') })).toEqual(['request_usd']);
  });

  it('refuses a row without exactly one price', () => {
    const when = { quality: 'low' };
    const price_matrix = [
      { when },
      { when, usd_per_unit: '1', usd_per_second: '1' },
      { when: {}, usd_per_unit: '1' },
    ];
    expect(locs({ price_matrix }, 'image')).toEqual(['price_matrix.0', 'price_matrix.1']);
  });

  it('refuses a matrix that can leave a result without a price', () => {
    const price_matrix: PriceMatrixRow[] = [
      { when: {}, usd_per_second: '1' },
      { when: { resolution: '1080p' }, usd_per_second: '2' },
    ];
    expect(locs({ price_matrix }, 'video')).toEqual(['price_matrix']);
    expect(locs({ price_matrix, video_usd_per_second: '1' }, 'image')).toContain('price_matrix');
    for (const pricing_unit of ['per_video', 'per_second'] as const)
      expect(locs({ price_matrix, pricing_unit, output_usd_per_unit: '3' }, 'video')).toEqual([]);
    expect(locs({ price_matrix, pricing_unit: 'per_image', output_usd_per_unit: '3' }, 'video')).toEqual([
      'price_matrix',
    ]);
  });

  it('refuses a twin beside a null or zero base', () => {
    const twins: PriceRecord = {
      batch_prompt_usd_per_1m: '1',
      long_context_completion_usd_per_1m: '1',
      flex_completion_usd_per_1m: '1',
    };
    const refused = ['long_context_completion_usd_per_1m', 'flex_completion_usd_per_1m'];
    expect(locs({ ...good, ...twins })).toEqual([]);
    expect(locs({ ...good, ...twins, completion_usd_per_1m: '0.00' })).toEqual(refused);
    expect(locs({ ...twins, completion_usd_per_1m: '1' })).toEqual(['batch_prompt_usd_per_1m']);
  });

  it('refuses a free model with a rate above 0', () => {
    const price_matrix = [{ when: {}, usd_per_unit: '0.0' }];
    expect(
      locs({
        is_free: true,
        prompt_usd_per_1m: '0',
        request_usd: '0.01',
        tool_pricing: { x: '1' },
        price_matrix,
      }),
    ).toEqual(['request_usd', 'tool_pricing.x']);
  });

  it('refuses billing steps that are no seconds', () => {
    expect(locs({ ...good, billing_increment_seconds: '-1', billing_minimum_seconds: 'x' })).toEqual([
      'billing_increment_seconds',
      'billing_minimum_seconds',
    ]);
  });
});
