import fc from 'fast-check';
import { ApiError, type KeyPrincipal, type ProviderKeyGrant, type RoutingPolicy } from '@gateway/contracts';
import { index, messages, model, optionsFor, plan, plannedRoutes, principal, route } from './plan.fixture.js';
import { planRoutes } from './plan.js';
import { naming } from './route-choice.js';

const under = (routingPolicy: RoutingPolicy, more: Partial<KeyPrincipal> = {}): KeyPrincipal => ({
  ...principal,
  routingPolicy,
  ...more,
});

function rejection(make: () => unknown): unknown[] {
  try {
    make();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [error.status, error.code, error.options.param, error.message];
  }
  return [];
}

const three = model('acme/one', [
  route('openai', '3', { zeroRetention: true }),
  route('groq', '1'),
  route('anthropic', '2'),
]);
const other = model('acme/two', [route('groq', '9', { model: 'acme/two' })]);
const both = index(three, other);

const asking = (provider: object, key: KeyPrincipal = principal): string[] =>
  plannedRoutes(three, { body: { provider }, principal: key }).map((one) => one.route.provider);

describe('ROUTE-08 provider of a request', () => {
  it('orders: first those that it names, then those of the policy, then the rest', () => {
    expect(asking({ order: ['anthropic'] })).toEqual(['anthropic', 'groq', 'openai']);
    expect(asking({ order: ['anthropic'] }, under({ provider_order: ['openai'] }))).toEqual([
      'anthropic',
      'openai',
      'groq',
    ]);
    expect(asking({ sort: 'price' }, under({ sort: 'latency' }))).toEqual(['groq', 'anthropic', 'openai']);
  });

  it('narrows by only, ignore, max_price, zdr and data_collection', () => {
    expect(asking({ only: ['openai', 'groq'] })).toEqual(['groq', 'openai']);
    expect(asking({ ignore: ['groq'] })).toEqual(['anthropic', 'openai']);
    expect(asking({ max_price: { prompt: 2 } })).toEqual(['groq', 'anthropic']);
    expect(asking({ max_price: { completion: '1.5' } })).toEqual(['groq']);
    expect(asking({ zdr: true })).toEqual(['openai']);
    expect(asking({ data_collection: 'deny' })).toEqual(['openai']);
    expect(asking({ zdr: false, data_collection: 'allow', allow_fallbacks: true })).toHaveLength(3);
  });

  it('compares a price per request', () => {
    const dear = { prompt_usd_per_1m: '1', completion_usd_per_1m: '1', request_usd: '0.01' };
    const two = model('acme/one', [route('openai', '1', { price: dear }), route('groq', '2')]);
    const within = (request: string): string[] =>
      plan(two, { body: { provider: { max_price: { request } } } });
    expect(within('0.01')).toHaveLength(2);
    expect(within('0.009999999999')).toEqual(['groq:acme/one']);
  });

  it('stays with the first provider where allow_fallbacks is false', () => {
    expect(asking({ allow_fallbacks: false })).toEqual(['groq']);
    expect(asking({ allow_fallbacks: false, order: ['openai'] })).toEqual(['openai']);
    expect(asking({ allow_fallbacks: true }, under({ allow_fallbacks: false }))).toEqual(['groq']);
  });

  it('is intersected with the policy of the key, and opens nothing that it forbids', () => {
    expect(asking({ only: ['openai', 'groq'] }, under({ only_providers: ['groq', 'anthropic'] }))).toEqual([
      'groq',
    ]);
    expect(asking({ ignore: ['groq'] }, under({ ignore_providers: ['openai'] }))).toEqual(['anthropic']);
    expect(asking({ max_price: { prompt: 9 } }, under({ max_price: { prompt_usd_per_1m: '1' } }))).toEqual([
      'groq',
    ]);
    expect(asking({ zdr: false }, under({ require_zero_retention: true }))).toEqual(['openai']);
  });

  it.each([
    [{ only: ['nobody'] }, 'provider.only'],
    [{ only: ['groq'], ignore: ['groq'] }, 'provider.ignore'],
    [{ ignore: ['groq'], max_price: { prompt: 1 }, zdr: true }, 'provider.max_price'],
    [{ only: ['groq'], zdr: true }, 'provider.zdr'],
    [{ only: ['groq'], data_collection: 'deny' }, 'provider.data_collection'],
  ])('is 400 bad_request with the first member that leaves no route: %j', (provider, param) => {
    expect(rejection(() => asking(provider))).toEqual([
      400,
      'bad_request',
      param,
      `${param} leaves no provider of acme/one.`,
    ]);
  });

  it('leaves out routes that would ignore a parameter, where require_parameters is true', () => {
    const two = model('acme/one', [route('groq', '1'), route('anthropic', '2')]);
    const body = { top_k: 5, metadata: { a: 'b' }, provider: { require_parameters: true } };
    expect(plan(two, { body })).toEqual(['anthropic:acme/one']);
    expect(plan(two, { body: { ...body, provider: {} } })).toHaveLength(2);
    const only = { ...body, provider: { require_parameters: true, only: ['groq'] } };
    expect(rejection(() => plan(two, { body: only })).slice(0, 3)).toEqual([
      400,
      'bad_request',
      'provider.require_parameters',
    ]);
  });

  it('does not move a request from an own provider key to the credentials of the platform', () => {
    const own: ProviderKeyGrant = {
      id: 'pk_1',
      provider: 'openai',
      version: 1,
      allowedModels: null,
      allowPlatformFallback: false,
    };
    const key = { ...principal, providerKeys: [own] };
    expect(asking({}, key)).toEqual(['openai']);
    expect(rejection(() => asking({ ignore: ['openai'] }, key)).slice(0, 3)).toEqual([
      400,
      'bad_request',
      'provider.ignore',
    ]);
  });
});

