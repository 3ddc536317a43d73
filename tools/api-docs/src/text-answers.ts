import { count, flag, kind, list, number, object, open, orNull, seconds, text } from './answer-parts.js';
import type { Schema } from './class-schemas.js';
import { ref } from './operation.js';

const TOOL_CALL = object({
  id: text,
  type: { type: 'string', enum: ['function', 'custom'] },
  'function?': object({ name: text, arguments: text }),
  'custom?': object({ name: text, input: text }),
});

const ANNOTATIONS = list(
  object({
    type: text,
    'url_citation?': object({ url: text, title: text, start_index: count, end_index: count }),
  }),
);

/** The gateway's own members of every usage object. */
const SERVED = {
  byok_used: { ...flag, description: "True if one of the organization's provider keys was used." },
  fallback_triggered: { ...flag, description: 'True if another route than the first answered.' },
};

const RESPONSE_USAGE = orNull(
  object({
    input_tokens: count,
    output_tokens: count,
    total_tokens: count,
    'input_tokens_details?': object({
      'cached_tokens?': count,
      'cache_write_tokens?': count,
      'cache_write_1h_tokens?': count,
      'audio_tokens?': count,
    }),
    'output_tokens_details?': object({
      'reasoning_tokens?': count,
      'audio_tokens?': count,
      'accepted_prediction_tokens?': count,
      'rejected_prediction_tokens?': count,
    }),
    ...SERVED,
  }),
);

/** Answers of chat, messages and responses. Providers may add members, so that none of these is closed. */
export const TEXT_ANSWERS: Readonly<Record<string, Schema>> = {
  ChatUsage: object({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    'prompt_tokens_details?': object({
      cached_tokens: count,
      cache_write_tokens: count,
      cache_write_1h_tokens: {
        ...count,
        description: 'Those of `cache_write_tokens` that are kept for an hour.',
      },
      audio_tokens: count,
    }),
    'completion_tokens_details?': object({
      reasoning_tokens: count,
      audio_tokens: count,
      accepted_prediction_tokens: count,
      rejected_prediction_tokens: count,
    }),
    ...SERVED,
  }),
  ChatCompletion: object(
    {
      id: text,
      object: kind('chat.completion'),
      created: seconds,
      model: text,
      choices: list(
        object({
          index: count,
          message: object({
            role: kind('assistant'),
            content: orNull(text),
            'refusal?': orNull(text),
            'reasoning_content?': text,
            'reasoning?': text,
            'reasoning_details?': list(object({ type: text })),
            'annotations?': ANNOTATIONS,
            'tool_calls?': list(TOOL_CALL),
            'function_call?': object({ name: text, arguments: text }),
            'audio?': orNull(open),
          }),
          'logprobs?': orNull(open),
          finish_reason: orNull(text),
          native_finish_reason: { ...orNull(text), description: "The provider's own word." },
        }),
      ),
      'usage?': ref('ChatUsage'),
      'service_tier?': orNull(text),
      'system_fingerprint?': orNull(text),
    },
    'With `stream: true` the same in chunks, as server-sent events.',
  ),
  MessagesAnswer: object(
    {
      id: text,
      type: kind('message'),
      role: kind('assistant'),
      model: text,
      content: list(
        object({
          type: text,
          'text?': text,
          'citations?': orNull(list(open)),
          'thinking?': text,
          'signature?': text,
          'data?': text,
          'id?': text,
          'name?': text,
          'input?': open,
          'tool_use_id?': text,
          'content?': { description: 'Of a result of a server tool.', anyOf: [list(open), open] },
        }),
      ),
      stop_reason: orNull(text),
      'stop_sequence?': orNull(text),
      'stop_details?': orNull(open),
      'container?': orNull(open),
      usage: object({
        input_tokens: count,
        output_tokens: count,
        'cache_creation_input_tokens?': orNull(count),
        'cache_read_input_tokens?': orNull(count),
        'cache_creation?': orNull(
          object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
        ),
        ...SERVED,
      }),
    },
    'With `stream: true` as server-sent events.',
  ),
  MessagesCount: object({ input_tokens: count }),
  ResponsesCount: object({ object: kind('response.input_tokens'), input_tokens: count }),
  ResponseItem: object({
    type: text,
    'id?': text,
    'role?': text,
    'status?': text,
    'content?': list(open),
    'summary?': list(open),
    'encrypted_content?': orNull(text),
    'call_id?': text,
    'name?': text,
    'arguments?': text,
    'input?': text,
  }),
  Response: object(
    {
      id: text,
      object: kind('response'),
      created_at: number,
      status: text,
      model: text,
      output: list(ref('ResponseItem')),
      'background?': orNull(flag),
      'completed_at?': orNull(number),
      'error?': orNull(open),
      'incomplete_details?': orNull(object({ 'reason?': text })),
      'instructions?': { description: 'As they were asked.', anyOf: [text, list(open), { type: 'null' }] },
      'max_output_tokens?': orNull(count),
      'max_tool_calls?': orNull(count),
      'metadata?': orNull(open),
      'parallel_tool_calls?': orNull(flag),
      'previous_response_id?': orNull(text),
      'prompt_cache_key?': orNull(text),
      'prompt_cache_retention?': orNull(text),
      'reasoning?': orNull(open),
      'safety_identifier?': orNull(text),
      'service_tier?': orNull(text),
      'store?': orNull(flag),
      'temperature?': orNull(number),
      'text?': orNull(open),
      'tool_choice?': { description: 'As it was asked.', anyOf: [text, open, { type: 'null' }] },
      'tools?': orNull(list(open)),
      'top_logprobs?': orNull(count),
      'top_p?': orNull(number),
      'presence_penalty?': orNull(number),
      'frequency_penalty?': orNull(number),
      'truncation?': orNull(text),
      'user?': orNull(text),
      'usage?': RESPONSE_USAGE,
    },
    'With `stream: true` as server-sent events.',
  ),
  CompactedResponse: object({
    id: text,
    object: kind('response.compaction'),
    created_at: seconds,
    output: list(ref('ResponseItem')),
    'usage?': RESPONSE_USAGE,
  }),
};
