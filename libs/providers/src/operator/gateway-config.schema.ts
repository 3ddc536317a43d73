import { ALIAS_NAME_PATTERN, AMOUNT_PATTERN, MODEL_PATTERN } from '@gateway/contracts';
import { DEPLOYMENT, DEPLOYMENTS_MAX } from '../deployments/deployment-names.js';

/** A form, with the words in which a fault explains it. */
const form = (pattern: string, words: string) => ({ type: 'string', pattern, words });
const slug = form('^[a-z0-9][a-z0-9-]{0,63}$', 'lower-case letters, digits and dashes, at most 64');
const count = { type: 'integer', minimum: 1 };
const words = { type: 'array', minItems: 1, maxItems: 64, items: { type: 'string', minLength: 1 } };
const prices = { type: 'object', minProperties: 1 };

const ONE_LINE = '^[^\\u0000-\\u001f\\u007f]{1,100}$';

const file = { type: 'string', minLength: 1, maxLength: 4_096 };
const time = { type: 'integer', minimum: 1, maximum: 86_400_000 };

const provider = {
  type: 'object',
  additionalProperties: false,
  required: ['slug'],
  properties: {
    slug,
    name: { type: 'string', minLength: 1, maxLength: 100 },
    dialect: {
      enum: ['chat', 'responses', 'messages', 'gemini', 'cohere', 'ollama', 'converse', 'embeddings'],
    },
    base_url: { type: 'string', minLength: 1, maxLength: 500 },
    api_key_env: form(
      '^[A-Z][A-Z0-9_]{0,99}$',
      'the name of a variable, such as LAB_API_KEY: the file never holds a secret',
    ),
    discover: { type: 'boolean' },
    headers: { type: 'object', maxProperties: 32 },
    query: { type: 'object', maxProperties: 16 },
    health_path: { type: 'string', pattern: '^/[!"$-~]{0,511}$' },
    deployments: {
      type: 'object',
      maxProperties: DEPLOYMENTS_MAX,
      additionalProperties: { type: 'string', pattern: DEPLOYMENT },
    },
    discover_deployments: { type: 'boolean' },
    ca_file: file,
    client_cert_file: file,
    client_key_file: file,
    timeouts: {
      type: 'object',
      additionalProperties: false,
      properties: { connect_ms: time, first_byte_ms: time, idle_ms: time, total_ms: time },
    },
    quirks: {
      type: 'object',
      additionalProperties: false,
      properties: {
        max_tokens_param: { enum: ['max_tokens', 'max_completion_tokens'] },
        include_usage_option: { type: 'boolean' },
        required_tool_choice: { enum: ['required', 'any'] },
        seed_param: { type: 'string' },
        reasoning_param: { enum: ['reasoning_effort', 'reasoning', 'none'] },
        returns_reasoning: { enum: ['reasoning_content', 'reasoning', 'both', 'reasoning_details'] },
        usage_excludes_reasoning: { type: 'boolean' },
        system_role: { enum: ['system', 'developer'] },
        passthrough_params: { type: 'boolean' },
        dimensions_param: { type: 'string' },
        takes_token_ids: { type: 'boolean' },
        refuses: words,
      },
    },
  },
};

const route = {
  type: 'object',
  additionalProperties: false,
  required: ['provider', 'upstream_model'],
  properties: {
    provider: slug,
    upstream_model: { type: 'string', minLength: 1, maxLength: 200 },
    dialect: slug,
    context_length: count,
    max_output_tokens: count,
    prices,
    free: { type: 'boolean' },
  },
};

const modelId = form(
  '^[a-z0-9-]+/[a-z0-9][a-z0-9._-]*$',
  '<brand>/<name> in lower case: letters, digits and dashes, in the name dots and underscores too',
);

const model = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'context_length', 'routes'],
  properties: {
    id: modelId,
    name: { type: 'string', minLength: 1, maxLength: 200 },
    type: { enum: ['text', 'embedding', 'image', 'audio', 'tts', 'stt', 'video'] },
    description: { type: 'string', minLength: 1, maxLength: 1_000 },
    context_length: count,
    max_output_tokens: count,
    input_modalities: words,
    output_modalities: words,
    supports: { ...words, minItems: 0 },
    fixes_sampling: { type: 'boolean' },
    reasoning: {
      type: 'object',
      additionalProperties: false,
      required: ['style'],
      properties: { style: { enum: ['none', 'effort', 'adaptive', 'budget'] }, efforts: words },
    },
    routes: { type: 'array', minItems: 1, maxItems: 64, items: route },
  },
};

