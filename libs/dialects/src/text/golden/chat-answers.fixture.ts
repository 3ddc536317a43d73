import type { Json } from '../upstream-requests.fixture.js';
import { ENDLESS, finishes, plain, sse, type GoldenDialect } from './answers.fixture.js';

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_690_000_000, model: 'large' };
const chunk = (delta: Json, choice: Json = {}, more: Json = {}): Json => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...more,
});
const finish = (reason: string): Json => chunk({}, { finish_reason: reason });
const usage = {
  prompt_tokens: 20,
  completion_tokens: 12,
  total_tokens: 32,
  prompt_tokens_details: {
    cached_tokens: 4,
    cache_write_tokens: 3,
    cache_write_1h_tokens: 2,
    audio_tokens: 1,
    image_tokens: 6,
  },
  completion_tokens_details: {
    reasoning_tokens: 5,
    audio_tokens: 2,
    accepted_prediction_tokens: 3,
    rejected_prediction_tokens: 1,
    image_tokens: 7,
  },
  cost: 0.5,
  is_byok: false,
};
const counted = (more: Json, beside: Json = {}): Json => ({ ...head, choices: [], usage: more, ...beside });
const whole = (message: Json, more: Json = {}, beside: Json = {}): ReturnType<typeof plain> =>
  plain({
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop', ...more }],
    ...beside,
  });
const call = (more: Json): Json => ({ tool_calls: [more] });
const fn = (name: string | undefined, args: unknown): Json => ({ name, arguments: args });
const logprobs = { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }], refusal: null };
const source = {
  type: 'url_citation',
  url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 },
};
const detail = (more: Json): Json => ({
  reasoning_details: [{ type: 'reasoning.text', format: 'anthropic-claude-v1', ...more }],
});

