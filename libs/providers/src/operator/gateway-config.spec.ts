import { PROVIDERS } from '../registry.generated.js';
import { GatewayConfigError, NO_GATEWAY_CONFIG, type GatewayConfig } from './gateway-config.js';
import { GatewayFile } from './gateway-file.js';
import { ownProviders } from './own-provider.js';

/** Returns the faults of the file; empty where there are none. */
function faults(text: string): readonly string[] {
  return new GatewayFile(text).faults.map((fault) => fault.replace(/^gateway\.yaml, line \d+: /, ''));
}

function readGatewayConfig(text: string): GatewayConfig {
  expect(faults(text)).toEqual([]);
  return new GatewayFile(text).config;
}

const DEEPSEEK = PROVIDERS.find(({ slug }) => slug === 'deepseek');
const LAB = 'providers: [{slug: lab, dialect: chat, base_url: "http://lab.example:9000/v1"}]';
const modelWith = (more: string): string =>
  `${LAB}\nmodels: [{id: lab/m, context_length: 8192, routes: [{provider: lab, upstream_model: m, ${more}}]}]`;
const providerWith = (more: string): string => `providers: [{slug: lab, ${more}}]`;

describe('a gateway.yaml', () => {
  it.each(['', '# nothing', 'providers: []'])('may say nothing: %j', (text) => {
    expect(readGatewayConfig(text)).toEqual(NO_GATEWAY_CONFIG);
  });

  it.each(['none', 'effort', 'adaptive', 'budget'])('may say that a model reasons by %s', (style) => {
    const route = 'routes: [{provider: lab, upstream_model: m, free: true}]';
    const text = `${LAB}\nmodels: [{id: lab/m, context_length: 8192, reasoning: {style: ${style}}, ${route}}]`;
    expect(faults(text)).toEqual([]);
  });

  it('takes names of 100 characters, and 500 models where it bounds a list of them', () => {
    const named = (length: number): string =>
      providerWith(`name: ${'n'.repeat(length)}, dialect: chat, base_url: "http://x"`);
    const allowed = (count: number): string =>
      `organizations: {allowed_models: [${Array.from({ length: count }, (_, n) => `a/m${n}`).join(', ')}]}`;
    for (const good of [named(100), allowed(500)]) expect(faults(good)).toEqual([]);
    for (const bad of [named(101), allowed(501)]) expect(faults(bad)).toHaveLength(1);
  });

  it('is read as it stands', () => {
    const text = modelWith('prices: {prompt_usd_per_1m: "1"}');
    expect(readGatewayConfig(text)).toEqual({
      ...NO_GATEWAY_CONFIG,
      providers: [{ slug: 'lab', dialect: 'chat', base_url: 'http://lab.example:9000/v1' }],
      models: [
        {
          id: 'lab/m',
          context_length: 8192,
          routes: [{ provider: 'lab', upstream_model: 'm', prices: { prompt_usd_per_1m: '1' } }],
        },
      ],
    });
  });

  it.each<[string, string[]]>([
    ['providers: [{slug: a, slug: b}]', ['Map keys must be unique.']],
    ['providers: [', ['Flow sequence in block collection must be sufficiently indented and end with a ]']],
    [
      'catalogue: { simulated_models: never }',
      ['catalogue.simulated_models: never is none of auto, on, off.'],
    ],
    [
      'other: 1',
      [
        'other is unknown; what may stand here is providers, models, prices, aliases, budgets, billing, catalogue, organizations.',
      ],
    ],
    [
      'budgets: [{ scope: provider, scope_id: nobody, amount_usd: "1", period: day }]',
      ['budgets[0].scope_id: there is no provider nobody.'],
    ],
    [
      `budgets: [${'{ scope: provider, scope_id: openai, amount_usd: "1", period: day },'.repeat(5)}]`,
      ['budgets[4]: openai has more than 4 budgets.'],
    ],
    ['[]', ['this has to be a map of names and values.']],
    ['models: {}', ['models: this has to be a list.']],
    [
      providerWith('key: x'),
      ['providers[0]: key is unknown; what may stand here is slug, name, dialect, base_url, api_key_env, '],
    ],
    ['providers: [{name: x}]', ['providers[0]: slug is missing.']],
    [
      'providers: [{slug: Lab}]',
      ['providers[0].slug: this has to be lower-case letters, digits and dashes, at most 64.'],
    ],
    [
      providerWith('dialect: soap, base_url: "http://x"'),
      [
        'providers[0].dialect: soap is none of chat, responses, messages, gemini, cohere, ollama, converse, embeddings.',
      ],
    ],
    [
      providerWith('dialect: chat, base_url: "http://x", api_key_env: sk-secret'),
      [
        'providers[0].api_key_env: this has to be the name of a variable, such as LAB_API_KEY: the file never holds a secret.',
      ],
    ],
    [
      modelWith('free: true, weight: 1'),
      ['models[0].routes[0]: weight is unknown; what may stand here is provider, upstream_model, dialect, '],
    ],
  ])('names where its form is wrong: %j', (text, expected) => {
    expect(faults(text).map((fault) => fault.slice(0, 160))).toEqual(
      expected.map((words) => expect.stringContaining(words) as string),
    );
  });

  it.each<[string, string[]]>([
    [
      'providers: [{slug: lab}]',
      [
        'providers[0]: dialect is missing, because this release has no lab.',
        'providers[0]: base_url is missing, because this release has no lab.',
      ],
    ],
    [
      'providers: [{slug: openai, dialect: chat}]',
      ['providers[0].dialect: openai is known to this release, which knows its dialect: leave dialect out.'],
    ],
    ['providers: [{slug: openai}]', []],
    ['providers: [{slug: openai}, {slug: openai}]', ['providers[1]: openai is there twice.']],
    [providerWith('dialect: chat, base_url: lab'), ['providers[0].base_url: this is no http(s) address.']],
    [
      providerWith('dialect: chat, base_url: "ftp://lab"'),
      ['providers[0].base_url: this is no http(s) address.'],
    ],
    [providerWith('dialect: chat, base_url: "https://lab"'), []],
    ...['http://me@lab', 'http://:word@lab'].map((address): [string, string[]] => [
      providerWith(`dialect: chat, base_url: "${address}"`),
      ['providers[0].base_url: it holds a credential: name a variable in api_key_env instead.'],
    ]),
    [
      providerWith('dialect: chat, base_url: "http://lab/v1?x=1"'),
      ['providers[0].base_url: it has a query, which requests would lose.'],
    ],
    [
      modelWith('dialect: chat'),
      ['models[0].routes[0]: prices are missing; a model that costs nothing says free: true.'],
    ],
    [modelWith('free: true'), []],
    [
      modelWith('free: false'),
      ['models[0].routes[0]: prices are missing; a model that costs nothing says free: true.'],
    ],
    [
      modelWith('free: true, prices: {prompt_usd_per_1m: "1"}'),
      ['models[0].routes[0]: it has prices and is free: keep one of them.'],
    ],
    [
      'models: [{id: a/b, context_length: 1, routes: [{provider: lab, upstream_model: m, free: true}]}]',
      ['models[0].routes[0].provider: there is no provider lab, neither here nor in this release.'],
    ],
    [
      'models: [{id: a/b, context_length: 1, routes: [{provider: deepseek, upstream_model: m, free: true}]}]',
      [`models[0].routes[0]: dialect is missing: deepseek speaks ${DEEPSEEK?.dialects.join(', ')}.`],
    ],
    [
      'models: [{id: a/b, context_length: 1, routes: [{provider: deepseek, dialect: chat, upstream_model: m, free: true}]}]',
      [],
    ],
  ])('says what does not fit together: %s', (text, expected) => {
    expect(faults(text)).toEqual(expected);
  });

  it('names a model that is there twice, and every fault at once', () => {
    const model = '{id: a/b, context_length: 1, routes: [{provider: gone, upstream_model: m, free: true}]}';
    expect(faults(`models: [${model}, ${model}]`)).toEqual([
      'models[0].routes[0].provider: there is no provider gone, neither here nor in this release.',
      'models[1]: a/b is there twice.',
      'models[1].routes[0].provider: there is no provider gone, neither here nor in this release.',
    ]);
  });

  const WRONG = `providers:
  - slug: lab
    dialect: chat
    base_url: ftp://lab
  - slug: Other
models:
  - id: Lab/M
    context_length: 8192
    routes: [{ provider: lab, upstream_model: m, free: true }]
  - id: lab/n
    context_length: 8192
    routes:
      - { provider: other, upstream_model: n, free: true }
      - { provider: lab, dialect: soap, upstream_model: n, weight: 1 }
  - id: lab/o
    context_length: 8192
    routes: [{ provider: gone, upstream_model: n, free: true }]
`;

  it('C8 names in one report the file, the line and what is allowed, of faults of form and of what does not fit', () => {
    const { faults: found, config } = new GatewayFile(WRONG, 'conf/gateway.yaml');
    expect(found).toEqual([
      'conf/gateway.yaml, line 5: providers[1].slug: this has to be lower-case letters, digits and dashes, at most 64.',
      'conf/gateway.yaml, line 7: models[0].id: this has to be <brand>/<name> in lower case: letters, digits and dashes, in the name dots and underscores too.',
      'conf/gateway.yaml, line 14: models[1].routes[1]: weight is unknown; what may stand here is provider, upstream_model, dialect, context_length, max_output_tokens, prices, free.',
      'conf/gateway.yaml, line 4: providers[0].base_url: this is no http(s) address.',
      'conf/gateway.yaml, line 17: models[2].routes[0].provider: there is no provider gone, neither here nor in this release.',
    ]);
    expect([config.providers.length, config.models.map(({ id }) => id)]).toEqual([1, ['lab/o']]);
  });

  it('C8 names a format that the upstream of a route does not speak', () =>
    expect(faults(modelWith('dialect: messages, free: true'))).toEqual([
      'models[0].routes[0].dialect: lab does not speak messages: it speaks chat, embeddings.',
    ]));

  it('C8 names the line of what YAML does not take, of an alias, and no line beyond the file', () => {
    expect(new GatewayFile('models:\n  - a: 1\n    a: 2\n').faults).toEqual([
      'gateway.yaml, line 3: Map keys must be unique.',
    ]);
    const [fault] = new GatewayFile('prices: &none\n  - 5\nmodels: *none\n').faults;
    expect(fault).toMatch(/^gateway\.yaml, line 2: models\[0\]: this has to be a map/);
    expect(new GatewayFile('').faults).toEqual([]);
  });

  it('says its faults as lines of one error', () => {
    const error = new GatewayConfigError(['one', 'two']);
    expect([error.name, error.message]).toEqual([
      'GatewayConfigError',
      "The gateway's configuration is wrong:\n  one\n  two",
    ]);
  });
});