const override = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'provider', 'prices'],
  properties: { model: { type: 'string' }, provider: { type: 'string' }, prices },
};

const target = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'weight'],
  properties: { model: modelId, weight: { type: 'integer', minimum: 0, maximum: 1_000 } },
};

const shadow = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'sample_pct'],
  properties: { model: modelId, sample_pct: { type: 'number', minimum: 0.01, maximum: 100 } },
};
const alias = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'targets'],
  properties: {
    name: form(
      ALIAS_NAME_PATTERN.source,
      'a name of letters, digits, dots, dashes, underscores and colons, with one slash at most',
    ),
    targets: { type: 'array', minItems: 1, maxItems: 8, items: target },
    shadow,
  },
};

const budget = {
  type: 'object',
  additionalProperties: false,
  required: ['scope', 'scope_id', 'amount_usd', 'period'],
  properties: {
    scope: { enum: ['provider'] },
    scope_id: slug,
    name: form(ONE_LINE, 'one line of at most 100 characters'),
    amount_usd: form(AMOUNT_PATTERN.source, "an amount of USD in quotes, such as '1000' or '0.50'"),
    period: { enum: ['day', 'week', 'month', 'quarter', 'rolling'] },
    time_zone: { type: 'string', minLength: 1, maxLength: 64 },
    rolling_days: { type: 'integer', minimum: 1, maximum: 366 },
    is_hard: { type: 'boolean' },
    thresholds_pct: {
      type: 'array',
      maxItems: 5,
      uniqueItems: true,
      items: { type: 'integer', minimum: 1, maximum: 100 },
    },
  },
};

const limit = { type: 'integer', minimum: 1, maximum: 2_147_483_647 };
const models = {
  type: 'array',
  maxItems: 500,
  uniqueItems: true,
  items: form(MODEL_PATTERN.source, 'the id of a model, or <brand>/* for all of a brand'),
};

/** The fields of POST /v1/orgs that an operator may give every organization. */
const organizations = {
  type: 'object',
  additionalProperties: false,
  properties: {
    rpm_limit: limit,
    rpd_limit: limit,
    tpm_limit: limit,
    spend_cap_usd: form(AMOUNT_PATTERN.source, "an amount of USD in quotes, such as '1000' or '0.50'"),
    allowed_models: models,
    blocked_models: models,
    default_api_version: { type: 'string', minLength: 1, maxLength: 20 },
    realtime_enabled: { type: 'boolean' },
    realtime_max_sessions: { ...limit, maximum: 4_096 },
    realtime_max_seconds: { ...limit, maximum: 86_400 },
    realtime_max_tokens: limit,
    tier: { enum: ['standard', 'enterprise', 'platform'] },
  },
};

const catalogue = {
  type: 'object',
  additionalProperties: false,
  properties: {
    simulated_models: { enum: ['auto', 'on', 'off'] },
    feed_url: { type: 'string', minLength: 1 },
    feed_keys: { type: 'string', minLength: 1 },
    feed_ca_file: { type: 'string', minLength: 1 },
    feed_seconds: { type: 'integer', minimum: 0, maximum: 604_800 },
    feed_policy: { enum: ['apply', 'ask', 'apply_below'] },
    feed_apply_below_pct: { type: 'integer', minimum: 0, maximum: 1_000 },
  },
};

/** JSON Schema of a gateway.yaml. */
export const GATEWAY_CONFIG_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    providers: { type: 'array', maxItems: 1_000, items: provider },
    models: { type: 'array', maxItems: 10_000, items: model },
    prices: { type: 'array', maxItems: 10_000, items: override },
    aliases: { type: 'array', maxItems: 1_000, items: alias },
    budgets: { type: 'array', maxItems: 64, items: budget },
    billing: { enum: ['prepaid', 'off'] },
    catalogue,
    organizations,
  },
};
