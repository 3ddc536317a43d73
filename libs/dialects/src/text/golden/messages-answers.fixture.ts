import type { Json } from '../upstream-requests.fixture.js';
import { ENDLESS, finishes, plain, typed, type GoldenDialect } from './answers.fixture.js';

const usage = {
  input_tokens: 12,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 3,
  cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 2 },
  output_tokens: 1,
  service_tier: 'standard',
};
const start = (more: Json = {}): Json => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], usage, ...more },
});
const block = (index: number, content_block: Json): Json => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, value: Json): Json => ({ type: 'content_block_delta', index, delta: value });
const stop = (index: number): Json => ({ type: 'content_block_stop', index });
const text = (index: number, value: string): Json => delta(index, { type: 'text_delta', text: value });
const end = (stop_reason: string | null, more: Json = {}, counts?: Json): Json => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null, ...more },
  ...(counts && { usage: counts }),
});
const STOP = { type: 'message_stop' };
const whole = (content: Json[], more: Json = {}): ReturnType<typeof plain> =>
  plain({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
    ...more,
  });
const counted = (more: Json): ReturnType<typeof plain> => whole([], { usage: more });
const cited = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'x' };
const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };

export const MESSAGES_ANSWERS: GoldenDialect = {
  answers: {
    everything: whole(
      [
        { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'ZGF0YQ==' },
        { type: 'text', text: 'Zürich', citations: [cited, { type: 'char_location' }] },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { city: 'Bern' } },
        search,
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      ],
      {
        stop_reason: 'tool_use',
        usage: {
          ...usage,
          output_tokens: 12,
          output_tokens_details: { thinking_tokens: 5 },
          server_tool_use: { web_search_requests: 2 },
          cost: 1,
        },
      },
    ),
    'a stream of everything': typed(
      start(),
      { type: 'ping' },
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'signature_delta', signature: 'c2' }),
      delta(0, { type: 'signature_delta', signature: 'ln' }),
      stop(0),
      block(1, { type: 'redacted_thinking', data: 'ZGF0YQ==' }),
      stop(1),
      block(2, { type: 'text', text: '' }),
      text(2, 'Zür'),
      text(2, 'ich'),
      delta(2, { type: 'citations_delta', citation: cited }),
      stop(2),
      block(3, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }),
      delta(3, { type: 'input_json_delta', partial_json: '' }),
      delta(3, { type: 'input_json_delta', partial_json: '{"city":' }),
      delta(3, { type: 'input_json_delta', partial_json: '"Bern"}' }),
      stop(3),
      block(4, { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} }),
      stop(4),
      block(5, search),
      stop(5),
      { type: 'something_new' },
      end('tool_use', {}, { output_tokens: 12, input_tokens: 14, cache_read_input_tokens: null }),
      end('max_tokens'),
      STOP,
      text(2, 'late'),
    ),
    'a call that is left open': typed(
      start(),
      block(0, { type: 'tool_use', id: 't', name: 'now', input: { a: 1 } }),
      end('tool_use'),
      STOP,
    ),
    'a stop sequence': whole([{ type: 'text', text: 'a' }], {
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    }),
    'a refusal with its reasons': typed(
      start(),
      end('refusal', { stop_details: { type: 'refusal', category: 'cyber', price: 1 } }),
      STOP,
    ),
    'a start twice': typed(start(), start(), text(0, 'a'), end('end_turn'), STOP),
    'another start': typed(start(), start({ id: 'msg_2' })),
    'an event before the start': typed(text(0, 'a')),
    'no reason': typed(start(), text(0, 'a'), STOP),
    'no content': plain({ id: 'msg_1', type: 'message' }),
    ...Object.fromEntries(
      [
        'invalid_request_error',
        'rate_limit_error',
        'api_error',
        'timeout_error',
        'overloaded_error',
        'new_error',
      ].map((type) => [`fails with ${type}`, typed({ type: 'error', error: { type, message: 'No.' } })]),
    ),
    'fails without words': plain({ type: 'error', error: {} }),
    'an error in the middle': typed(
      start(),
      text(0, 'a'),
      { type: 'error', error: { type: 'overloaded_error', message: 'No.' } },
      STOP,
    ),
    'events of the host': {
      stream: Buffer.from(
        `event: vertex_event\ndata: {"x":1}\n\ndata: {"type":"vertex_event"}\n\ndata: ${JSON.stringify(start())}\n\ndata: [DONE]\n\n`,
      ),
    },
    'an end too early': typed(start(), text(0, 'a')),
    'nothing at all': typed(),
    'an event that is none': typed(start(), '[1]', STOP),
    'an event without an end': ENDLESS,
    'counts without a split': counted({ input_tokens: 1, cache_creation_input_tokens: 4, output_tokens: 2 }),
    'counts by their split': counted({
      input_tokens: 1,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 2 },
      output_tokens: 2,
    }),
    'more in the hour than was written': counted({
      input_tokens: 1,
      cache_creation_input_tokens: 1,
      cache_creation: { ephemeral_1h_input_tokens: 9 },
    }),
    'counts that are none': counted({ input_tokens: -1, output_tokens: 'x' }),
    'counts with a compaction': counted({
      input_tokens: 1,
      output_tokens: 2,
      iterations: [
        { type: 'compaction', input_tokens: 10, output_tokens: 20 },
        { type: 'message', input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 4 },
        { type: 'advisor_message', input_tokens: 500, output_tokens: 500 },
      ],
    }),
    'counts behind a fallback': counted({
      input_tokens: 1,
      output_tokens: 2,
      iterations: [
        { type: 'compaction', input_tokens: 10 },
        { type: 'fallback_message', input_tokens: 1 },
      ],
    }),
    ...finishes(
      [
        'end_turn',
        'max_tokens',
        'stop_sequence',
        'tool_use',
        'refusal',
        'model_context_window_exceeded',
        'pause_turn',
        'compaction',
        'new',
      ],
      (stop_reason) => whole([{ type: 'text', text: 'a' }], { stop_reason }),
    ),
  },
};
