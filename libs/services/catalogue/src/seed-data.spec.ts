import { readdirSync, readFileSync } from 'node:fs';
import type { DialectName, ModelType, PriceRecord, ReasoningStyle } from '@gateway/contracts';
import { price } from '@gateway/money';

interface SeedRoute {
  provider: string;
  upstream_model: string;
  dialect: DialectName;
  context_length?: number;
  max_output_tokens?: number;
  price: PriceRecord;
  source: string;
  source_date: string;
  effective_date: string;
  retires_at?: string;
  retires_source?: string;
  retires_source_date?: string;
}

interface SeedModel {
  id: string;
  name: string;
  brand: string;
  model_type: ModelType;
  context_length: number;
  max_output_tokens?: number;
  is_free?: boolean;
  input_modalities: string[];
  output_modalities: string[];
  supports: string[];
  lacks?: string[];
  reasoning: ReasoningStyle;
  fixes_sampling?: boolean;
  released?: string;
  successor?: string;
  routes: SeedRoute[];
}

interface SeedProvider {
  slug: string;
  name: string;
  dialects: string[];
  base_url: string | null;
  env: { api_key: string | null; base_url: string };
}

const DATA = new URL('../data/', import.meta.url);
const MONEY = /^\d{1,9}(\.\d{1,12})?$/;
const RATE_FIELD =
  /_usd_per_1m$|_usd_per_unit$|_usd_per_second$|_usd_per_minute$|_usd_per_1k$|^request_usd$|^usd_/;
const ENTRY_KEYS = new Set(
  'id name brand model_type context_length max_output_tokens is_free input_modalities output_modalities supports lacks reasoning fixes_sampling released successor routes'.split(
    ' ',
  ),
);
const FLAGS = new Set(
  'tools structured_output thinking completions_api responses_api batching system_prompt realtime embeddings video_generation background_response image_edit image_inpaint image_outpaint image_mix image_reframe image_upscale image_reference image_remove_background video_first_frame video_last_frame video_reference_image video_reference_video video_reference_audio video_source_video'.split(
    ' ',
  ),
);
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const UNITS: Record<string, keyof PriceRecord> = {
  per_minute: 'audio_usd_per_minute',
  per_1m_characters: 'characters_usd_per_1m',
  per_second: 'video_usd_per_second',
  per_image: 'image_usd_per_unit',
  per_1k_searches: 'search_usd_per_1k',
};
/** Rates by type for a model's output (or, for embeddings and transcription, input): one of these must be there. */
const DELIVERED: Record<ModelType, (keyof PriceRecord)[]> = {
  text: ['completion_usd_per_1m'],
  embedding: ['prompt_usd_per_1m'],
  image: ['image_output_usd_per_1m', 'image_usd_per_unit'],
  audio: ['audio_output_usd_per_1m', 'audio_usd_per_minute'],
  tts: ['characters_usd_per_1m', 'audio_output_usd_per_1m', 'audio_usd_per_minute'],
  stt: ['audio_usd_per_minute', 'audio_input_usd_per_1m'],
  video: ['video_usd_per_second'],
};
const TWINS: [keyof PriceRecord, keyof PriceRecord][] = (['long_context', 'batch', 'flex'] as const).flatMap(
  (tier): [keyof PriceRecord, keyof PriceRecord][] => [
    [`${tier}_prompt_usd_per_1m`, 'prompt_usd_per_1m'],
    [`${tier}_completion_usd_per_1m`, 'completion_usd_per_1m'],
  ],
);

function read<T>(path: string): T {
  const value: T = JSON.parse(readFileSync(new URL(path, DATA), 'utf8'));
  return value;
}

const files = readdirSync(new URL('models/', DATA)).filter((name) => name.endsWith('.json'));
const real = files.flatMap((file) => read<SeedModel[]>(`models/${file}`));
const simulated = read<SeedModel[]>('simulated.json');
const models = [...real, ...simulated];
const providers = read<SeedProvider[]>('providers.json');
const brands = read<{ slug: string; name: string }[]>('brands.json');

