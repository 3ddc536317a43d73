import { ApiError, type KeyPrincipal, type RoutingPolicy } from '@gateway/contracts';
import { index, model, optionsFor, plan, plannedRoutes, NOW, principal, route } from './plan.fixture.js';
import { planRoutes, wantedBy } from './plan.js';

const having = (more: Partial<KeyPrincipal>): KeyPrincipal => ({ ...principal, ...more });
const policy = (routingPolicy: RoutingPolicy): KeyPrincipal => having({ routingPolicy });

function rejection(make: () => unknown): ApiError {
  try {
    make();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('the bounds of a plan', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, n) => route('groq', String(n + 1), { upstreamModel: `m${n}` }));
  const others = Array.from({ length: 7 }, (_, n) => model(`acme/other-${n}`, [route('groq', '1')]));
  const one = model('acme/one', [route('openai', '1')]);

  it('16 routes, of however many', () => {
    expect(plannedRoutes(model('acme/one', many(16)))).toHaveLength(16);
    expect(plannedRoutes(model('acme/one', many(17)))).toHaveLength(16);
  });

  it('no look at another model: 250 models of 500 routes cost a request no more than ten', () => {
    const looks = (count: number): number => {
      let seen = 0;
      const watched = Array.from({ length: count }, (_, n) => {
        const made = model(`acme/m${n}`, [route('openai', '1'), route('groq', '2')]);
        return new Proxy(made, { get: (target, name) => (seen++, Reflect.get(target, name)) });
      });
      const all = index(...watched);
      seen = 0;
      plan(watched[3], { index: all });
      return seen;
    };
    expect(looks(250)).toBe(looks(10));
  });

  it('ROUTE-08 five fallback models', () => {
    const fallback_models = others.map(({ record }) => record.id);
    const all = index(one, ...others);
    expect(plan(one, { index: all, principal: policy({ fallback_models }) })).toEqual([
      'openai:acme/one',
      ...[0, 1, 2, 3, 4].map((n) => `groq:acme/other-${n}`),
    ]);
  });

  it('EVAL-01 two models behind the one that auto has chosen', () => {
    const able = { context_length: 8_000 };
    const four = [1, 2, 3, 4].map((n) => model(`acme/m${n}`, [route('groq', String(n))], able));
    expect(plan(four[0], { index: index(...four), body: { model: 'auto' } })).toEqual([
      'groq:acme/m1',
      'groq:acme/m2',
      'groq:acme/m3',
    ]);
  });
});

