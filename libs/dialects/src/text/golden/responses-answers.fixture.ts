import type { Json } from '../upstream-requests.fixture.js';
import { ENDLESS, finishes, plain, typed, type GoldenDialect } from './answers.fixture.js';

const measured = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }];
const item = (output_index: number, type: string, more: Json): Json => ({
  type,
  output_index,
  item_id: 'x',
  ...more,
});
const added = (at: number, one: Json): Json => item(at, 'response.output_item.added', { item: one });
const done = (at: number, one: Json): Json => item(at, 'response.output_item.done', { item: one });
const counts = {
  input_tokens: 20,
  output_tokens: 12,
  total_tokens: 33,
  input_tokens_details: {
    cached_tokens: 4,
    cache_write_tokens: 3,
    cache_write_1h_tokens: 2,
    audio_tokens: 1,
  },
  output_tokens_details: { reasoning_tokens: 5 },
  cost_in_usd_ticks: 5,
};
const response = (more: Json): Json => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_690_000_000.5,
  status: 'completed',
  model: 'large',
  output: [],
  ...more,
});
const begin = {
  type: 'response.created',
  response: response({ status: 'in_progress', service_tier: 'auto' }),
};
const end = (more: Json = {}): Json => ({ type: 'response.completed', response: response(more) });
const words = (text: string, more: Json = {}): Json => ({
  type: 'output_text',
  text,
  annotations: [],
  ...more,
});
const message = (...content: Json[]): Json => ({ type: 'message', id: 'msg_1', role: 'assistant', content });
const looking = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'short',
  arguments: '{"city":"Bern"}',
};
const free = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c2', name: 'free', input: 'a b' };
const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'hm' }],
  content: [{ type: 'reasoning_text', text: 'so' }],
  encrypted_content: 'gAAA',
};
const cited = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 };

export const RESPONSES_ANSWERS: GoldenDialect = {
  toolNames: { short: 'the_long_name' },
  answers: {
    everything: plain(
      response({
        output: [
          thought,
          message(words('Zürich', { annotations: [cited, { type: 'file_citation' }], logprobs: measured }), {
            type: 'refusal',
            refusal: 'No.',
          }),
          looking,
          free,
          { type: 'web_search_call', action: { type: 'search' } },
          { type: 'web_search_call', action: { type: 'open_page' } },
        ],
        usage: counts,
        service_tier: 'flex',
      }),
    ),
    'a stream of everything': typed(
      begin,
      { type: 'response.in_progress', response: response({}) },
      added(0, { type: 'reasoning', id: 'rs_1', summary: [] }),
      item(0, 'response.reasoning_summary_part.added', { summary_index: 0 }),
      item(0, 'response.reasoning_summary_text.delta', { delta: 'hm', summary_index: 0 }),
      item(0, 'response.reasoning_summary_part.added', { summary_index: 1 }),
      item(0, 'response.reasoning_summary_text.delta', { delta: 'so', summary_index: 1 }),
      done(0, thought),
      added(1, message()),
      item(1, 'response.output_text.delta', { content_index: 0, delta: 'Zür', logprobs: measured }),
      item(1, 'response.output_text.delta', { content_index: 0, delta: 'ich' }),
      item(1, 'response.output_text.annotation.added', { annotation: cited }),
      item(1, 'response.refusal.delta', { content_index: 1, delta: 'No.' }),
      done(1, message(words('Zürich'), { type: 'refusal', refusal: 'No.' })),
      added(2, { ...looking, arguments: '' }),
      item(2, 'response.function_call_arguments.delta', { delta: '{"city":' }),
      item(2, 'response.function_call_arguments.delta', { delta: '"Bern"}' }),
      item(2, 'response.function_call_arguments.done', { arguments: '{"city":"Bern"}' }),
      done(2, looking),
      added(3, { ...free, input: '' }),
      item(3, 'response.custom_tool_call_input.done', { input: 'a b' }),
      done(3, free),
      item(4, 'response.something.new', { delta: 'x' }),
      end({ output: [thought, message(words('Zürich')), looking, free], usage: counts }),
      '[DONE]',
    ),
    'an answer at its end alone': typed(
      begin,
      end({ output: [message(words('a')), { ...looking, namespace: 'crm' }] }),
    ),
    'an answer in items alone': typed(begin, done(0, message(words('a'), words('b'))), done(1, free), end()),
    'raw reasoning': typed(
      begin,
      item(0, 'response.reasoning_text.delta', { delta: 'hm' }),
      item(0, 'response.reasoning.delta', { delta: 'so' }),
      end(),
    ),
    'items with other numbers at the end': typed(
      begin,
      item(1, 'response.output_text.delta', { delta: 'a' }),
      end({ output: [thought, message(words('a')), looking] }),
    ),
    'searches of a stream that breaks': typed(begin, done(0, { type: 'web_search_call' })),
    'searches that are counted': plain(
      response({
        output: [{ type: 'web_search_call' }],
        tool_usage: { web_search: { num_requests: 3 } },
        usage: counts,
      }),
    ),
    'searches of xAI': plain(
      response({
        usage: { ...counts, server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 1 } },
      }),
    ),
    'no output': plain({ object: 'response' }),
    'an error': plain({ error: { message: 'No.', code: 'rate_limit_exceeded' } }),
    'a response that failed': plain(
      response({ status: 'failed', error: { code: 'server_error', message: 'No.' } }),
    ),
    'a response that was cancelled': plain(response({ status: 'cancelled' })),
    'a response that waits': plain(response({ status: 'queued' })),
    'a response that runs': plain(response({ status: 'in_progress' })),
    'a stream that failed': typed(begin, {
      type: 'response.failed',
      response: response({ error: { code: 'invalid_prompt', message: 'No.' } }),
    }),
    'an error of a stream': typed(begin, { type: 'error', code: 'x', message: 'No.', param: null }),
    'an error in its envelope': typed(begin, item(0, 'response.output_text.delta', { delta: 'a' }), {
      type: 'error',
      error: { type: 'invalid_request_error', message: '' },
    }),
    'an end too early': typed(begin, item(0, 'response.output_text.delta', { delta: 'a' })),
    'nothing but a beginning': typed(begin, { type: 'response.queued', response: response({}) }),
    'an event that is none': typed(begin, '[1]'),
    'an event without an end': ENDLESS,
    'more cached and written than there was': plain(
      response({
        usage: {
          input_tokens: 5,
          output_tokens: 0,
          input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3, cache_write_1h_tokens: 2 },
        },
      }),
    ),
    'counts of one side': plain(response({ usage: { output_tokens: 2 } })),
    ...finishes(['max_output_tokens', 'max_tokens', 'content_filter', 'steered'], (reason) =>
      plain(response({ status: 'incomplete', incomplete_details: { reason } })),
    ),
    'ends incomplete': typed({ type: 'response.incomplete', response: response({ status: 'incomplete' }) }),
  },
};
