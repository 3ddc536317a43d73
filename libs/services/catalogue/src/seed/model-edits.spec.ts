import fc from 'fast-check';
import { editsBetween, isDrifted, withEdits } from './model-edits.js';
import { changedFields } from './model-fields.js';
import type { SeedModel, SeedRoute } from './seed-record.js';

const rate = fc.integer({ min: 0, max: 3 }).map(String);
const limit = fc.constantFrom(undefined, 10, 20);
const route = fc
  .record({
    ...{ provider: fc.constantFrom('p', 'q'), upstream_model: fc.constantFrom('u', 'v') },
    ...{
      dialect: fc.constantFrom('chat' as const, 'messages' as const),
      prompt: rate,
      hour: fc.option(rate),
    },
    ...{
      context_length: limit,
      max_output_tokens: limit,
      retires_at: fc.constantFrom(undefined, '2027-01-01'),
    },
  })
  .map(({ prompt, hour, ...rest }): SeedRoute => {
    const prices = { prompt_usd_per_1m: hour };
    const windows = hour === null ? undefined : [{ name: 'peak', hours_utc: ['01:00-02:00'], prices }];
    return {
      ...rest,
      price: { prompt_usd_per_1m: prompt, completion_usd_per_1m: null, windows },
      ...{ source: 'page', source_date: '2026-11-01', effective_date: '2026-11-01' },
    };
  });
const model = fc.record({
  ...{ id: fc.constant('a/m'), brand: fc.constant('a'), model_type: fc.constant('text' as const) },
  ...{ name: fc.constantFrom('M', 'N'), context_length: fc.constantFrom(10, 20), max_output_tokens: limit },
  ...{ input_modalities: fc.constant(['text']), output_modalities: fc.constant(['text']) },
  supports: fc.subarray(['tools', 'batching']),
  lacks: fc.constantFrom(undefined, ['system_prompt']),
  reasoning: fc.constantFrom({ style: 'none' as const }, { style: 'effort' as const }),
  fixes_sampling: fc.constantFrom(undefined, true),
  description: fc.constantFrom(undefined, 'Words.'),
  routes: fc.uniqueArray(route, { selector: (one) => `${one.provider} ${one.upstream_model}`, maxLength: 4 }),
}) as fc.Arbitrary<SeedModel>;

describe('edits by field', () => {
  it('issue 37 make of what lies below just what was asked for, whatever either is', () => {
    fc.assert(
      fc.property(fc.option(model), model, (below, wanted) => {
        const made = withEdits('a/m', below, editsBetween(below, wanted));
        expect(made?.isHidden).toBe(false);
        expect(made && changedFields(made.model, wanted)).toEqual([]);
      }),
    );
  });

  it('issue 37 leave every field that nobody edited to what lies below next', () => {
    fc.assert(
      fc.property(model, model, model, (below, wanted, next) => {
        const edits = editsBetween(below, wanted);
        const made = withEdits('a/m', next, edits)?.model as SeedModel;
        const own = new Set(edits.filter(({ provider }) => provider === '').map(({ field }) => field));
        const changed = changedFields(next, made).filter((field) => field !== 'routes');
        expect(changed.filter((field) => !own.has(field as never))).toEqual([]);
        for (const edit of edits) {
          const isMoved = editsBetween(below, next).some(
            (moved) => moved.provider === edit.provider && moved.upstream_model === edit.upstream_model,
          );
          if (!isMoved) expect(isDrifted(edit, next)).toBe(false);
        }
      }),
    );
  });

  it('issue 37 of equal content are none, and none of them has drifted', () => {
    fc.assert(
      fc.property(model, fc.option(model), (wanted, below) => {
        expect(editsBetween(wanted, structuredClone(wanted))).toEqual([]);
        expect(editsBetween(below, wanted).some((edit) => isDrifted(edit, below))).toBe(false);
      }),
    );
  });

  it('issue 37 take a whole price: no rate and no window of what lies below remains', () => {
    const [below, wanted] = ['1', '2'].map((prompt): SeedModel => ({
      ...{ id: 'a/m', brand: 'a', name: 'M', model_type: 'text', context_length: 10, supports: [] },
      ...{ input_modalities: ['text'], output_modalities: ['text'], reasoning: { style: 'none' } },
      routes: [
        {
          ...{ provider: 'p', upstream_model: 'u', dialect: 'chat', source: 's' },
          ...{ source_date: '2026-11-01', effective_date: '2026-11-01' },
          price: { prompt_usd_per_1m: prompt },
        },
      ],
    }));
    const edits = editsBetween(below, wanted);
    expect(edits.map(({ field, provider }) => [field, provider])).toEqual([['price', 'p']]);
    const next = structuredClone(below);
    next.routes[0].price = { prompt_usd_per_1m: '5', cache_read_input_usd_per_1m: '3' };
    expect(withEdits('a/m', next, edits)?.model.routes[0].price).toEqual({ prompt_usd_per_1m: '2' });
    expect(isDrifted(edits[0], next)).toBe(true);
  });
});