function present(price: PriceRecord, field: keyof PriceRecord): boolean {
  return price[field] !== undefined && price[field] !== null;
}

function isZero(rate: unknown): boolean {
  return typeof rate === 'string' && /^[0.]+$/.test(rate);
}

/** Decimal string as a whole number of 1e-12 USD, so that ratios can be compared without a float. */
function pico(rate: string | null | undefined): bigint {
  const [whole, fraction = ''] = (rate ?? '0').split('.');
  return BigInt(whole + fraction.padEnd(12, '0'));
}

/** A calendar date in the form YYYY-MM-DD: 2026-02-30 is none. */
function isDate(text: string): boolean {
  const [year, month, day] = text.split('-').map(Number);
  return (
    /^\d{4}-\d\d-\d\d$/.test(text) && new Date(Date.UTC(year, month - 1, day)).toISOString().startsWith(text)
  );
}

function rates(price: PriceRecord): [string, unknown][] {
  const rows = [price, ...(price.price_matrix ?? [])];
  return rows.flatMap((row) => Object.entries(row).filter(([field]) => RATE_FIELD.test(field)));
}

function priceFaults(
  { model_type: type, output_modalities: output, is_free: free = false }: SeedModel,
  price: PriceRecord,
): string[] {
  const faults: string[] = [];
  for (const [field, rate] of rates(price)) {
    if (typeof rate !== 'string' || !MONEY.test(rate)) faults.push(`${field} is not money`);
    if (free !== isZero(rate)) faults.push(`${field} ${free ? 'costs in a free model' : 'is zero'}`);
  }
  if (free !== (price.is_free === true)) faults.push('is_free differs between model and price');
  const delivers = output.includes('search_results')
    ? (['search_usd_per_1k'] as const)
    : output.includes('rerank')
      ? (['search_usd_per_1k', 'prompt_usd_per_1m'] as const)
      : type === 'text' || !free
        ? DELIVERED[type]
        : [];
  if (!delivers.some((field) => present(price, field))) faults.push('no rate for what it delivers');
  for (const [twin, base] of TWINS) {
    if (present(price, twin) && (!present(price, base) || isZero(price[base])))
      faults.push(`${twin} without ${base}`);
  }
  const long = [
    'long_context_threshold_tokens',
    'long_context_prompt_usd_per_1m',
    'long_context_completion_usd_per_1m',
  ] as const;
  if (new Set(long.map((field) => present(price, field))).size > 1)
    faults.push('long context is not complete');
  if (price.pricing_unit !== 'per_1m_tokens' && !present(price, UNITS[price.pricing_unit ?? '']))
    faults.push('unit without its rate');
  const last = price.price_matrix?.at(-1);
  if (last && Object.keys(last.when).length > 0) faults.push('matrix without a last row that always holds');
  return faults;
}

/** A retirement has a public source that was read before it: where its day has passed, the row goes. */
function retirementFaults({ source_date: priced, ...route }: SeedRoute): string[] {
  const { retires_at: day, retires_source: source, retires_source_date: read } = route;
  if (day === undefined && source === undefined && read === undefined) return [];
  if (day === undefined || read === undefined || !source?.startsWith('https://'))
    return ['a retirement is not whole'];
  if (!isDate(day) || !isDate(read)) return ['a date of its retirement is wrong'];
  return day <= priced || day <= read ? ['retired when its source was read'] : [];
}

function routeFaults(model: SeedModel, route: SeedRoute): string[] {
  const faults = [...priceFaults(model, route.price), ...retirementFaults(route)];
  const provider = providers.find((candidate) => candidate.slug === route.provider);
  if (!provider) faults.push(`unknown provider ${route.provider}`);
  else if (!provider.dialects.includes(route.dialect))
    faults.push(`${route.provider} has no ${route.dialect}`);
  if (route.source !== 'built in' && !route.source.startsWith('https://')) faults.push('no public source');
  if (!isDate(route.source_date) || !isDate(route.effective_date)) faults.push('a date is missing or wrong');
  if (route.upstream_model === '') faults.push('no upstream model');
  if ((route.context_length ?? 1) > model.context_length)
    faults.push('route with more context than its model');
  return faults.map((fault) => `${route.provider}: ${fault}`);
}

