import type { Json } from '../upstream-requests.fixture.js';
import { ENDLESS, finishes, lines, plain, typed, type GoldenDialect } from './answers.fixture.js';

const delta = (type: string, message: Json, index = 0): Json => ({ type, index, delta: { message } });
const text = (value: string): Json => delta('content-delta', { content: { text: value } });
const fn = (name: string | undefined, args: unknown): Json => ({ name, arguments: args });
const usage = {
  billed_units: { input_tokens: 3, output_tokens: 4 },
  tokens: { input_tokens: 20, output_tokens: 12, reasoning_tokens: 5 },
  cached_tokens: 4,
  cost: 1,
};
const end = (finish_reason: string, more: Json = {}): Json => ({
  type: 'message-end',
  delta: { finish_reason, ...more },
});
const begin = { type: 'message-start', id: 'coh-1', delta: { message: { role: 'assistant' } } };
const whole = (message: Json, more: Json = {}): ReturnType<typeof plain> =>
  plain({ id: 'coh-1', message, finish_reason: 'COMPLETE', ...more });
const source = { document: { url: 'https://a.example', title: 'A' } };

export const COHERE_ANSWERS: GoldenDialect = {
  toolNames: { short: 'the_long_name' },
  answers: {
    everything: whole(
      {
        tool_plan: 'I look.',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'Zürich' },
        ],
        tool_calls: [
          { id: 'w', type: 'function', function: fn('short', '{"city":"Bern"}') },
          { id: 'n', type: 'function', function: fn('now', 'null') },
        ],
        citations: [
          {
            start: 0,
            end: 6,
            text: 'Zürich',
            sources: [source, { tool_output: { url: 'https://b.example' } }, {}],
          },
        ],
      },
      { finish_reason: 'TOOL_CALL', usage },
    ),
    'a stream of everything': typed(
      begin,
      delta('tool-plan-delta', { tool_plan: 'I look.' }),
      delta('content-start', { content: { type: 'text', text: '' } }),
      delta('content-delta', { content: { thinking: 'hm' } }),
      text('Zürich'),
      { type: 'content-end', index: 0 },
      delta('citation-start', { citations: { start: 0, end: 6, sources: [source] } }),
      { type: 'citation-end', index: 0 },
      delta('tool-call-start', { tool_calls: { id: 'w', type: 'function', function: fn('short', '') } }),
      delta('tool-call-delta', { tool_calls: { function: fn(undefined, '{"city":"Bern"}') } }),
      { type: 'tool-call-end', index: 0 },
      delta('tool-call-start', { tool_calls: { id: 'n', type: 'function', function: fn('now', '') } }, 1),
      end('TOOL_CALL', { usage }),
      end('MAX_TOKENS'),
      '[DONE]',
    ),
    'a source without a place': whole({
      content: [{ type: 'text', text: 'a' }],
      citations: [{ start: 0, sources: [source] }],
    }),
    'counts of one side': whole({}, { usage: { tokens: { output_tokens: 2 } } }),
    'more in the cache than there was': whole(
      {},
      { usage: { tokens: { input_tokens: 2 }, cached_tokens: 5 } },
    ),
    'no message': plain({ message: 'invalid request' }),
    'no words either': plain({}),
    'a failure in words': typed(begin, end('ERROR', { error: 'Oh.' })),
    'a failure behind a call': typed(
      begin,
      delta('tool-call-start', { tool_calls: { id: 'n', type: 'function', function: fn('now', '{}') } }),
      end('TIMEOUT'),
    ),
    'an error in the middle': typed(begin, text('a'), '{"message":"internal"}'),
    'an end too early': typed(begin, text('a')),
    'an event that is none': typed(begin, '5'),
    'an event without an end': ENDLESS,
    ...finishes(
      ['COMPLETE', 'STOP_SEQUENCE', 'MAX_TOKENS', 'TOOL_CALL', 'ERROR_TOXIC', 'ERROR', 'TIMEOUT', 'NEW'],
      (finish_reason) => whole({ content: [{ type: 'text', text: 'a' }] }, { finish_reason }),
    ),
  },
};

const said = (message: Json, more: Json = {}): Json => ({
  created_at: '2026-11-22T10:00:00.9Z',
  message: { role: 'assistant', content: '', ...message },
  done: false,
  ...more,
});
const done = { done: true, done_reason: 'stop', prompt_eval_count: 20, eval_count: 12 };
const look = { function: { name: 'short', arguments: { city: 'Bern' } } };
const now = { id: 'own', function: { name: 'now' } };

export const OLLAMA_ANSWERS: GoldenDialect = {
  toolNames: { short: 'the_long_name' },
  answers: {
    everything: plain(said({ thinking: 'hm', content: 'Zürich', tool_calls: [look, now] }, done)),
    'a stream of everything': lines(
      said({ thinking: 'hm' }),
      said({ content: 'Zürich' }),
      '',
      said({ tool_calls: [look] }),
      said({ tool_calls: [now, { function: { name: 'now' } }] }),
      said({}, done),
      said({ content: 'late' }),
    ),
    'a text': lines(said({ content: 'a' }), said({}, done)),
    'no time': plain({ message: { content: 'a' }, done: true }),
    'a call, cut': plain(said({ tool_calls: [look] }, { ...done, done_reason: 'length' })),
    'no reason': plain(said({ content: 'a' }, { done: true })),
    'counts that are none': plain(said({}, { done: true, prompt_eval_count: -1, eval_count: 0 })),
    'half an answer': plain(said({ content: 'a' })),
    'no message': plain({ done: true }),
    'an error': plain({ error: 'model not found' }),
    'an error as an object, in the middle': lines(said({ content: 'a' }), {
      error: { message: 'out of memory' },
    }),
    'an end too early': lines(said({ content: 'a' })),
    'a line that is none': lines(said({ content: 'a' }), '[1]'),
    'a line without an end': ENDLESS,
    'too many tool calls': plain(said({ tool_calls: Array.from({ length: 1_025 }, () => look) }, done)),
    ...finishes(['stop', 'length', 'load'], (done_reason) =>
      plain(said({ content: 'a' }, { ...done, done_reason })),
    ),
  },
};
