import type { SeedModel } from '../seed/seed-record.js';
import { catalogueDiff, guard } from './catalogue-diff.js';
import { seedOfBody } from '../seed/seed-of-body.js';

function model(id: string, prompt = '1'): SeedModel {
  return seedOfBody(
    {
      id,
      name: id,
      model_type: 'text',
      context_length: 10,
      input_modalities: ['text'],
      output_modalities: ['text'],
      supports: ['completions_api'],
      routes: [
        {
          provider: 'p',
          upstream_model: 'u',
          dialect: 'chat',
          price: { prompt_usd_per_1m: prompt, completion_usd_per_1m: '2' },
        },
      ],
    },
    '2026-11-22',
  );
}

const known = (count: number): Map<string, SeedModel> =>
  new Map(Array.from({ length: count }, (_, n) => [`a/m${n}`, model(`a/m${n}`)]));

describe('the guard of a load', () => {
  it.each([
    [20, 2, null],
    [20, 3, 'It would drop 3 of 20 models.'],
    [0, 0, null],
  ])('MOD-54 of %i models lets %i go: %s', (count, dropped, expected) => {
    const before = known(count);
    const load = [...before.values()].slice(dropped);
    expect(guard(catalogueDiff(before, load, true), before)).toBe(expected);
  });

  it('MOD-54 sees a rate that is taken away, and none in one that changes or is added', () => {
    const before = known(2);
    const [one, two] = [...before.values()];
    const emptied = structuredClone(one);
    emptied.routes[0].price = { completion_usd_per_1m: '2', prompt_usd_per_1m: null };
    expect(guard(catalogueDiff(before, [emptied, two], true), before)).toContain(
      'prompt_usd_per_1m of a/m0 at p',
    );
    const dearer = structuredClone(one);
    dearer.routes[0].price = { ...one.routes[0].price, prompt_usd_per_1m: '9', request_usd: '1' };
    const diff = catalogueDiff(before, [dearer, two], true);
    expect([diff.changed, guard(diff, before)]).toEqual([[{ id: 'a/m0', fields: ['routes'] }], null]);
  });

  it('takes equal content as unchanged, whatever the order and what is left out', () => {
    const before = known(1);
    const same = structuredClone(model('a/m0'));
    same.routes[0].price = {
      completion_usd_per_1m: '2',
      cache_read_input_usd_per_1m: null,
      prompt_usd_per_1m: '1',
    };
    same.lacks = [];
    expect(catalogueDiff(before, [same], false).unchanged).toBe(1);
  });
});