/** A successor is named by the page that dates the retirement, and is served for longer. */
function successorFaults({ id, successor, routes }: SeedModel): string[] {
  if (successor === undefined) return [];
  const next = models.find((model) => model.id === successor);
  if (next === undefined || successor === id) return [`unknown successor ${successor}`];
  const days = routes.flatMap((route) => route.retires_at ?? []).toSorted();
  if (days.length === 0) return ['a successor without a retirement'];
  const goes = (day: string): boolean => next.routes.every((route) => (route.retires_at ?? '9999') <= day);
  return goes(days[0]) ? ['a successor that is retired no later'] : [];
}

function modelFaults(model: SeedModel): string[] {
  const faults = model.routes.flatMap((route) => routeFaults(model, route));
  faults.push(...successorFaults(model));
  for (const key of Object.keys(model)) if (!ENTRY_KEYS.has(key)) faults.push(`unknown field ${key}`);
  if (!/^[a-z0-9-]+\/[a-z0-9][a-z0-9._-]*$/.test(model.id)) faults.push('id is not <brand>/<model-name>');
  if (model.brand !== model.id.split('/')[0]) faults.push('brand differs from id');
  if (!brands.some((brand) => brand.slug === model.brand)) faults.push('unknown brand');
  if (!(model.model_type in DELIVERED)) faults.push('unknown model type');
  if (!Number.isInteger(model.context_length) || model.context_length <= 0) faults.push('no context length');
  if (model.name === '' || model.routes.length === 0) faults.push('no name or no route');
  if (model.input_modalities.length === 0 || model.output_modalities.length === 0)
    faults.push('no modalities');
  for (const flag of [...model.supports, ...(model.lacks ?? [])])
    if (!FLAGS.has(flag)) faults.push(`unknown flag ${flag}`);
  if (new Set(model.supports).size !== model.supports.length) faults.push('flag twice');
  if (model.supports.includes('thinking') !== (model.reasoning.style !== 'none'))
    faults.push('thinking without a style');
  const efforts = model.reasoning.efforts ?? [];
  if (model.reasoning.style !== 'none' && efforts.length === 0) faults.push('style without efforts');
  if (efforts.some((effort) => !EFFORTS.includes(effort))) faults.push('unknown effort');
  // A model that judges, searches or puts in order reads texts and answers none.
  const judges =
    model.routes.some(({ dialect }) => dialect === 'moderations') ||
    model.output_modalities.some((output) => output === 'search_results' || output === 'rerank');
  if ((model.model_type === 'text' && !judges) !== model.supports.includes('completions_api'))
    faults.push('text and completions differ');
  if ((model.model_type === 'embedding') !== model.supports.includes('embeddings'))
    faults.push('embeddings differ');
  if ((model.model_type === 'video') !== model.supports.includes('video_generation'))
    faults.push('video differs');
  return faults;
}

const CHAT: SeedModel = simulated.filter((model) => model.id === 'simulator/chat')[0];

function withPrice(change: Partial<PriceRecord>): SeedModel {
  return { ...CHAT, routes: [{ ...CHAT.routes[0], price: { ...CHAT.routes[0].price, ...change } }] };
}

function withRetirement(change: Partial<SeedRoute>): SeedModel {
  const whole = {
    retires_at: '2027-01-14',
    retires_source: 'https://a.b',
    retires_source_date: '2026-10-28',
  };
  return { ...CHAT, routes: [{ ...CHAT.routes[0], source_date: '2026-11-21', ...whole, ...change }] };
}