export const CHAT_ANSWERS: GoldenDialect = {
  toolNames: { short: 'the_long_name' },
  answers: {
    everything: whole(
      {
        role: 'assistant',
        content: 'Zürich',
        refusal: 'No.',
        reasoning_content: 'hm',
        annotations: [source],
        tool_calls: [
          { id: 'c1', type: 'function', function: fn('short', '{"city":"Bern"}'), cost: 1, mark: 'x' },
          { id: 'c2', type: 'custom', custom: { name: 'free', input: 'a b' } },
        ],
        audio: { id: 'audio_1', data: 'AA==', expires_at: 1, transcript: 'hi', price: 1 },
      },
      { finish_reason: 'tool_calls', logprobs },
      { usage, system_fingerprint: 'fp', service_tier: 'flex' },
    ),
    'a stream of everything': sse(
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning: 'hm' }),
      chunk({ content: 'Zür' }, { logprobs }),
      chunk({ content: 'ich', annotations: [source, source] }),
      chunk({ refusal: 'No.' }),
      chunk(call({ index: 1, id: 'c1', type: 'function', function: fn('short', '') })),
      chunk(call({ index: 1, id: 'c1', function: fn('short', '{"city":') })),
      chunk(call({ index: 1, function: fn(undefined, '"Bern"}') })),
      chunk(call({ index: 2, id: 7, type: 'function', function: fn('now', 'null') })),
      chunk(call({ index: 3, id: 'c3', type: 'custom', custom: { name: 'free', input: 'a' } })),
      chunk({ audio: { data: 'AA==' } }),
      finish('tool_calls'),
      chunk({ content: 'late' }),
      counted(usage),
      '[DONE]',
    ),
    'reasoning in parts': sse(
      chunk(detail({ text: 'hm' })),
      chunk(detail({ signature: 'c2ln' })),
      chunk({
        reasoning_details: [
          { type: 'reasoning.encrypted', data: 'ZGF0YQ==' },
          { type: 'reasoning.summary', summary: 'so' },
        ],
      }),
      chunk({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'yes' }] },
          { type: 'text', text: 'Ja' },
        ],
      }),
      chunk({ thinking: 'late' }),
      finish('stop'),
      '[DONE]',
    ),
    'calls without numbers': sse(
      chunk(call({ id: 'a', function: fn('now', '{}') })),
      chunk(call({ id: 'b', function: fn('now', { city: 'Bern' }) })),
      chunk(call({ function: fn('now', '{}') })),
      finish('tool_calls'),
      '[DONE]',
    ),
    'the call of a legacy server': whole(
      { content: null, function_call: fn('now', '') },
      { finish_reason: 'function_call' },
    ),
    'two choices': sse(
      {
        ...head,
        choices: [
          { index: 0, delta: { content: 'a' } },
          { index: 1, delta: { content: 'b' } },
        ],
      },
      { ...head, choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'length', native_finish_reason: 'MAX' }] },
      '[DONE]',
    ),
    'sources beside the choices': whole(
      { content: 'a' },
      {},
      { citations: ['https://a.example', 5, 'https://a.example'] },
    ),
    'results beside the choices': whole(
      { content: 'a' },
      {},
      { citations: ['x'], search_results: [{ url: 'https://b.example', title: 'B' }] },
    ),
    'Azure’s first chunk': sse(
      { id: '', choices: [], prompt_filter_results: [] },
      chunk({ content: 'a' }),
      finish('stop'),
      '[DONE]',
    ),
    'no marker at the end': sse(chunk({ content: 'a' }), finish('stop')),
    'no reason': sse(chunk({ content: 'a' }), '[DONE]'),
    'no reason behind a call': sse(chunk(call({ index: 0, id: 'a', function: fn('now', '{') })), '[DONE]'),
    'an odd head': plain({
      id: '',
      created: -1,
      choices: [{ message: { content: 'a' }, finish_reason: 'stop' }],
    }),
    'no choices': plain({ ...head, choices: [] }),
    'an error': plain({ error: { message: 'No.', code: 'rate_limit_exceeded', status: 429 } }),
    'an error as a text': plain({ error: 'No.' }),
    'an error as an object of its own': plain({ object: 'error', message: 'No.', code: 503 }),
    ...Object.fromEntries(
      [399, 400, 599, 600].map((code) => [`an error with the code ${code}`, plain({ error: { code } })]),
    ),
    'an error in a choice': sse(chunk({ content: 'a' }, { error: { message: 'No.', code: 502 } })),
    'an error of nothing': sse(chunk({ content: 'a' }), { error: {}, choices: [] }),
    'an error by its name': {
      stream: Buffer.from('event: error\ndata: {"message":"No.","status_code":401}\n\n'),
    },
    'an error by its name, in words': { stream: Buffer.from('event: error\ndata: overloaded\n\n') },
    'an end too early': sse(chunk({ content: 'a' })),
    'nothing at all': sse(),
    'an event that is none': sse(chunk({ content: 'a' }), '[1]'),
    'an event without an end': ENDLESS,
    'counts of Groq': sse(
      chunk({ content: 'a' }),
      finish('stop'),
      { ...head, choices: [], x_groq: { usage: { prompt_tokens: 1, completion_tokens: 2 } } },
      '[DONE]',
    ),
    'counts of DeepSeek': whole(
      { content: 'a' },
      {},
      {
        usage: {
          prompt_tokens: 9,
          completion_tokens: 1,
          prompt_cache_hit_tokens: 8,
          prompt_cache_miss_tokens: 1,
        },
      },
    ),
    'counts of Mistral': whole(
      { content: 'a' },
      {},
      {
        usage: {
          prompt_tokens: 9,
          completion_tokens: 1,
          prompt_token_details: { cached_tokens: 3 },
          num_cached_tokens: 2,
        },
      },
    ),
    'counts of Moonshot': whole(
      { content: 'a' },
      {},
      { usage: { prompt_tokens: 9, completion_tokens: 1, cached_tokens: 7 } },
    ),
    'counts of Perplexity': whole(
      { content: 'a' },
      {},
      {
        usage: {
          prompt_tokens: 9,
          completion_tokens: 1,
          reasoning_tokens: 3,
          num_search_queries: 2,
          cost: {},
        },
      },
    ),
    'counts of one side': whole({ content: 'a' }, {}, { usage: { completion_tokens: 2 } }),
    'counts that are none': whole(
      { content: 'a' },
      {},
      { usage: { prompt_tokens: -1, completion_tokens: 'x' } },
    ),
    'more cached and written than there was': whole(
      { content: 'a' },
      {},
      {
        usage: {
          prompt_tokens: 5,
          completion_tokens: 0,
          prompt_tokens_details: {
            cached_tokens: 4,
            cache_creation_input_tokens: 3,
            cache_write_1h_tokens: 9,
          },
        },
      },
    ),
    ...finishes(
      [
        'stop',
        'END_TURN',
        'eos',
        'model_length',
        'tool_call',
        'function_call',
        'content_filtered',
        'refusal',
        'safety',
        'pause_turn',
      ],
      (word) => whole({ content: 'a' }, { finish_reason: word }),
    ),
  },
};

export const XAI_ANSWERS: GoldenDialect = {
  quirks: { usageExcludesReasoning: true },
  answers: {
    'thoughts on top': whole(
      { content: 'a' },
      {},
      {
        usage: {
          prompt_tokens: 12,
          completion_tokens: 1,
          total_tokens: 303,
          completion_tokens_details: { reasoning_tokens: 290 },
        },
      },
    ),
    'thoughts within': whole(
      { content: 'a' },
      {},
      {
        usage: {
          prompt_tokens: 12,
          completion_tokens: 9,
          total_tokens: 21,
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      },
    ),
    'more cached than there was': whole(
      { content: 'a' },
      {},
      {
        usage: {
          prompt_tokens: 1,
          completion_tokens: 1,
          total_tokens: 2,
          prompt_tokens_details: { cached_tokens: 11 },
        },
      },
    ),
  },
};
