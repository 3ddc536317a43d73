import type { ApiError, KeyPrincipal, ProviderKeyGrant } from '@gateway/contracts';
import { wholeBody } from '@gateway/endpoints';
import { accessOf, requireAccess } from './model-access.js';
import { planRoutes } from './plan.js';
import {
  chat,
  closed,
  enabled,
  index,
  messages,
  model,
  NOW,
  plan,
  plannedRoutes,
  principal,
  route,
} from './plan.fixture.js';
import { RouteStats } from './route-stats.js';
import type { PlanOptions } from './survey.js';

function rejectionOr(make: () => string): string {
  try {
    return make();
  } catch (error) {
    const { code, status } = error as ApiError;
    return `${status} ${code}`;
  }
}

function rejection(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    const { code, status } = error as ApiError;
    return `${status} ${code}`;
  }
  return 'no rejection';
}

const JSON_ANSWER = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } };

describe('a plan', () => {
  const two = model('acme/one', [route('openai', '2'), route('groq', '1')]);

  it('ROUTE-02 lists every enabled provider of the model, the cheapest first', () => {
    expect(plan(two)).toEqual(['groq:acme/one', 'openai:acme/one']);
  });

  it('prefers the caller’s own dialect at one price', () => {
    const both = model('acme/one', [route('openai', '1'), route('anthropic', '1')]);
    expect(plan(both, { endpoint: messages })[0]).toBe('anthropic:acme/one');
    expect(plan(both)[0]).toBe('openai:acme/one');
  });

  it('ROUTE-08 KEY-17 follows provider_order, only_providers, ignore_providers, max_price and allow_fallbacks of the policy', () => {
    const under = (routingPolicy: KeyPrincipal['routingPolicy']): string[] =>
      plan(two, { principal: { ...principal, routingPolicy } });
    expect(under({ provider_order: ['openai'] })).toEqual(['openai:acme/one', 'groq:acme/one']);
    expect(under({ only_providers: ['openai'] })).toEqual(['openai:acme/one']);
    expect(under({ ignore_providers: ['groq'] })).toEqual(['openai:acme/one']);
    expect(under({ max_price: { prompt_usd_per_1m: '1.5' } })).toEqual(['groq:acme/one']);
    expect(under({ allow_fallbacks: false })).toEqual(['groq:acme/one']);
  });

  it('ROUTE-03 ROUTE-05 ERR-20 begins with the account’s own keys, and leaves the platform’s out where one forbids it', () => {
    const own = (...keys: Partial<ProviderKeyGrant>[]): string =>
      rejectionOr(() => {
        const providerKeys = keys.map((key, n) => ({
          id: `pk_${n}`,
          provider: 'openai',
          version: 1,
          allowedModels: null,
          allowPlatformFallback: true,
          ...key,
        }));
        return plannedRoutes(two, { principal: { ...principal, providerKeys } })
          .map(({ route, providerKey }) => providerKey?.id ?? route.provider)
          .join(' ');
      });
    expect(own()).toBe('groq openai');
    expect(own({})).toBe('pk_0 groq openai');
    expect(own({}, {})).toBe('pk_0 pk_1 groq openai');
    expect(own({}, { provider: 'groq' })).toBe('pk_1 pk_0 groq openai');
    expect(own({ allowPlatformFallback: false })).toBe('pk_0');
    expect(own({ allowPlatformFallback: false }, { provider: 'groq' })).toBe('pk_1 pk_0');
    expect(own({ allowedModels: ['acme/*'] })).toBe('pk_0 groq openai');
    expect(own({ allowedModels: ['other/*'] })).toBe('groq openai');
    expect(own({ allowedModels: [], allowPlatformFallback: false })).toBe('403 byok_model_not_allowed');
    // A key at a provider that does not serve the model says nothing of it.
    expect(own({ provider: 'anthropic', allowPlatformFallback: false })).toBe('groq openai');
  });

  it('ROUTE-08 appends fallback models that the key may call', () => {
    const other = model('acme/two', [route('openai', '5', { model: 'acme/two' })]);
    const more = (access: KeyPrincipal['access']): string[] =>
      plan(two, {
        index: index(two, other),
        principal: { ...principal, access, routingPolicy: { fallback_models: ['acme/two', 'acme/none'] } },
      });
    expect(more([])).toEqual(['groq:acme/one', 'openai:acme/one', 'openai:acme/two']);
    expect(more([{ kind: 'key', allowed: null, blocked: ['acme/two'] }])).toEqual([
      'groq:acme/one',
      'openai:acme/one',
    ]);
  });

  it('ROUTE-08 KEY-14 falls back to no model that another model limit of the key counts', () => {
    const other = model('acme/two', [route('openai', '5', { model: 'acme/two' })]);
    const under = (
      modelLimits: KeyPrincipal['modelLimits'],
      more: Parameters<typeof plan>[1] = {},
    ): string[] =>
      plan(two, {
        index: index(two, other),
        principal: { ...principal, modelLimits, routingPolicy: { fallback_models: ['acme/two'] } },
        ...more,
      });
    const all = ['groq:acme/one', 'openai:acme/one', 'openai:acme/two'];
    expect(under({ 'acme/two': { rpm: 1 } })).toEqual(all.slice(0, 2));
    expect(under({ 'acme/one': { rpm: 1 }, 'acme/*': { rpm: 9 } })).toEqual(all.slice(0, 2));
    expect(under({ 'acme/one': { rpm: 1 } })).toEqual(all);
    expect(under({ 'acme/*': { rpm: 1 } })).toEqual(all);
    // What is tried first is what is counted.
    const isOpen = ({ model: id }: { model: string }): boolean => id === 'acme/one';
    expect(under({ 'acme/two': { rpm: 1 } }, { breakers: { isOpen } })).toEqual(all.slice(2));
  });

  it('leaves out routes whose breaker is open, but never the last one', () => {
    expect(plan(two, { breakers: { isOpen: ({ provider }) => provider === 'groq' } })).toEqual([
      'openai:acme/one',
    ]);
    expect(plan(two, { breakers: { isOpen: () => true } })).toEqual(['groq:acme/one']);
  });

  it('KEY-22 ERR-21 keeps a pinned key on its provider', () => {
    expect(plan(two, { principal: { ...principal, fixedProvider: 'openai' } })).toEqual(['openai:acme/one']);
    expect(rejection(() => plan(two, { principal: { ...principal, fixedProvider: 'anthropic' } }))).toBe(
      '400 model_not_available_on_pinned_provider',
    );
  });

  it.each<[string, object, string]>([
    ['a feature', { tools: [{ type: 'function', function: { name: 'a' } }] }, '400 unsupported_operation'],
    ['a kind of answer', { response_format: JSON_ANSWER }, '400 unsupported_operation'],
  ])(
    'ERR-57 400 for %s that the model lacks, though no provider of it has a credential',
    (_what, body, code) => {
      const bare = { supports_tools: false, supports_structured_output: false };
      expect(rejection(() => plan(model('acme/one', [route('mistral', '1')], bare), { body }))).toBe(code);
    },
  );

  it('ERR-57 503 provider_not_available where no provider of the model has a credential', () => {
    expect(rejection(() => plan(model('acme/one', [route('mistral', '1')])))).toBe(
      '503 provider_not_available',
    );
  });

  it('MOD-12 ERR-15 MSG-04 refuses a model that cannot serve the endpoint: 400 on chat, 501 on messages', () => {
    const embedding = model('acme/one', [route('openai', '1')], { supports_completions_api: false });
    expect(rejection(() => plan(embedding))).toBe('400 model_capability_not_supported');
    expect(rejection(() => plan(embedding, { endpoint: messages }))).toBe(
      '501 model_capability_not_supported',
    );
  });

  it('ERR-34 refuses a hard parameter that no route can serve, naming it', () => {
    const needsLogprobs = { logprobs: true };
    expect(plan(two, { body: needsLogprobs })).toEqual(['openai:acme/one']);
    const translated = model('acme/one', [route('anthropic', '1')]);
    expect(rejection(() => plan(translated, { body: needsLogprobs }))).toBe('400 unsupported_operation');
  });

  it('refuses what the model lacks, naming the caller’s parameter', () => {
    const content = [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }];
    const body = { messages: [{ role: 'user', content }] };
    expect(() => plan(two, { body })).toThrow('acme/one takes no images (messages[0].content[0]).');
    expect(
      plan(model('acme/one', [route('openai', '1')], { input_modalities: ['image'] }), { body }),
    ).toEqual(['openai:acme/one']);
    const file = {
      type: 'file',
      file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
    };
    expect(() => plan(two, { body: { messages: [{ role: 'user', content: [file] }] } })).toThrow(
      'acme/one takes no documents (messages[0].content[0]).',
    );
  });

  it('puts terms and a translation on each route', () => {
    const bytes = Buffer.from('{"model":"acme/one","messages":[{"role":"user","content":"hi"}]}');
    const [first] = planRoutes({
      asked: wholeBody(chat.read({ bytes, headers: {} })),
      endpoint: chat,
      principal,
      index: index(two),
      providers: enabled,
      byok: { providers: enabled, feePct: '0' },
      breakers: closed,
      stats: new RouteStats(),
      nowMs: NOW,
    }).routes;
    expect(first.terms).toEqual({
      record: first.route.price,
      tier: 'default',
      discountPct: null,
      byok: { served: false, feePct: '0' },
    });
    expect(first.translation.request.path).toBe('/chat/completions');
  });

  it('CHAT-28 refuses service_tier flex where no route has a flex price', () => {
    const flex = { service_tier: 'flex' };
    expect(rejection(() => plan(two, { body: flex }))).toBe('400 unsupported_operation');
    const priced = model('acme/one', [
      route('openai', '2', {
        price: { prompt_usd_per_1m: '2', completion_usd_per_1m: '2', flex_prompt_usd_per_1m: '1' },
      }),
      route('groq', '1'),
    ]);
    expect(plan(priced, { body: flex })).toEqual(['openai:acme/one']);
  });
});