describe('ROUTE-08 models of a request', () => {
  const inOrder = (body: object, key: KeyPrincipal = principal): string[] =>
    plan(three, { index: both, principal: key, body });

  it('follow the first one, in the place of fallback_models', () => {
    const key = under({ fallback_models: ['acme/two'] });
    expect(inOrder({}, key).at(-1)).toBe('groq:acme/two');
    expect(inOrder({ provider: { order: ['groq'] } }, key).at(-1)).toBe('groq:acme/two');
    for (const body of [{ models: ['acme/one'] }, { model: undefined, models: ['acme/one'] }])
      expect(inOrder(body, key)).toHaveLength(3);
    expect(inOrder({ models: ['acme/two'] })).toEqual([
      'groq:acme/one',
      'anthropic:acme/one',
      'openai:acme/one',
      'groq:acme/two',
    ]);
    expect(inOrder({ model: undefined, models: ['acme/two', 'acme/one', 'acme/two'] })).toEqual([
      'groq:acme/two',
      'groq:acme/one',
      'anthropic:acme/one',
      'openai:acme/one',
    ]);
  });

  it('are narrowed by provider, each of them', () => {
    const body = { models: ['acme/two'], provider: { only: ['groq'] } };
    expect(inOrder(body)).toEqual(['groq:acme/one', 'groq:acme/two']);
    expect(inOrder({ ...body, provider: { only: ['openai'] } })).toEqual(['openai:acme/one']);
  });

  it('are each checked as model is, and refused by their place', () => {
    const blocked = {
      ...principal,
      access: [{ kind: 'key' as const, allowed: null, blocked: ['acme/two'] }],
    };
    const at = (body: object, key?: KeyPrincipal): unknown[] =>
      rejection(() => inOrder(body, key)).slice(0, 3);
    expect(at({ models: ['acme/one', 'acme/none'] })).toEqual([404, 'model_not_found', 'models.1']);
    expect(at({ models: ['acme/one', 'acme/two'] }, blocked)).toEqual([403, 'model_excluded', 'models.1']);
    expect(at({ model: undefined, models: ['acme/two'] }, blocked)).toEqual([
      403,
      'model_excluded',
      'models.0',
    ]);
    expect(at({ model: 'acme/none', models: ['acme/two'] })).toEqual([404, 'model_not_found', 'model']);
  });

  it('are not used, and named, where the key is pinned or nothing may fall back', () => {
    const of = (key: KeyPrincipal, body: object = {}): unknown[] => {
      const { routes, unread } = planRoutes(
        optionsFor(three, { index: both, principal: key, body: { models: ['acme/two'], ...body } }),
      );
      return [routes.map((one) => one.model.record.id), unread];
    };
    expect(of(under({ allow_fallbacks: false }))).toEqual([['acme/one'], ['models']]);
    expect(of({ ...principal, fixedProvider: 'groq' })).toEqual([['acme/one'], ['models']]);
    expect(of(principal, { provider: { allow_fallbacks: false } })).toEqual([['acme/one'], ['models']]);
    expect(of(principal)[1]).toEqual([]);
  });
});