describe('the upstreams of a gateway.yaml', () => {
  const own = (more: string) =>
    ownProviders(
      readGatewayConfig(`providers: [{slug: openai}, {slug: lab, base_url: "http://lab/v1//", ${more}}]`),
    );

  it('are those that this release does not have, at the address without slashes at its end', () => {
    const [lab, ...others] = own('dialect: chat');
    expect(others).toEqual([]);
    expect(lab).toMatchObject({
      slug: 'lab',
      name: 'lab',
      credentialEnv: '',
      baseUrlEnv: 'GATEWAY_CONFIG',
      defaultBaseUrl: 'http://lab/v1',
      isKeyless: true,
      dialects: ['chat', 'embeddings'],
    });
    expect(own('dialect: responses, name: Lab, api_key_env: LAB_KEY')).toMatchObject([
      {
        name: 'Lab',
        credentialEnv: 'LAB_KEY',
        isKeyless: false,
        dialects: ['responses', 'chat', 'embeddings'],
      },
    ]);
  });

  it('are called as Anthropic is, and for nothing else, where they speak messages', async () => {
    const [lab] = own('dialect: messages, api_key_env: LAB_KEY');
    expect([lab.dialects, lab.isKeyless]).toEqual([['messages'], false]);
    const body = { path: '/messages', contentType: '', accept: '', headers: {}, pieces: [], byteLength: 0 };
    const access = { baseUrl: lab.defaultBaseUrl, credential: { kind: 'api_key' as const, key: 'k' } };
    const { url, headers } = await lab.prepare(body, access);
    expect([url, headers['x-api-key']]).toEqual([expect.stringMatching(/\/v1\/messages$/), 'k']);
  });

  it.each([
    ['gemini', ['gemini']],
    ['cohere', ['cohere']],
    ['ollama', ['ollama']],
    ['converse', ['converse']],
    ['messages', ['messages']],
  ])('are called like a provider of this release that speaks %s', (dialect, spoken) => {
    const [lab] = own(`dialect: ${dialect}, quirks: {max_tokens_param: max_tokens, takes_token_ids: true}`);
    expect(lab.dialects).toEqual(expect.arrayContaining(spoken));
    expect([lab.slug, lab.isKeyless]).toEqual(['lab', true]);
    const quirks = lab.quirks({ dialect, upstreamModel: 'm' } as never);
    expect(quirks).toMatchObject({ maxTokensParam: 'max_tokens', takesTokenIds: true });
  });
});