describe('a plan', () => {
  const two = model('acme/one', [route('openai', '2'), route('groq', '1')]);

  it('stays with the credential that holds what the request names, where it still serves', () => {
    const options = optionsFor(two);
    const staying = (credential: string): string[] =>
      planRoutes({ ...options, asked: { ...options.asked, credential } }).routes.map(
        (plannedRoute) => plannedRoute.route.provider,
      );
    expect(staying('openai')).toEqual(['openai']);
    expect(staying('groq')).toEqual(['groq']);
    expect(staying('anthropic')).toEqual(['groq', 'openai']);
  });

  it('KEY-22 says that a pinned provider does not have the model only where none of its routes is there', () => {
    const flex = { service_tier: 'flex' };
    const pinned = (fixedProvider: string): string =>
      rejection(() => plan(two, { principal: having({ fixedProvider }), body: flex })).code;
    expect(pinned('groq')).toBe('unsupported_operation');
    expect(pinned('anthropic')).toBe('model_not_available_on_pinned_provider');
  });

  it('ERR-15 refuses for good where every route is for another endpoint, and for now where one is away', () => {
    const foreign = route('groq', '1', { dialect: 'embeddings' });
    const { code, message } = rejection(() => plan(model('acme/one', [foreign])));
    expect([code, message]).toEqual([
      'model_capability_not_supported',
      'acme/one cannot serve this endpoint.',
    ]);
    const away = route('cohere', '1');
    expect(rejection(() => plan(model('acme/one', [foreign, away]))).code).toBe('provider_not_available');
    expect(rejection(() => plan(model('acme/one', []))).code).toBe('provider_not_available');
    // What a route lacks matters to who could use it: here neither the platform nor the caller has a key.
    const keyless = { providers: new Map(), body: { service_tier: 'flex' } };
    expect(rejection(() => plan(two, keyless)).code).toBe('provider_not_available');
  });

  it('ROUTE-08 ERR-22 400 bad_request that names the policy’s fields where they leave no provider: waiting does not help', () => {
    const under = (rules: RoutingPolicy, from = two): (string | undefined)[] => {
      const { code, options, message } = rejection(() => plan(from, { principal: policy(rules) }));
      return [code, options.param ?? undefined, message];
    };
    expect(
      under({ only_providers: ['mistral'], max_price: { prompt_usd_per_1m: '9' }, sort: 'price' }),
    ).toEqual([
      'bad_request',
      'model',
      'The routing policy of the key leaves no provider of acme/one: only_providers, max_price.',
    ]);
    const foreign = route('groq', '1', { dialect: 'embeddings' });
    expect(
      under({ ignore_providers: ['openai'] }, model('acme/one', [foreign, route('openai', '1')]))[0],
    ).toBe('bad_request');
    // One that the policy allows and that has no credential today may have one tomorrow.
    expect(
      under(
        { ignore_providers: ['openai'] },
        model('acme/one', [route('openai', '1'), route('cohere', '1')]),
      ),
    ).toEqual([
      'provider_not_available',
      'model',
      'acme/one has no credential here: it needs one of cohere.',
    ]);
  });

  it('a model without a credential says whose it needs, and that sending it again does not help', () => {
    const lapsed = route('mistral', '1', { retiresAtMs: NOW });
    const routes = [route('azure', '1'), route('cohere', '1'), route('azure', '2'), lapsed];
    const { message, options, code, status } = rejection(() => plan(model('acme/one', routes)));
    expect([status, code, options.param, message]).toEqual([
      503,
      'provider_not_available',
      'model',
      'acme/one has no credential here: it needs one of azure or cohere.',
    ]);
    expect([options.shouldRetry, options.retryAfterSeconds]).toEqual([false, 300]);
    const pinned = { ...principal, fixedProvider: 'cohere' };
    expect(rejection(() => plan(model('acme/one', routes), { principal: pinned })).message).toBe(
      'acme/one has no credential here: it needs one of cohere.',
    );
  });

  it('names every ability that a model lacks', () => {
    const { asked } = optionsFor(two);
    const serves = {
      flags: ['supports_tools', 'supports_thinking', 'supports_web_search'] as const,
      status: 422 as const,
    };
    const { message, options } = rejection(() =>
      planRoutes({ ...optionsFor(two), asked: { ...asked, serves } }),
    );
    expect(message).toBe('acme/one does not have supports_thinking, supports_web_search.');
    expect(options.details).toMatchObject([{ type: 'value_error', loc: ['model'] }]);
    const one = { ...serves, flags: ['supports_thinking'] as const };
    const lacking = rejection(() => planRoutes({ ...optionsFor(two), asked: { ...asked, serves: one } }));
    expect(lacking.message).toBe('acme/one does not have supports_thinking.');
  });

  it('ERR-31 asks for a model where neither the request nor the key names one', () => {
    const body = { model: undefined };
    const { code, options } = rejection(() => plan(two, { body, principal: having({ defaultModel: null }) }));
    expect([code, options.details?.[0].loc]).toEqual(['validation_error', ['model']]);
    expect(plan(two, { body, principal: having({ defaultModel: 'acme/one' }) })).toHaveLength(2);
  });

  it('is not of a model that has no routes left behind auto', () => {
    const gone = model('acme/a-gone', [route('groq', '1', { dialect: 'embeddings' })], {
      context_length: 8_000,
    });
    const left = model('acme/left', [route('groq', '2')], { context_length: 8_000 });
    const of = planRoutes({ ...optionsFor(left, { index: index(gone, left), body: { model: 'auto' } }) });
    expect(of.model.record.id).toBe('acme/left');
  });
});

describe('what a request wants of a model that is chosen for it', () => {
  const wanted = (bytes: number, flags: string[] = []): ReturnType<typeof wantedBy> => {
    const { asked } = optionsFor(model('acme/one', []));
    const requires = flags.map((flag) => ({ flag, param: 'x' })) as unknown as typeof asked.requires;
    return wantedBy({ ...asked, input: { inputBytes: bytes }, requires });
  };

  it('is harder the longer its input is, up to 8,000 tokens, with tools and with reasoning', () => {
    expect(wanted(0)).toMatchObject({ difficulty: 0, inputTokens: 0, outputTokens: 9, optimize: 'balanced' });
    expect(wanted(16_000).difficulty).toBeCloseTo(0.2, 9);
    expect(wanted(32_000).difficulty).toBeCloseTo(0.4, 9);
    expect(wanted(320_000).difficulty).toBeCloseTo(0.4, 9);
    expect(wanted(0, ['supports_tools']).difficulty).toBeCloseTo(0.3, 9);
    expect(wanted(0, ['supports_thinking']).difficulty).toBeCloseTo(0.3, 9);
    expect(wanted(32_000, ['supports_tools', 'supports_thinking']).difficulty).toBeCloseTo(1, 9);
  });

  it('counts all that is sent, and 1,024 tokens of answer where nobody bounds it', () => {
    const { asked } = optionsFor(model('acme/one', []));
    const input = { inputBytes: 8, inputAudioSeconds: 1, inputImages: 1 };
    expect(wantedBy({ ...asked, input, maxOutputTokens: null })).toMatchObject({
      inputTokens: 2 + 32 + 1_000,
      outputTokens: 1_024,
    });
  });
});