describe('seed data', () => {
  it('MOD-02 MOD-55 names at least 230 models, each once under one id, in the file of its brand', () => {
    expect(real.length).toBeGreaterThanOrEqual(230);
    expect(new Set(models.map((model) => model.id)).size).toBe(models.length);
    for (const file of files) {
      expect(new Set(read<SeedModel[]>(`models/${file}`).map((model) => `${model.brand}.json`))).toEqual(
        new Set([file]),
      );
    }
  });

  it.each(models.map((model): [string, SeedModel] => [model.id, model]))(
    'MOD-01 MOD-04 MOD-05 MOD-16 %s is a whole, priced and dated model',
    (_id, model) => {
      expect(modelFaults(model)).toEqual([]);
    },
  );

  it.each([
    ['a float', withPrice({ prompt_usd_per_1m: '1e-3' }), 'prompt_usd_per_1m is not money'],
    [
      'a rate too fine',
      withPrice({ prompt_usd_per_1m: '0.1234567890123' }),
      'prompt_usd_per_1m is not money',
    ],
    ['no output rate', withPrice({ completion_usd_per_1m: null }), 'no rate for what it delivers'],
    [
      'a twin alone',
      withPrice({ prompt_usd_per_1m: null }),
      'flex_prompt_usd_per_1m without prompt_usd_per_1m',
    ],
    ['half a step', withPrice({ long_context_threshold_tokens: null }), 'long context is not complete'],
    ['a zero rate', withPrice({ cache_read_input_usd_per_1m: '0' }), 'cache_read_input_usd_per_1m is zero'],
    ['a free price', withPrice({ is_free: true }), 'is_free differs between model and price'],
    ['another brand', { ...CHAT, brand: 'openai' }, 'brand differs from id'],
    ['a free model that costs', { ...CHAT, is_free: true }, 'prompt_usd_per_1m costs in a free model'],
    ['a flag that is none', { ...CHAT, supports: [...CHAT.supports, 'magic'] }, 'unknown flag magic'],
    ['no source', { ...CHAT, routes: [{ ...CHAT.routes[0], source: 'memory' }] }, 'no public source'],
    [
      'no such day',
      { ...CHAT, routes: [{ ...CHAT.routes[0], source_date: '2026-02-30' }] },
      'a date is missing or wrong',
    ],
    [
      'a stranger',
      { ...CHAT, routes: [{ ...CHAT.routes[0], provider: 'nobody' }] },
      'unknown provider nobody',
    ],
    ['a day before its price', withRetirement({ retires_at: '2026-11-20' }), 'retired when its source'],
    [
      'a day before its source',
      withRetirement({ retires_source_date: '2027-01-14' }),
      'retired when its source',
    ],
    ['a day nobody names', withRetirement({ retires_source: undefined }), 'a retirement is not whole'],
    ['a source of no day', withRetirement({ retires_at: undefined }), 'a retirement is not whole'],
    ['no retirement', { ...CHAT, successor: 'openai/gpt-6-luna' }, 'successor without a retirement'],
    ['a stranger in its place', { ...withRetirement({}), successor: 'a/b' }, 'unknown successor a/b'],
    ['a wrong day', withRetirement({ retires_at: '2027-02-29' }), 'a date of its retirement is wrong'],
  ])('the check refuses %s', (_fault, model, expected) => {
    expect(modelFaults(model).join('\n')).toContain(expected);
  });

  it('has no two routes of a model to the same provider and upstream model', () => {
    for (const model of models) {
      const targets = model.routes.map((route) => `${route.provider} ${route.upstream_model}`);
      expect([model.id, new Set(targets).size]).toEqual([model.id, targets.length]);
    }
  });

  it('prices cache writes of Claude at 1.25 and 2 times its input', () => {
    const routes = real.flatMap((model) => model.routes).filter((route) => route.provider === 'anthropic');
    expect(routes.length).toBeGreaterThan(10);
    for (const { price } of routes) {
      const input = pico(price.prompt_usd_per_1m);
      expect(pico(price.cache_write_input_usd_per_1m) * 4n).toBe(input * 5n);
      expect(pico(price.cache_write_1h_input_usd_per_1m)).toBe(input * 2n);
    }
  });

  it.each([
    ['anthropic', /claude/, { web_search: 2 }, '0.02'],
    ['google-vertex', /claude/, { web_search: 2 }, '0.02'],
    ['openai', /gpt-(6|5\.6|5\.5-pro)/, { web_search: 3 }, '0.03'],
    ['google', /gemini-[34]/, { web_search: 3, grounded_prompt: 1 }, '0.042'],
    ['google', /gemini-2\.5/, { web_search: 3, grounded_prompt: 1 }, '0.035'],
    ['xai', /grok-4/, { web_search: 2, x_search: 4 }, '0.03'],
  ])('issue 14 prices the searches that %s runs for %s', (provider, name, tool_calls, cost) => {
    const routes = real
      .filter((model) => name.test(model.id) && !/image|live|tts|embed|transcribe/.test(model.id))
      .flatMap((model) => model.routes.filter((route) => route.provider === provider));
    expect(routes.length).toBeGreaterThan(0);
    for (const { price: record } of routes) {
      const usage = { prompt_tokens: 0, completion_tokens: 0, tool_calls };
      const terms = {
        tier: 'default',
        discountPct: '0',
        byok: { served: false, feePct: '0' },
        context: {},
      } as const;
      expect(price({ ...terms, record, usage }).cost_usd).toBe(cost);
    }
  });

  it('issue 14 promises a batch rate only at a provider that runs batches itself, and there half the rate', () => {
    const promised = real
      .flatMap((model) => model.routes)
      .filter(
        ({ price }) =>
          present(price, 'batch_prompt_usd_per_1m') || present(price, 'batch_completion_usd_per_1m'),
      );
    expect(new Set(promised.map(({ provider }) => provider))).toEqual(
      new Set(['openai', 'anthropic', 'google']),
    );
    for (const { price } of promised) {
      expect(pico(price.batch_prompt_usd_per_1m) * 2n).toBe(pico(price.prompt_usd_per_1m));
      expect(pico(price.batch_completion_usd_per_1m) * 2n).toBe(pico(price.completion_usd_per_1m));
    }
  });

  it('never makes a discounted class dearer than the class it is cut from', () => {
    for (const { price } of real.flatMap((model) => model.routes)) {
      const input = pico(price.prompt_usd_per_1m);
      expect(pico(price.cache_read_input_usd_per_1m)).toBeLessThanOrEqual(input);
      expect(pico(price.batch_prompt_usd_per_1m)).toBeLessThanOrEqual(input);
      expect(pico(price.flex_prompt_usd_per_1m)).toBeLessThanOrEqual(input);
      if (present(price, 'long_context_prompt_usd_per_1m')) {
        expect(pico(price.long_context_prompt_usd_per_1m)).toBeGreaterThan(input);
      }
    }
  });

  it('names every provider once, by an https address or none, and uses every brand', () => {
    expect(new Set(providers.map((provider) => provider.slug)).size).toBe(providers.length);
    for (const provider of providers) {
      expect(provider.base_url ?? 'https://').toMatch(/^https:\/\//);
      expect(provider.env.base_url).toMatch(/^[A-Z_]+_BASE_URL$/);
    }
    expect(new Set(brands.map((brand) => brand.slug))).toEqual(new Set(models.map((model) => model.brand)));
  });

  it('offers simulated models that cost, some that are free, and one that two providers serve in two dialects', () => {
    const free = simulated.filter((model) => model.is_free === true);
    expect(free.map((model) => model.id)).toEqual(['simulator/free', 'simulator/moderation']);
    expect(CHAT.routes.map((route) => [route.provider, route.dialect, route.upstream_model])).toEqual([
      ['simulated', 'chat', 'sim-chat'],
    ]);
    const dual = simulated.filter((model) => model.id === 'simulator/dual').flatMap((model) => model.routes);
    expect(dual.map((route) => [route.provider, route.dialect])).toEqual([
      ['simulated', 'chat'],
      ['simulated-messages', 'messages'],
    ]);
  });
});