describe('a plan of the model `auto`', () => {
  const other = model('acme/two', [route('openai', '5', { model: 'acme/two' })]);
  const mute = model('acme/mute', [route('openai', '0.1', { model: 'acme/mute' })], {
    supports_completions_api: false,
  });
  const one = model('acme/one', [route('openai', '2')]);
  for (const { record } of [one, other, mute]) Object.assign(record, { context_length: 9_000 });
  it('issue 37 chooses no model whose provider is called by name alone, which a call by name still reaches', () => {
    const openai = enabled.get('openai');
    const simulated = { ...enabled.get('simulated'), isByNameAlone: true } as NonNullable<typeof openai>;
    const two = model('simulator/two', [route('simulated', '0.1')]);
    const only = index(one, two);
    const providers = new Map([
      ['openai', openai as NonNullable<typeof openai>],
      ['simulated', simulated],
    ]);
    expect(auto({ index: only, providers })).toEqual(['openai:acme/one']);
    const none = { index: index(two), providers: new Map([['simulated', simulated]]) };
    expect(rejection(() => auto(none))).toBe('404 model_not_found');
    expect(auto({ ...none, body: { model: 'simulator/two' } })).toEqual(['simulated:simulator/two']);
  });

  const auto = (more: Partial<Omit<PlanOptions, 'endpoint'>> & { body?: object } = {}): string[] =>
    plan(one, { index: index(one, other, mute), body: { model: 'auto' }, ...more });

  it('EVAL-01 EVAL-02 chooses a model that serves, with the next ones behind it', () => {
    expect(auto()).toEqual(['openai:acme/one', 'openai:acme/two']);
    const routingPolicy = { allow_fallbacks: false };
    expect(auto({ principal: { ...principal, routingPolicy } })).toEqual(['openai:acme/one']);
    expect(
      auto({ principal: { ...principal, defaultModel: 'auto' }, body: { model: undefined } }),
    ).toHaveLength(2);
  });

  it('EVAL-02 chooses only what the key may call', () => {
    const access = [{ kind: 'key' as const, allowed: ['acme/two'], blocked: null }];
    expect(auto({ principal: { ...principal, access } })).toEqual(['openai:acme/two']);
  });

  it('KEY-31 404 model_not_found where the key may call none of the candidates', () => {
    const access = [{ kind: 'key' as const, allowed: ['acme/mute', 'else/*'], blocked: null }];
    expect(rejection(() => auto({ principal: { ...principal, access } }))).toBe('404 model_not_found');
  });

  it('passes over a model whose routes cannot carry a parameter', () => {
    const foreign = model('acme/foreign', [route('anthropic', '0.1', { model: 'acme/foreign' })]);
    Object.assign(foreign.record, { context_length: 9_000 });
    const body = { model: 'auto', logprobs: true };
    expect(auto({ index: index(foreign, one), body })[0]).toBe('openai:acme/one');
  });
});

