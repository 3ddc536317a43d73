import { catalogueModel, type Adapters, type StoredModel, type StoredRoute } from './catalogue-model.js';
import { FLAGS, supportsFlags } from './supports-flags.js';

const adapters: Adapters = new Map([
  ['acme', ['chat']],
  ['base', ['messages', 'responses']],
]);

function model(more: Partial<StoredModel> = {}): StoredModel {
  return {
    id: 'lab/one',
    name: 'One',
    brand: 'lab',
    model_type: 'text',
    context_length: 1000,
    max_output_tokens: null,
    input_modalities: ['text'],
    output_modalities: ['text'],
    supports: ['completions_api', 'system_prompt', 'responses_api'],
    reasoning: { style: 'none' },
    fixes_sampling: false,
    released: null,
    ...more,
  };
}

function route(provider: string, dialect: StoredRoute['dialect'], prompt: string, more = {}): StoredRoute {
  return {
    provider,
    upstream_model: 'one',
    dialect,
    context_length: 1000,
    max_output_tokens: null,
    effective_date: '2026-01-01',
    price: { pricing_unit: 'per_1m_tokens', prompt_usd_per_1m: prompt, completion_usd_per_1m: '1', ...more },
  };
}

describe('catalogueModel', () => {
  it('MOD-02 keeps the routes that an adapter can call and prices by the cheapest of them', () => {
    const made = catalogueModel(
      model(),
      [
        route('acme', 'chat', '3'),
        route('base', 'messages', '2'),
        route('base', 'responses', '1'),
        route('stranger', 'chat', '0.1'),
      ],
      adapters,
    );
    expect(made?.routes.map(({ provider, dialect }) => [provider, dialect])).toEqual([
      ['acme', 'chat'],
      ['base', 'messages'],
    ]);
    expect(made?.record.pricing).toMatchObject({ prompt_usd_per_1m: '2', effective_date: '2026-01-01' });
  });

  it('does not enable a model that nothing can call', () => {
    expect(catalogueModel(model(), [route('base', 'responses', '1')], adapters)).toBeNull();
    expect(catalogueModel(model(), [route('stranger', 'chat', '1')], adapters)).toBeNull();
    expect(catalogueModel(model(), [route('acme', 'messages', '1')], adapters)).toBeNull();
  });

  it('MOD-12 lists a model of another type, unusable on chat completions', () => {
    const embedding = model({ model_type: 'embedding', supports: ['embeddings', 'system_prompt'] });
    const made = catalogueModel(embedding, [route('acme', 'embeddings', '1')], adapters);
    expect(made?.record).toMatchObject({ model_type: 'embedding', supports_completions_api: false });
    expect(catalogueModel(embedding, [route('stranger', 'embeddings', '1')], adapters)).toBeNull();
  });

  it('MOD-07 is free only where every route is', () => {
    const zero = { prompt_usd_per_1m: '0', completion_usd_per_1m: '0', is_free: true };
    const free = [route('acme', 'chat', '0', zero)];
    expect(catalogueModel(model(), free, adapters)?.record.is_free).toBe(true);
    const mixed = [...free, route('base', 'messages', '1')];
    expect(catalogueModel(model(), mixed, adapters)?.record.is_free).toBe(false);
  });
});

describe('supportsFlags', () => {
  it('MOD-09 MOD-10 has every flag, and none true that this release cannot serve', () => {
    const flags = supportsFlags([...FLAGS]);
    expect(Object.keys(flags)).toHaveLength(FLAGS.length);
    const shown = Object.entries(flags).filter(([, value]) => value);
    expect(shown.map(([name]) => name).sort()).toEqual([
      'supports_completions_api',
      'supports_structured_output',
      'supports_system_prompt',
      'supports_thinking',
      'supports_tools',
    ]);
    expect(Object.values(supportsFlags([])).every((value) => !value)).toBe(true);
  });
});
