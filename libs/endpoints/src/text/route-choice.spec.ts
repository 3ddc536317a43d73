import { ApiError } from '@gateway/contracts';
import type { Asked, RouteChoice } from '../endpoint.js';
import { ENDPOINTS } from '../registry.generated.js';
import { wholeBody } from '../stored/stored-content-needed.js';

type Json = Record<string, unknown>;

const USER = { role: 'user', content: 'x' };
const BODIES: Readonly<Record<string, Json>> = {
  '/chat/completions': { messages: [USER] },
  '/messages': { messages: [USER], max_tokens: 9 },
  '/responses': { input: 'x' },
};

function readAs(path: string, text: string): Asked {
  const endpoint = ENDPOINTS.find(({ paths }) => paths.includes(path));
  if (endpoint === undefined) throw new TypeError(`no endpoint at ${path}`);
  return wholeBody(endpoint.read({ bytes: Buffer.from(text), headers: {} }));
}

const read = (path: string, more: Json): Asked => readAs(path, JSON.stringify({ ...BODIES[path], ...more }));

function rejection(make: () => unknown): unknown[] {
  try {
    make();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { options, code, status } = error;
    return [status, code, options.param ?? options.details?.[0].loc.join('.')];
  }
  return [];
}

const choiceOf = (provider: Json): RouteChoice | undefined => read('/chat/completions', { provider }).choice;

describe.each(Object.keys(BODIES))('ROUTE-08 models and provider of %s', (path) => {
  it('are read, and none of their names counts as unknown', () => {
    const others = { template: null, variables: null, template_version: null, memory: null };
    const provider = { order: ['openai'], zdr: true };
    const asked = read(path, { models: ['a/one', 'a/two'], provider, ...others });
    expect(asked.model).toBe('a/one');
    expect(asked.choice).toEqual({
      param: 'models.0',
      models: [{ name: 'a/two', param: 'models.1' }],
      allowFallbacks: true,
      order: { provider_order: ['openai'] },
      limits: [{ param: 'provider.zdr', policy: { require_zero_retention: true } }],
      requiresHints: false,
    });
    expect((asked.request as { unknown: Json }).unknown).toEqual({});
    expect(asked.unread).toBeUndefined();
  });

  it('say nothing where they are null or absent', () => {
    expect(read(path, { model: 'a/one', models: null, provider: {} }).choice?.models).toBeNull();
    expect(read(path, { model: 'a/one', models: null, provider: null })).not.toHaveProperty('choice');
    expect(read(path, { model: 'a/one' })).not.toHaveProperty('choice');
  });

  it('put the model first, where it is named too', () => {
    const { model, choice } = read(path, { model: 'a/zero', models: ['a/one'] });
    expect([model, choice?.param, choice?.models]).toEqual([
      'a/zero',
      'model',
      [{ name: 'a/one', param: 'models.0' }],
    ]);
  });

  it.each([
    [{ models: [] }, 'models'],
    [{ models: ['1', '2', '3', '4', '5', '6'] }, 'models'],
    [{ models: 'a/one' }, 'models'],
    [{ models: ['a/one', 3] }, 'models.1'],
    [{ provider: 'openai' }, 'provider'],
    [{ provider: { order: 'openai' } }, 'provider.order'],
    [{ provider: { only: [1] } }, 'provider.only.0'],
    [{ provider: { sort: 'cheapest' } }, 'provider.sort'],
    [{ provider: { allow_fallbacks: 'no' } }, 'provider.allow_fallbacks'],
    [{ provider: { data_collection: 'never' } }, 'provider.data_collection'],
    [{ provider: { max_price: { prompt: '-1' } } }, 'provider.max_price.prompt'],
    [{ provider: { max_price: { prompt: 'free' } } }, 'provider.max_price.prompt'],
    [{ provider: { max_price: { request: 1e30 } } }, 'provider.max_price.request'],
  ])('are refused with their place: %j', (more, place) => {
    const kind = path === '/messages' ? [400, 'invalid_request_error'] : [422, 'validation_error'];
    expect(rejection(() => read(path, { model: 'a/one', ...more }))).toEqual([...kind, place]);
  });

  it.each([
    [{ quantizations: ['fp8'] }, 'provider.quantizations'],
    [{ enforce_distillable_text: true }, 'provider.enforce_distillable_text'],
  ])('are 400 unsupported_operation for a promise that no route keeps: %j', (provider, param) => {
    expect(rejection(() => read(path, { provider }))).toEqual([400, 'unsupported_operation', param]);
  });

  it('name what they do not read', () => {
    const provider = {
      preferred_min_throughput: 9,
      sort: { by: 'latency', partition: 'none' },
      max_price: { prompt: 1, image: 2 },
      quantizations: null,
      enforce_distillable_text: false,
      nothing: null,
    };
    expect(read(path, { provider }).unread).toEqual([
      'provider.preferred_min_throughput',
      'provider.sort.partition',
      'provider.max_price.image',
    ]);
  });
});

describe('ROUTE-08 the provider member of a request', () => {
  it('takes slugs of OpenRouter, without the variant behind a slash', () => {
    const { order, limits } = choiceOf({
      order: ['Google-AI-Studio', 'x-ai', 'deepinfra/turbo'],
      only: ['z-ai'],
    }) ?? { order: {}, limits: [] };
    expect(order.provider_order).toEqual(['google', 'xai', 'deepinfra']);
    expect(limits).toEqual([{ param: 'provider.only', policy: { only_providers: ['zai'] } }]);
  });

  it('takes a sort as a word and as an object', () => {
    for (const sort of ['price', 'latency', 'throughput', 'balanced'])
      expect([choiceOf({ sort })?.order, choiceOf({ sort: { by: sort } })?.order]).toEqual([
        { sort },
        { sort },
      ]);
    expect(choiceOf({ sort: null })?.order).toEqual({});
  });

  it('reads a price as decimal text, however many digits the number has', () => {
    const text =
      '{"model":"a","messages":[{"role":"user","content":"x"}],"provider":{"max_price":{"prompt":0.10,"completion":1.000000000001,"request":"0.05"}}}';
    expect(readAs('/chat/completions', text).choice?.limits).toEqual([
      {
        param: 'provider.max_price',
        policy: {
          max_price: {
            prompt_usd_per_1m: '0.10',
            completion_usd_per_1m: '1.000000000001',
            request_usd: '0.05',
          },
        },
      },
    ]);
  });

  it('lists its limits in the order in which a rejection names them', () => {
    const provider = {
      data_collection: 'deny',
      zdr: true,
      max_price: { prompt: 1 },
      ignore: ['groq'],
      only: ['openai'],
    };
    expect(choiceOf(provider)?.limits.map(({ param }) => param)).toEqual([
      'provider.only',
      'provider.ignore',
      'provider.max_price',
      'provider.zdr',
      'provider.data_collection',
    ]);
  });
});