describe('a route that retires', () => {
  it('leaves every plan on its day', () => {
    const target = model('acme/one', [
      route('openai', '1', { retiresAtMs: NOW }),
      route('groq', '2', { retiresAtMs: NOW + 1 }),
    ]);
    expect(plan(target)).toEqual(['groq:acme/one']);
    expect(plan(target, { nowMs: NOW - 1 })).toEqual(['openai:acme/one', 'groq:acme/one']);
  });
});

describe('an account with a discount', () => {
  it('pays less on the routes that the discount covers', () => {
    const bytes = Buffer.from('{"model":"acme/one","messages":[{"role":"user","content":"hi"}]}');
    const discount = { pct: '25', models: null, providers: ['groq'] };
    const { routes } = planRoutes({
      asked: wholeBody(chat.read({ bytes, headers: {} })),
      endpoint: chat,
      principal: { ...principal, discount },
      index: index(model('acme/one', [route('openai', '2'), route('groq', '1')])),
      providers: enabled,
      byok: { providers: enabled, feePct: '0' },
      breakers: closed,
      stats: new RouteStats(),
      nowMs: NOW,
    });
    expect(routes.map(({ terms }) => terms.discountPct)).toEqual(['25', null]);
  });
});

describe('which models a caller may use', () => {
  it('KEY-10 KEY-11 exact ids and brand wildcards of an allow-list', () => {
    const lists = [{ kind: 'key' as const, allowed: ['acme/one', 'other/*'], blocked: null }];
    expect(accessOf(lists, 'acme/one')).toBe('allowed');
    expect(accessOf(lists, 'other/any')).toBe('allowed');
    expect(rejection(() => requireAccess(lists, 'acme/two'))).toBe('404 model_not_found');
  });

  it('KEY-12 KEY-13 ERR-19 403 model_excluded: a block-list hit, also of a model that is allowed', () => {
    const lists = [{ kind: 'key' as const, allowed: ['acme/*'], blocked: ['acme/two'] }];
    expect(accessOf(lists, 'acme/one')).toBe('allowed');
    expect(rejection(() => requireAccess(lists, 'acme/two'))).toBe('403 model_excluded');
  });

  it('every present allow-list must match', () => {
    const lists = [
      { kind: 'key' as const, allowed: ['acme/one'], blocked: null },
      { kind: 'org' as const, allowed: ['acme/two'], blocked: null },
    ];
    expect(accessOf(lists, 'acme/one')).toBe('not_allowed');
  });

  it('ERR-30 MOD-01 404 model_not_found: unknown, provider-prefixed and ambiguous names; a unique name without brand resolves', () => {
    const book = index(model('acme/one', []), model('acme/both', []), model('other/both', []));
    expect(book.model('one', () => true).record.id).toBe('acme/one');
    expect(rejection(() => book.model('nothing', () => true))).toBe('404 model_not_found');
    expect(rejection(() => book.model('openai/acme/one', () => true))).toBe('404 model_not_found');
    expect(() => book.model('both', () => true)).toThrow('acme/both, other/both');
  });

  it('ERR-30 S01 the 404 names the model, alike for one that is not there and one that is not permitted, and no other text', () => {
    const said = (make: () => unknown): string => {
      try {
        make();
      } catch (error) {
        return (error as ApiError).message;
      }
      return 'no rejection';
    };
    const book = index(model('acme/one', []));
    const named = (name: string): string =>
      `The model ${name} is unknown, disabled or not permitted for the key.`;
    const only = [{ kind: 'key' as const, allowed: ['acme/two'], blocked: null }];
    expect(said(() => book.model('acme/tow:v1.5', () => false))).toBe(named('acme/tow:v1.5'));
    expect(said(() => requireAccess(only, 'acme/one'))).toBe(named('acme/one'));
    const unnamed = 'The model is unknown, disabled or not permitted for the key.';
    for (const text of [`rsk_${'aB3'.repeat(16)}x`, 'two words', '<b>', 'x'.repeat(101), ''])
      expect([text, said(() => book.model(text, () => true))]).toEqual([text, unnamed]);
  });
});
