import type { Quirks, RouteTarget } from '../../translation/translation.js';

const LEVELS = ['low', 'medium', 'high'];

/** Routes as the golden requests meet them. `only`: the requests that this one sends otherwise than the first of its dialect. */
export interface GoldenTarget {
  target: RouteTarget;
  only?: RegExp;
}

function route(dialect: string, more: Partial<RouteTarget> = {}, only?: RegExp): GoldenTarget {
  return {
    target: {
      dialect,
      upstreamModel: 'model-1',
      maxOutputTokens: 8_192,
      contextLength: 128_000,
      reasoning: { style: 'effort', efforts: LEVELS },
      fixesSampling: false,
      quirks: {},
      ...more,
    },
    ...(only ? { only } : {}),
  };
}

const MISTRAL: Quirks = {
  maxTokensParam: 'max_tokens',
  seedParam: 'random_seed',
  requiredToolChoice: 'any',
  toolCallIdPattern: /^[a-zA-Z0-9]{9}$/,
  includeUsageOption: false,
  systemRole: 'system',
  refuses: ['user', 'safety_identifier', 'store', 'logprobs', 'top_logprobs', 'logit_bias', 'stream_options'],
};
const DEEPSEEK: Quirks = {
  maxTokensParam: 'max_tokens',
  systemRole: 'system',
  returnsReasoning: 'reasoning_content',
  refuses: ['seed', 'logit_bias', 'n', 'store', 'verbosity', 'safety_identifier', 'user'],
};
const OPENROUTER: Quirks = {
  maxTokensParam: 'max_tokens',
  reasoningParam: 'reasoning',
  returnsReasoning: 'reasoning_details',
  passthroughParams: true,
};
const VERTEX: Quirks = {
  messagesPlace: {
    version: 'vertex-2023-10-16',
    path: (model, isStream) => `/${model}:${isStream ? 'streamRawPredict' : 'rawPredict'}`,
    betas: /^context-/,
  },
  refuses: ['service_tier'],
};

const THOUGHTS = /effort|budget|thought|reasoning/;
const SAMPLING = /sampling|top_p/;
const joined = (...parts: (RegExp | string)[]): RegExp =>
  new RegExp(parts.map((part) => (typeof part === 'string' ? part : part.source)).join('|'));
const budget = { reasoning: { style: 'budget' as const } };
const thoughtless = { reasoning: { style: 'none' as const } };

export const GOLDEN_TARGETS: Readonly<Record<string, GoldenTarget>> = {
  chat: route('chat'),
  'chat-mistral': route(
    'chat',
    { quirks: MISTRAL, ...thoughtless },
    joined(
      SAMPLING,
      THOUGHTS,
      'odd ids',
      'required',
      'stream',
      'logprobs',
      'logit_bias',
      'hints',
      'instructions',
    ),
  ),
  'chat-deepseek': route('chat', { quirks: DEEPSEEK }, joined(THOUGHTS, /\bn 2|zeros|hints|end user/)),
  'chat-openrouter': route(
    'chat',
    { quirks: OPENROUTER, maxOutputTokens: null, reasoning: { style: 'effort' } },
    joined(THOUGHTS, SAMPLING, 'nobody knows'),
  ),
  'chat-fixed': route(
    'chat',
    { fixesSampling: true, quirks: { reasoningParam: 'none', refuses: ['tools'] } },
    joined(SAMPLING, /effort none|effort high|required/),
  ),
  messages: route('messages', {
    upstreamModel: 'claude-5',
    reasoning: { style: 'adaptive', efforts: ['low', 'medium', 'high', 'max'] },
  }),
  'messages-budget': route(
    'messages',
    { upstreamModel: 'claude-3', maxOutputTokens: 4_096, ...budget },
    joined(THOUGHTS),
  ),
  'messages-fixed': route(
    'messages',
    {
      fixesSampling: true,
      maxOutputTokens: null,
      quirks: { passthroughParams: true, refuses: ['tools', 'service_tier'] },
      ...thoughtless,
    },
    joined(SAMPLING, /plain|effort none|effort high|nobody knows|a search$|tools$|tier/),
  ),
  'messages-vertex': route(
    'messages',
    { upstreamModel: 'claude-5', quirks: VERTEX, reasoning: { style: 'adaptive' } },
    joined(/plain|stream|tier|effort xhigh|effort max/),
  ),
  responses: route('responses'),
  'responses-openai': route('responses', { quirks: { cacheBreakpoints: true } }, /marker/),
  'responses-fixed': route(
    'responses',
    {
      fixesSampling: true,
      quirks: { passthroughParams: true, refuses: ['tools', 'service_tier', 'top_p'] },
      ...thoughtless,
    },
    joined(SAMPLING, /effort none|effort high|nobody knows|tools$|tier/),
  ),
  gemini: route('gemini', { upstreamModel: 'gemini-3-pro' }),
  'gemini-pro': route(
    'gemini',
    { upstreamModel: 'gemini-2.5-pro', ...budget },
    joined(THOUGHTS, /beside|odd ids|tools$|place$/),
  ),
  'gemini-flash': route('gemini', { upstreamModel: 'gemini-2.5-flash', ...budget }, /effort|budget/),
  'gemini-lite': route('gemini', { upstreamModel: 'gemini-2.5-flash-lite', ...budget }, /effort|budget/),
  'gemini-minimal': route(
    'gemini',
    {
      fixesSampling: true,
      maxOutputTokens: null,
      reasoning: { style: 'effort', efforts: ['minimal', 'low'] },
      quirks: { refuses: ['presence_penalty'] },
    },
    /effort|budget|sampling|wish/,
  ),
  'gemini-2': route(
    'gemini',
    { upstreamModel: 'gemini-2.0', quirks: { refuses: ['presence_penalty'] }, ...thoughtless },
    /effort none|effort high|sampling|beside/,
  ),
  'converse-claude': route('converse', {
    upstreamModel: 'us.anthropic.claude-5-v1:0',
    reasoning: { style: 'adaptive', efforts: ['low', 'medium', 'high', 'max'] },
  }),
  'converse-claude-budget': route(
    'converse',
    { upstreamModel: 'anthropic.claude-3', maxOutputTokens: 4_096, ...budget },
    joined(THOUGHTS),
  ),
  'converse-nova': route(
    'converse',
    { upstreamModel: 'amazon.nova-2' },
    joined(THOUGHTS, SAMPLING, 'one call', 'marker'),
  ),
  'converse-mistral': route(
    'converse',
    { upstreamModel: 'mistral.large', ...thoughtless },
    joined(THOUGHTS, SAMPLING, 'odd ids'),
  ),
  'converse-other': route(
    'converse',
    { upstreamModel: 'openai.gpt-oss', fixesSampling: true, maxOutputTokens: null },
    joined(THOUGHTS, SAMPLING),
  ),
  cohere: route('cohere', { upstreamModel: 'command-a' }),
  'cohere-plain': route('cohere', { ...thoughtless }, /effort none|effort high|budget of thoughts/),
  'cohere-large': route('cohere', { maxOutputTokens: null }, /effort|budget/),
  ollama: route('ollama', { quirks: { passthroughParams: true } }),
  'ollama-thinks': route('ollama', { reasoning: { style: 'effort' } }, joined(/effort|budget|nobody knows/)),
  'ollama-plain': route('ollama', { ...thoughtless }, /effort none|effort high|budget of thoughts/),
};