describe('ROUTE-08 KEY-17 a plan with models and provider', () => {
  const SLUGS = ['openai', 'groq', 'anthropic', 'simulated', 'nobody'];
  const slugs = fc.subarray(SLUGS).chain((some) => fc.shuffledSubarray(some, { minLength: some.length }));
  const price = fc.integer({ min: 0, max: 6 }).map(String);
  const sorts = fc.constantFrom('price', 'latency', 'throughput', 'balanced');
  const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    fc.option(value, { nil: undefined });
  const defined = <T extends object>(value: T): T =>
    Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
  const policies = fc
    .record({
      provider_order: maybe(slugs),
      only_providers: maybe(slugs),
      ignore_providers: maybe(slugs),
      max_price: maybe(fc.record({ prompt_usd_per_1m: price })),
      require_zero_retention: maybe(fc.boolean()),
      sort: maybe(sorts),
    })
    .map((policy) => defined(policy) as RoutingPolicy);
  const providers = fc
    .record({
      order: maybe(slugs),
      only: maybe(slugs),
      ignore: maybe(slugs),
      max_price: maybe(fc.record({ prompt: price, completion: price })),
      zdr: maybe(fc.boolean()),
      sort: maybe(sorts),
      allow_fallbacks: maybe(fc.boolean()),
      require_parameters: maybe(fc.boolean()),
    })
    .map(defined);
  const routes = fc.uniqueArray(
    fc.record({ slug: fc.constantFrom(...SLUGS.slice(0, 4)), price, zeroRetention: fc.boolean() }),
    { selector: ({ slug }) => slug, minLength: 1 },
  );
  const grants = fc.array(
    fc.record({
      provider: fc.constantFrom(...SLUGS.slice(0, 4)),
      allowedModels: fc.constantFrom<string[] | null>(null, ['acme/one'], ['acme/two']),
      allowPlatformFallback: fc.boolean(),
    }),
    { maxLength: 2 },
  );

  /** Routes of a plan, each with the credential that pays; null where it is refused. */
  const named = (make: () => ReturnType<typeof plannedRoutes>): string[] | null => {
    try {
      return make().map(
        (one) => `${one.route.provider} ${one.model.record.id} ${one.providerKey?.id ?? 'platform'}`,
      );
    } catch (error) {
      if (error instanceof ApiError) return null;
      throw error;
    }
  };

  it('has no route, model or credential that the plan without them has not, and keeps the order that was asked', () => {
    fc.assert(
      fc.property(routes, policies, providers, grants, (offered, policy, provider, given) => {
        const one = model(
          'acme/one',
          offered.map(({ slug, price: at, zeroRetention }) => route(slug, at, { zeroRetention })),
        );
        const providerKeys = given.map((grant, n) => ({ id: `pk_${n}`, version: 1, ...grant }));
        const key = under(policy, { providerKeys });
        const of = (body: object): string[] | null =>
          named(() => plannedRoutes(one, { principal: key, endpoint: messages, body }));
        const without = of({}) ?? [];
        const narrowed = of({ provider }) ?? [];
        expect(without).toEqual(expect.arrayContaining(narrowed));
        const order = provider.order ?? [];
        for (const payer of ['own', 'platform']) {
          const ranks = narrowed
            .filter((line) => line.endsWith('platform') === (payer === 'platform'))
            .map((line) => order.indexOf(line.split(' ')[0]))
            .map((at) => (at < 0 ? order.length : at));
          expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
        }
      }),
    );
  });

  it('serves by models that the key may call, under the policy that it has', () => {
    const ids = ['acme/one', 'acme/two', 'acme/three'];
    const all = ids.map((id, n) =>
      model(id, [route('groq', String(n), { model: id }), route('openai', '2', { model: id })]),
    );
    fc.assert(
      fc.property(
        policies,
        providers,
        fc.subarray(ids),
        fc.subarray(ids),
        (policy, provider, allowed, models) => {
          fc.pre(models.length > 0);
          const access = [{ kind: 'key' as const, allowed, blocked: null }];
          const key = under(policy, { access });
          const of = (id: string, body: object): string[] =>
            named(() =>
              plannedRoutes(all[ids.indexOf(id)], { index: index(...all), principal: key, body }),
            ) ?? [];
          const asked = of(models[0], { model: undefined, models, provider });
          const alone = models.flatMap((id) => of(id, {}));
          expect(alone).toEqual(expect.arrayContaining(asked));
          const ranks = asked.map((line) => models.indexOf(line.split(' ')[1]));
          expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
        },
      ),
    );
  });
});

describe('a rejection of a model', () => {
  const unknown = new ApiError('model_not_found', { message: 'no such model', param: 'model' });
  const fail = (error: Error) => (): never => {
    throw error;
  };

  it('names the member that named the model', () => {
    expect(rejection(() => naming('models[1]', fail(unknown)))).toEqual([
      404,
      'model_not_found',
      'models[1]',
      'models[1]: no such model',
    ]);
  });

  it('stays as it is where that member is model, and where it is of another member', () => {
    expect(() => naming('model', fail(unknown))).toThrow(unknown);
    expect(rejection(() => naming('model', fail(unknown)))[3]).toBe('no such model');
    const other = new ApiError('bad_request', { message: 'no', param: 'tools' });
    expect(rejection(() => naming('models[1]', fail(other)))).toEqual([400, 'bad_request', 'tools', 'no']);
  });
});
