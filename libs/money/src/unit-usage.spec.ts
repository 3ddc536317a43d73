import type { UnitUsage } from '@gateway/contracts';
import fc from 'fast-check';
import { TOKEN_CLASSES, tokenClasses } from './index.js';

const count = fc.oneof(
  fc.integer({ min: -100, max: 10_000 }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, 0.5),
);
const names = [
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'audio_input_tokens',
  'image_input_tokens',
  'cached_audio_tokens',
  'cached_image_tokens',
  'completion_tokens',
  'audio_output_tokens',
  'image_output_tokens',
] as const;
const usage: fc.Arbitrary<UnitUsage> = fc.dictionary(fc.constantFrom(...names), count);

function whole(value: number | undefined): number {
  return value !== undefined && value > 0 ? Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER) : 0;
}

describe('tokenClasses', () => {
  it('USG-23 splits any report into whole classes of which none is negative', () => {
    fc.assert(
      fc.property(usage, (one) => {
        const classes = tokenClasses(one);
        for (const name of TOKEN_CLASSES) {
          expect(Number.isSafeInteger(classes[name])).toBe(true);
          expect(classes[name]).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  it('counts every token once: inputs add up to prompt_tokens, outputs to completion_tokens', () => {
    fc.assert(
      fc.property(usage, (one) => {
        const { completion, audio_output: audioOut, image_output: imageOut, ...inputs } = tokenClasses(one);
        expect(Object.values(inputs).reduce((sum, tokens) => sum + tokens, 0)).toBe(whole(one.prompt_tokens));
        expect(completion + audioOut + imageOut).toBe(whole(one.completion_tokens));
      }),
    );
  });

  it('USG-23 keeps a consistent report as it is: fresh is prompt - cached - written', () => {
    const consistent = fc.tuple(fc.nat(5000), fc.nat(5000), fc.nat(5000), fc.nat(5000));
    fc.assert(
      fc.property(consistent, ([fresh, cached, written, written1h]) => {
        const classes = tokenClasses({
          prompt_tokens: fresh + cached + written + written1h,
          cached_tokens: cached,
          cache_write_tokens: written + written1h,
          cache_write_1h_tokens: written1h,
        });
        expect(classes).toMatchObject({ fresh, cached, cache_write: written, cache_write_1h: written1h });
      }),
    );
  });

  it('takes a cached token for audio before image, never for both', () => {
    const usage = {
      prompt_tokens: 1000,
      cached_tokens: 100,
      audio_input_tokens: 100,
      cached_audio_tokens: 100,
    };
    const classes = tokenClasses({ ...usage, image_input_tokens: 200, cached_image_tokens: 100 });
    expect(classes).toMatchObject({ cached: 100, audio_input: 0, image_input: 200, fresh: 700 });
  });
});
