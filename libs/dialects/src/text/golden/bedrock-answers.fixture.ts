import type { Json } from '../upstream-requests.fixture.js';
import { eventFrame } from '../upstream-streams.fixture.js';
import { binary, finishes, plain, type GoldenDialect } from './answers.fixture.js';

const delta = (contentBlockIndex: number, value: Json): Json => ({
  contentBlockDelta: { contentBlockIndex, delta: value, p: 'abcd' },
});
const start = (contentBlockIndex: number, value: Json): Json => ({
  contentBlockStart: { contentBlockIndex, start: value },
});
const stop = (contentBlockIndex: number): Json => ({ contentBlockStop: { contentBlockIndex } });
const end = (stopReason: string, more: Json = {}): Json => ({ messageStop: { stopReason, ...more } });
const usage = {
  inputTokens: 12,
  outputTokens: 9,
  totalTokens: 29,
  cacheReadInputTokens: 3,
  cacheWriteInputTokens: 5,
  cacheDetails: [
    { ttl: '1h', inputTokens: 2 },
    { ttl: '5m', inputTokens: 3 },
  ],
  cost: 5,
  extra: 1,
};
const whole = (content: Json[], more: Json = {}): Json => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  ...more,
});
const thrown = (name: string, body: Json): Uint8Array => eventFrame({ [name]: body }, 'exception');

export const BEDROCK_ANSWERS: GoldenDialect = {
  toolNames: { short: 'the_long_name' },
  answers: {
    everything: plain(
      whole(
        [
          { reasoningContent: { reasoningText: { text: 'hm', signature: 'c2ln' } } },
          { reasoningContent: { redactedContent: 'ZGF0YQ==' } },
          { text: 'Zürich' },
          { toolUse: { toolUseId: 't1', name: 'short', input: { city: 'Bern' } } },
          { toolUse: { name: 'now' } },
        ],
        { stopReason: 'tool_use', usage },
      ),
    ),
    'a stream of everything': binary(
      { messageStart: { role: 'assistant' } },
      delta(0, { reasoningContent: { text: 'hm' } }),
      delta(0, { reasoningContent: { signature: 'c2' } }),
      delta(0, { reasoningContent: { signature: 'ln' } }),
      stop(0),
      delta(1, { text: 'Zürich' }),
      start(2, { toolUse: { toolUseId: 't1', name: 'short' } }),
      delta(2, { toolUse: { input: '{"city":' } }),
      delta(2, { toolUse: { input: '"Bern"}' } }),
      stop(2),
      start(3, { toolUse: { toolUseId: 't2', name: 'now' } }),
      delta(3, { toolUse: { input: '' } }),
      { metadata: { usage, metrics: { latencyMs: 9 } } },
      { somethingNew: {} },
      end('tool_use'),
    ),
    'tools of the provider': binary(
      start(0, { toolUse: { toolUseId: 's1', name: 'search', type: 'server_tool_use' } }),
      delta(0, { toolUse: { input: '{}' } }),
      stop(0),
      start(1, { toolResult: { toolUseId: 's1' } }),
      delta(1, { text: 'found' }),
      stop(1),
      delta(2, { text: 'So.' }),
      end('end_turn'),
    ),
    'a block begun twice': binary(
      start(0, { toolUse: { toolUseId: 't1', name: 'a' } }),
      start(0, { toolUse: { toolUseId: 't2', name: 'b' } }),
      end('tool_use'),
      delta(0, { text: 'late' }),
      end('max_tokens'),
    ),
    citations: plain(
      whole([
        {
          citationsContent: {
            content: [{ text: 'One, ' }, { text: 'two.' }],
            citations: [
              { title: 'A', location: { web: { url: 'https://a.example' } } },
              { title: 'B', location: { documentChar: {} } },
            ],
          },
        },
      ]),
    ),
    'a stop sequence': plain(
      whole([{ text: 'a' }], {
        stopReason: 'stop_sequence',
        additionalModelResponseFields: { stop_sequence: 'END' },
      }),
    ),
    'input as an object': binary(
      start(0, { toolUse: { toolUseId: 't1', name: 'a' } }),
      delta(0, { toolUse: { input: { a: 1 } } }),
      end('tool_use'),
    ),
    'no output': plain({ message: 'Internal' }),
    'no reason': plain(whole([{ text: 'a' }], { stopReason: undefined })),
    'counts of one side': plain(whole([], { usage: { outputTokens: 2 } })),
    'counts that are none': plain(whole([], { usage: { inputTokens: -2, outputTokens: 1.5 } })),
    'more in the hour than was written': plain(
      whole([], {
        usage: { inputTokens: 1, cacheWriteInputTokens: 2, cacheDetails: [{ ttl: '1h', inputTokens: 7 }] },
      }),
    ),
    ...Object.fromEntries(
      [
        'validationException',
        'modelTimeoutException',
        'modelStreamErrorException',
        'throttlingException',
        'internalServerException',
        'serviceUnavailableException',
        'newException',
      ].map((name) => [
        `an end by ${name}`,
        binary(delta(0, { text: 'a' }), thrown(name, { message: 'No.' })),
      ]),
    ),
    'an exception without words': binary(thrown('throttlingException', {})),
    'an exception with the words of the model': binary(
      thrown('modelStreamErrorException', { originalMessage: 'Oh.' }),
    ),
    'an end too early': binary(delta(0, { text: 'a' })),
    'an end in the middle of a frame': binary(
      delta(0, { text: 'a' }),
      eventFrame(end('end_turn')).subarray(0, 30),
    ),
    'a damaged frame': binary(
      Buffer.from('00000020000000000000000000000000000000000000000000000000000000ff', 'hex'),
    ),
    'a frame of no length': binary(Buffer.alloc(16)),
    'a frame too long': binary(Buffer.concat([Buffer.from('7fffffff', 'hex'), Buffer.alloc(12)])),
    ...finishes(
      [
        'end_turn',
        'stop_sequence',
        'tool_use',
        'max_tokens',
        'model_context_window_exceeded',
        'content_filtered',
        'guardrail_intervened',
        'malformed_model_output',
      ],
      (stopReason) => plain(whole([{ text: 'a' }], { stopReason })),
    ),
  },
};
