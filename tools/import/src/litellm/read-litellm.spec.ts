import { GatewayFile } from '@gateway/providers';
import { withWholeFile } from '@gateway/catalogue';
import { gatewayYaml, linesOf } from '../written-draft.js';
import { NotReadable } from './config-file.js';
import { readLiteLlm } from './read-litellm.js';
import { ReleaseData } from './release.js';

const release = new ReleaseData();
const SECRET = 'sk-planted-0123456789';

const read = (text: string, env = {}) => readLiteLlm({ text, name: 'config.yaml' }, release, env);
const model = (params: string, more = ''): string =>
  `model_list: [{ model_name: name, litellm_params: { ${params} }, ${more} }]`;
const notesOf = (text: string): string[] =>
  read(text).draft.notes.map(({ place, words }) => `${place}: ${words}`);

/** Returns what the file becomes, having let the real check judge it. */
function written(text: string, env = {}) {
  const { draft, router } = read(text, env);
  router.routingOf(null);
  const yaml = gatewayYaml(draft, release.seed);
  withWholeFile(release.seed, new GatewayFile(yaml));
  return { ...draft.gateway, credentials: draft.plan.credentials, routing: draft.plan.routing, yaml };
}

describe('a configuration of LiteLLM', () => {
  it.each([
    ['3e-06', '3'],
    ['0.00000015', '0.15'],
    ['1.35e-7', '0.135'],
    ['0.1e-6', '0.1'],
    ['1.234567890123456789e-6', '1.234567890123456789'],
    ['"2.5E-06"', '2.5'],
  ])('gives the price %s per token exactly, as %s per million', (rate, price) => {
    const costs = `model_info: { input_cost_per_token: ${rate}, output_cost_per_token: 4e-6 }`;
    const { draft } = read(model('model: openai/gpt-5.5', costs));
    expect(draft.gateway.prices).toEqual([
      {
        ...{ model: 'openai/gpt-5.5', provider: 'openai' },
        prices: { prompt_usd_per_1m: price, completion_usd_per_1m: '4' },
      },
    ]);
  });

  it('makes its off-peak hours a window with whole prices', () => {
    const hours = 'off_peak_pricing: { hours_utc: "16:30-00:30", input_cost_per_token: 1.35e-7 }';
    const info = `model_info: { input_cost_per_token: 2.7e-7, output_cost_per_token: 1.1e-6, ${hours} }`;
    const { prices } = written(model('model: deepseek/deepseek-v4-pro', info));
    const window = { prompt_usd_per_1m: '0.135', completion_usd_per_1m: '1.1' };
    expect(prices[0].prices).toEqual({
      ...{ prompt_usd_per_1m: '0.27', completion_usd_per_1m: '1.1' },
      windows: [{ name: 'off-peak', hours_utc: ['16:30-00:30'], prices: window }],
    });
  });

  it('makes a name an alias of its models by weight, and nothing of a name that is the id', () => {
    const { aliases } = written(`
model_list:
  - { model_name: gpt, litellm_params: { model: openai/gpt-5.5, weight: 0.9 } }
  - { model_name: gpt, litellm_params: { model: anthropic/claude-opus-5, weight: 0.1 } }
  - { model_name: even, litellm_params: { model: openai/gpt-5.5 } }
  - { model_name: even, litellm_params: { model: gpt-5.5 } }
  - { model_name: even, litellm_params: { model: gemini/gemini-2.5-pro } }
  - { model_name: openai/gpt-5.4, litellm_params: { model: gpt-5.4 } }
router_settings:
  model_group_alias: { prod: gpt, hidden: { model: even, hidden: true } }
`);
    const gpt = [
      { model: 'openai/gpt-5.5', weight: 900 },
      { model: 'anthropic/claude-opus-5', weight: 100 },
    ];
    const even = [
      { model: 'openai/gpt-5.5', weight: 2 },
      { model: 'google/gemini-2.5-pro', weight: 1 },
    ];
    expect(aliases).toEqual([
      { name: 'gpt', targets: gpt },
      { name: 'even', targets: even },
      { name: 'prod', targets: gpt },
      { name: 'hidden', targets: even },
    ]);
  });

  it('names variables of keys, further ones as credentials, and copies no key that is written out', () => {
    const { providers, credentials, yaml } = written(`
model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-5.5, api_key: os.environ/TEAM_KEY } }
  - { model_name: b, litellm_params: { model: openai/gpt-5.4, api_key: os.environ/OTHER_KEY } }
  - { model_name: c, litellm_params: { model: anthropic/claude-opus-5, api_key: ${SECRET} } }
  - { model_name: d, litellm_params: { model: mistral/mistral-large-4, litellm_credential_name: m } }
credential_list:
  - { credential_name: m, credential_values: { api_key: os.environ/MISTRAL_TEAM } }
`);
    expect(providers).toEqual([
      { slug: 'openai', api_key_env: 'TEAM_KEY' },
      { slug: 'mistral', api_key_env: 'MISTRAL_TEAM' },
    ]);
    expect(credentials).toEqual([
      {
        ...{ provider: 'openai', label: 'OTHER_KEY', variable: 'OTHER_KEY' },
        allowed_models: ['openai/gpt-5.4'],
      },
    ]);
    expect(yaml).not.toContain(SECRET);
    const { draft } = read(model(`model: openai/gpt-5.5, api_key: ${SECRET}`));
    expect(draft.notes).toEqual([
      {
        place: 'config.yaml, line 1: model_list[0].litellm_params.api_key',
        words: 'the key is written out and is not copied: set OPENAI_API_KEY to it',
      },
    ]);
    expect(JSON.stringify([draft, linesOf(draft)])).not.toContain(SECRET);
  });

  it('makes a host of its own a provider, with version, headers and models of its own', () => {
    const { providers, models, aliases } = written(
      `
model_list:
  - model_name: llama
    litellm_params:
      model: openai/Org/My:Llama
      api_base: http://10.0.0.5:8000/v1
      api_version: '2024-02-01'
      api_key: none
      extra_headers: { X-Team: one, X-Lab-Token: os.environ/LAB_TOKEN, Authorization: ${SECRET} }
    model_info: { max_input_tokens: 32768, supports_function_calling: true, supports_vision: true }
  - { model_name: bge, litellm_params: { model: hosted_vllm/bge, api_base: os.environ/VLLM }, model_info: { mode: embedding, max_tokens: 512 } }
  - { model_name: second, litellm_params: { model: hosted_vllm/bge, api_base: 'http://10.0.0.7/v1' }, model_info: { mode: embedding, max_tokens: 512 } }
`,
      { VLLM: 'http://10.0.0.6:8000/v1/' },
    );
    expect(providers).toEqual([
      {
        ...{ slug: 'openai-1', dialect: 'chat', base_url: 'http://10.0.0.5:8000/v1' },
        headers: { 'X-Team': 'one', 'X-Lab-Token': { env: 'LAB_TOKEN' } },
        query: { 'api-version': '2024-02-01' },
      },
      { slug: 'vllm', base_url: 'http://10.0.0.6:8000/v1' },
      { slug: 'vllm-1', dialect: 'chat', base_url: 'http://10.0.0.7/v1', discover: false },
    ]);
    expect(models).toMatchObject([
      {
        ...{ id: 'openai-1/org-my-llama', context_length: 32_768, input_modalities: ['text', 'image'] },
        supports: ['completions_api', 'responses_api', 'tools'],
        routes: [{ provider: 'openai-1', upstream_model: 'Org/My:Llama', free: true }],
      },
      { id: 'vllm/bge', type: 'embedding', context_length: 512, routes: [{ dialect: 'embeddings' }] },
      { id: 'vllm-1/bge' },
    ]);
    expect(aliases.map(({ name }) => name)).toEqual(['llama', 'bge', 'second']);
  });

  it('takes resources of Azure: the first as azure, others as providers whose price is the base model’s', () => {
    const azure = (name: string, host: string, more = ''): string =>
      `  - { model_name: gpt, litellm_params: { model: azure/${name}, api_base: 'https://${host}.openai.azure.com/', api_version: 2024-02-01, api_key: os.environ/${host.toUpperCase()} }${more} }`;
    const base = ', model_info: { base_model: azure/gpt-5.4 }';
    const { providers, models, aliases } = written(
      ['model_list:', azure('gpt-5.5', 'one'), azure('team', 'two', base)].join('\n'),
    );
    expect(providers).toEqual([
      { slug: 'azure', base_url: 'https://one.openai.azure.com/openai/v1', api_key_env: 'ONE' },
      {
        ...{ slug: 'azure-1', dialect: 'chat', base_url: 'https://two.openai.azure.com/openai/v1' },
        api_key_env: 'TWO',
      },
    ]);
    const known = release.route('azure', 'gpt-5.4');
    expect(models).toMatchObject([
      {
        id: 'azure-1/team',
        context_length: known?.model.context_length,
        routes: [{ prices: known?.route.price }],
      },
    ]);
    expect(aliases).toEqual([
      {
        name: 'gpt',
        targets: [
          { model: 'openai/gpt-5.5', weight: 1 },
          { model: 'azure-1/team', weight: 1 },
        ],
      },
    ]);
  });

  it('writes no model whose price nobody knows, and says so', () => {
    const text = model('model: openai/gpt-none');
    expect(written(text)).toMatchObject({ models: [], aliases: [] });
    expect(notesOf(text)).toEqual([
      'config.yaml, line 1: model_list[0]: this release has no price of gpt-none at openai: write costs per token in model_info',
    ]);
  });

  it('makes retries, time, strategy and fallbacks a routing policy', () => {
    const { routing } = written(`
model_list:
  - { model_name: gpt, litellm_params: { model: openai/gpt-5.5 } }
  - { model_name: claude, litellm_params: { model: anthropic/claude-opus-5 } }
router_settings: { num_retries: 3, timeout: 30.5, routing_strategy: latency-based-routing, fallbacks: [{ gpt: [claude] }] }
`);
    expect(routing).toEqual([
      {
        ...{ old_id: 'routing-1', name: 'LiteLLM 1' },
        routing_policy: {
          ...{ max_retries: 3, total_timeout_ms: 30_500, sort: 'latency' },
          fallback_models: ['anthropic/claude-opus-5'],
        },
      },
    ]);
  });

  it('makes its budgets of providers budgets of gateway.yaml, exactly, and names each that cannot be one', () => {
    const text = `
model_list:
  - { model_name: own, litellm_params: { model: openai/mine, api_base: 'http://10.0.0.5:8000/v1' }, model_info: { max_input_tokens: 8192, input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 } }
router_settings:
  provider_budget_config:
    openai: { budget_limit: 0.30, time_period: 1d }
    vertex_ai: { max_budget: 1.5e3, budget_duration: 30d }
    bedrock: { budget_limit: 7, time_period: 14d, rpm_limit: 5 }
    bedrock_converse: { budget_limit: 8, time_period: 1d }
    anthropic: { budget_limit: 1e-13, time_period: 1d }
    mistral: { budget_limit: 1e12, time_period: 1d }
    groq: { budget_limit: -1, time_period: 1d }
    cohere: { time_period: 1d }
    xai: { budget_limit: 5, time_period: 10m }
    deepseek: { budget_limit: 5 }
    nobody: { budget_limit: 5, time_period: 1d }
`;
    expect(written(text).budgets).toEqual([
      { scope: 'provider', scope_id: 'openai', amount_usd: '0.3', period: 'day' },
      { scope: 'provider', scope_id: 'google-vertex', amount_usd: '1500', period: 'month' },
      { scope: 'provider', scope_id: 'amazon-bedrock', amount_usd: '7', period: 'rolling', rolling_days: 14 },
    ]);
    const spans = 'periods are a day, a week, a month or 1 to 366 days';
    expect(notesOf(text).map((note) => note.replace(/^.*provider_budget_config\./, ''))).toEqual([
      'openai: openai-1 counted with it: give them a budget of their own',
      'bedrock.rpm_limit: has no counterpart: limits of requests and tokens are those of credentials',
      'bedrock_converse: bedrock_converse is amazon-bedrock here, which has a budget from another entry',
      'anthropic: a budget needs an amount of USD above 0 and below a trillion',
      'mistral: a budget needs an amount of USD above 0 and below a trillion',
      'groq: a budget needs an amount of USD above 0 and below a trillion',
      'cohere: a budget needs an amount of USD above 0 and below a trillion',
      `xai: 5 USD in 10m: ${spans}`,
      `deepseek: 5 USD in no time: ${spans}`,
      'nobody: nobody is no provider here',
    ]);
    expect(linesOf(read(text).draft)).toContain('+ budget of provider amazon-bedrock: 7 USD in 14 days');
  });

  it('names each setting without a counterpart with its line', () => {
    expect(
      notesOf(`
litellm_settings: { callbacks: [otel], drop_params: true, context_window_fallbacks: [{ a: [b] }, { c: [d] }] }
general_settings: { master_key: ${SECRET}, max_parallel_requests: 5 }
guardrails:
  - { guardrail_name: one }
  - { guardrail_name: two }
router_settings: { fallbacks: [{ a: [nobody] }], routing_strategy: least-busy, model_group_alias: { 'a b': none } }
`).map((note) => note.replace(/^config\.yaml, /, '')),
    ).toEqual([
      'line 7: router_settings.fallbacks[0]: "nobody" is no model of the file: left out',
      'line 7: router_settings.model_group_alias.a b: none is no model of the file',
      'line 5: guardrails[0]: guardrails have no counterpart',
      'line 6: guardrails[1]: guardrails have no counterpart',
      'line 7: router_settings.routing_strategy: only simple-shuffle (weights), latency-based-routing and cost-based-routing have a counterpart',
      'line 2: litellm_settings.callbacks: callbacks have no counterpart: metrics, traces (OpenTelemetry), webhooks and events are built in',
      'line 2: litellm_settings.context_window_fallbacks[0]: a fallback for long inputs alone has no counterpart',
      'line 2: litellm_settings.context_window_fallbacks[1]: a fallback for long inputs alone has no counterpart',
      'line 3: general_settings.master_key: an administrator signs in with a password or OIDC: the key is not copied',
      'line 3: general_settings.max_parallel_requests: a limit of parallel requests has no counterpart',
    ]);
  });

  it.each(['a: [1', '- a', 'a: 1\na: 2'])('that cannot be read is refused: %j', (text) =>
    expect(() => read(text)).toThrow(NotReadable),
  );

  it('without any setting gives an empty file', () => expect(written('{}').providers).toEqual([]));
});
