import type { PriceRecord } from '@gateway/contracts';
import { servesTier, speechRates } from './index.js';

describe('measures of speech that have a price', () => {
  it.each<[PriceRecord, { tokens: boolean; seconds: boolean }]>([
    [{}, { tokens: false, seconds: false }],
    [
      { prompt_usd_per_1m: '0', audio_output_usd_per_1m: '0.00' },
      { tokens: false, seconds: false },
    ],
    [{ prompt_usd_per_1m: '2' }, { tokens: true, seconds: false }],
    [{ audio_output_usd_per_1m: '12' }, { tokens: true, seconds: false }],
    [{ audio_usd_per_minute: '0.015' }, { tokens: false, seconds: true }],
    [
      { audio_usd_per_minute: '0.015', audio_output_usd_per_1m: '12' },
      { tokens: true, seconds: true },
    ],
    [
      { is_free: true, audio_usd_per_minute: '0.015', audio_output_usd_per_1m: '12' },
      { tokens: false, seconds: false },
    ],
  ])('of the record %j: %j', (record, expected) => {
    expect(speechRates(record)).toEqual(expected);
  });
});

describe('servesTier', () => {
  it('keeps a route out of flex unless one of its sides has a flex rate', () => {
    expect(servesTier({ prompt_usd_per_1m: '1' }, 'flex')).toBe(false);
    expect(servesTier({ flex_prompt_usd_per_1m: null, flex_completion_usd_per_1m: '1' }, 'flex')).toBe(true);
    expect(servesTier({ flex_prompt_usd_per_1m: '0' }, 'flex')).toBe(true);
    expect(servesTier({}, 'default')).toBe(true);
  });
});
