import {
  catalogueModel,
  compositeModel,
  type Release,
  type StoredModel,
  type StoredRoute,
} from './catalogue-model.js';
import { FLAGS, supportsFlags } from './supports-flags.js';

const paths = new Set(['/chat/completions', '/embeddings']);
const release: Release = {
  adapters: new Map([
    ['acme', ['chat']],
    ['base', ['messages', 'embeddings']],
  ]),
  paths,
  nowMs: Date.parse('2026-11-22T12:00:00Z'),
};

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
    description: null,
    composite_models: [],
    successor: null,
    ...more,
  };
}

function route(
  provider: string,
  dialect: StoredRoute['dialect'],
  prompt: string,
  more = {},
  facts: Partial<StoredRoute> = {},
): StoredRoute {
  return {
    provider,
    upstream_model: 'one',
    dialect,
    context_length: 1000,
    max_output_tokens: null,
    effective_date: '2026-01-01',
    retires_at: null,
    regions: [],
    zero_retention: null,
    source: 'https://prices.example',
    source_date: '2026-01-01',
    ...facts,
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
        route('base', 'embeddings', '1'),
        route('stranger', 'chat', '0.1'),
      ],
      release,
    );
    expect(made?.routes.map(({ provider, dialect }) => [provider, dialect])).toEqual([
      ['acme', 'chat'],
      ['base', 'messages'],
    ]);
    expect(made?.record.pricing).toMatchObject({ prompt_usd_per_1m: '2', effective_date: '2026-01-01' });
  });

  it('does not enable a model that nothing can call', () => {
    expect(catalogueModel(model(), [route('base', 'embeddings', '1')], release)).toBeNull();
    expect(catalogueModel(model(), [route('stranger', 'chat', '1')], release)).toBeNull();
    expect(catalogueModel(model(), [route('acme', 'messages', '1')], release)).toBeNull();
  });

  it('enables a text model that does not talk on a route of its own dialect', () => {
    const silent = model({ supports: [] });
    expect(catalogueModel(silent, [route('base', 'embeddings', '1')], release)).not.toBeNull();
    expect(catalogueModel(silent, [route('acme', 'embeddings', '1')], release)).toBeNull();
  });

  it('MOD-12 lists a model of another type, unusable on chat completions', () => {
    const embedding = model({ model_type: 'embedding', supports: ['embeddings', 'system_prompt'] });
    const made = catalogueModel(embedding, [route('acme', 'embeddings', '1')], release);
    expect(made?.record).toMatchObject({ model_type: 'embedding', supports_completions_api: false });
    expect(catalogueModel(embedding, [route('stranger', 'embeddings', '1')], release)).toBeNull();
  });

  it('MOD-07 is free only where every route is', () => {
    const zero = { prompt_usd_per_1m: '0', completion_usd_per_1m: '0', is_free: true };
    const free = [route('acme', 'chat', '0', zero)];
    expect(catalogueModel(model(), free, release)?.record.is_free).toBe(true);
    const mixed = [...free, route('base', 'messages', '1')];
    expect(catalogueModel(model(), mixed, release)?.record.is_free).toBe(false);
  });
});

describe('a model that ends', () => {
  const ending = (provider: string, retires_at: string | null): StoredRoute =>
    route(provider, provider === 'acme' ? 'chat' : 'messages', '1', {}, { retires_at });

  it('loses the route whose last day is over, and reports the day of the last one', () => {
    const made = catalogueModel(
      model(),
      [ending('acme', '2026-11-22'), ending('base', '2027-01-20')],
      release,
    );
    expect(made?.routes.map(({ provider }) => provider)).toEqual(['base']);
    expect(made?.record.retires_at).toBe('2027-01-20');
    expect(made?.record.successor).toBeNull();
    expect(made?.routes[0].retiresAtMs).toBe(Date.parse('2027-01-20T00:00:00Z'));
  });

  it('has no day while one route goes on, and is not enabled once none does', () => {
    const goesOn = catalogueModel(model(), [ending('acme', '2027-01-20'), ending('base', null)], release);
    expect(goesOn?.record.retires_at).toBeNull();
    expect(catalogueModel(model(), [ending('acme', '2026-11-22')], release)).toBeNull();
  });
});

describe('compositeModel', () => {
  const one = catalogueModel(model(), [route('acme', 'chat', '3')], release);
  const panel = model({ id: 'lab/panel', composite_models: ['lab/one', 'lab/two'] });

  it('MOD-15 names its members, has no route and no price, and serves no endpoint by itself', () => {
    if (one === null) throw new Error('lab/one is not enabled');
    const enabled = new Map([
      ['lab/one', one],
      ['lab/two', one],
    ]);
    const made = compositeModel(panel, enabled, release);
    expect(made?.routes).toEqual([]);
    expect(made?.record).toMatchObject({
      is_composite: true,
      composite_models: ['lab/one', 'lab/two'],
      is_free: false,
      supports_completions_api: false,
      supports_system_prompt: true,
    });
    expect(made?.record.pricing).toMatchObject({ prompt_usd_per_1m: null, request_usd: null });
    expect([one.record.is_composite, one.record.composite_models]).toEqual([false, []]);
    expect(compositeModel(panel, new Map([['lab/one', one]]), release)).toBeNull();
  });
});

describe('supportsFlags', () => {
  const shown = (served: ReadonlySet<string>): string[] =>
    Object.entries(supportsFlags([...FLAGS], served))
      .filter(([, value]) => value)
      .map(([name]) => name.slice('supports_'.length))
      .sort();

  it('MOD-09 MOD-10 MOD-11 MOD-13 has every flag, and none true that this release cannot serve', () => {
    expect(Object.keys(supportsFlags([...FLAGS], paths))).toHaveLength(FLAGS.length);
    const own = ['batching', 'realtime', 'structured_output', 'system_prompt', 'thinking', 'tools'];
    expect(shown(new Set())).toEqual(own);
    expect(shown(paths)).toEqual(['completions_api', 'embeddings', ...own].sort());
    expect(shown(new Set([...paths, '/responses']))).toContain('responses_api');
    expect(Object.values(supportsFlags([], paths)).every((value) => !value)).toBe(true);
  });

  it('MOD-14 MOD-51 names every flag of images and video', () => {
    const image = [
      'edit',
      'inpaint',
      'outpaint',
      'mix',
      'reframe',
      'upscale',
      'reference',
      'remove_background',
    ];
    const video = [
      'first_frame',
      'last_frame',
      'reference_image',
      'reference_video',
      'reference_audio',
      'source_video',
    ];
    const names = [...image.map((name) => `image_${name}`), ...video.map((name) => `video_${name}`)];
    expect(FLAGS).toEqual(expect.arrayContaining(names));
    expect(shown(new Set(['/images/edits']))).toEqual(
      expect.arrayContaining(image.map((name) => `image_${name}`)),
    );
  });
});
