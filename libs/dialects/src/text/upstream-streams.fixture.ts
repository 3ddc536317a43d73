import { EventStreamCodec } from '@smithy/core/event-streams';
import type { RouteTarget } from '../translation/translation.js';

type Json = Record<string, unknown>;

/** Streams of upstream formats, made by hand: reasoning, a text, and two calls of which one has no arguments. */
export interface UpstreamSample {
  dialect: string;
  /** One per frame. */
  frames: Json[];
  /** Returns the wire form. */
  framed: (frame: Json) => Uint8Array;
  /** Bytes behind the last frame. */
  closing: string;
  /** The plain answer that says the same. */
  plain: Json;
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

/** A frame of application/vnd.amazon.eventstream; its only member is the event's name. */
export function eventFrame(frame: Json, messageType = 'event'): Uint8Array {
  const [[name, payload] = ['', {}]] = Object.entries(frame);
  return codec.encode({
    headers: {
      ':message-type': { type: 'string', value: messageType },
      [messageType === 'event' ? ':event-type' : ':exception-type']: { type: 'string', value: name },
      ':content-type': { type: 'string', value: 'application/json' },
    },
    body: Buffer.from(JSON.stringify(payload)),
  });
}

const sse = (frame: Json): Uint8Array => Buffer.from(`data: ${JSON.stringify(frame)}\r\n\r\n`);
const typed = (frame: Json): Uint8Array =>
  Buffer.from(
    `event: ${typeof frame.type === 'string' ? frame.type : ''}\ndata: ${JSON.stringify(frame)}\n\n`,
  );
const line = (frame: Json): Uint8Array => Buffer.from(`${JSON.stringify(frame)}\n`);

const usageMetadata = {
  promptTokenCount: 20,
  cachedContentTokenCount: 4,
  candidatesTokenCount: 7,
  thoughtsTokenCount: 5,
  totalTokenCount: 32,
  trafficType: 'ON_DEMAND',
};
const candidate = (parts: Json[], more: Json = {}): Json => ({
  responseId: 'gem-1',
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
});
const THOUGHT = { text: 'Zwei Städte – 两个.', thought: true };
const PARIS = { functionCall: { name: 'weather', args: { city: 'Zürich' } }, thoughtSignature: 'c2ln+/8=' };
const NOW = { functionCall: { name: 'now' } };

const GEMINI: UpstreamSample = {
  dialect: 'gemini',
  frames: [
    candidate([THOUGHT]),
    candidate([{ text: 'Let me look' }]),
    candidate([{ text: '. 🌦' }, PARIS]),
    { ...candidate([NOW], { finishReason: 'STOP' }), usageMetadata },
  ],
  framed: sse,
  closing: '',
  plain: {
    ...candidate([THOUGHT, { text: 'Let me look. 🌦' }, PARIS, NOW], { finishReason: 'STOP' }),
    usageMetadata,
  },
};

const usage = {
  inputTokens: 12,
  cacheReadInputTokens: 4,
  cacheWriteInputTokens: 4,
  outputTokens: 12,
  totalTokens: 32,
};
const delta = (contentBlockIndex: number, value: Json): Json => ({
  contentBlockDelta: { contentBlockIndex, delta: value, p: 'abcd' },
});
const call = (contentBlockIndex: number, toolUseId: string, name: string): Json => ({
  contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId, name } } },
});
const stop = (contentBlockIndex: number): Json => ({ contentBlockStop: { contentBlockIndex } });

const CONVERSE: UpstreamSample = {
  dialect: 'converse',
  frames: [
    { messageStart: { role: 'assistant' } },
    delta(0, { reasoningContent: { text: 'Zwei Städte – 两个.' } }),
    delta(0, { reasoningContent: { signature: 'c2ln' } }),
    stop(0),
    delta(1, { text: 'Let me look' }),
    delta(1, { text: '. 🌦' }),
    stop(1),
    call(2, 'tooluse_1', 'weather'),
    delta(2, { toolUse: { input: '{"city":' } }),
    delta(2, { toolUse: { input: '"Zürich"}' } }),
    stop(2),
    call(3, 'tooluse_2', 'now'),
    delta(3, { toolUse: { input: '' } }),
    stop(3),
    { messageStop: { stopReason: 'tool_use' } },
    { metadata: { usage, metrics: { latencyMs: 9 } } },
  ],
  framed: (frame) => eventFrame(frame),
  closing: '',
  plain: {
    output: {
      message: {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Zwei Städte – 两个.', signature: 'c2ln' } } },
          { text: 'Let me look. 🌦' },
          { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Zürich' } } },
          { toolUse: { toolUseId: 'tooluse_2', name: 'now', input: {} } },
        ],
      },
    },
    stopReason: 'tool_use',
    usage,
  },
};

const cohereUsage = {
  billed_units: { input_tokens: 3, output_tokens: 4 },
  tokens: { input_tokens: 20, output_tokens: 12 },
  cached_tokens: 4,
};
const content = (value: Json): Json => ({
  type: 'content-delta',
  index: 0,
  delta: { message: { content: value } },
});

const COHERE: UpstreamSample = {
  dialect: 'cohere',
  frames: [
    { type: 'message-start', id: 'coh-1', delta: { message: { role: 'assistant', content: [] } } },
    content({ thinking: 'Zwei Städte – 两个.' }),
    content({ text: 'Let me look' }),
    content({ text: '. 🌦' }),
    {
      type: 'tool-call-start',
      index: 0,
      delta: {
        message: {
          tool_calls: { id: 'w_1', type: 'function', function: { name: 'weather', arguments: '' } },
        },
      },
    },
    {
      type: 'tool-call-delta',
      index: 0,
      delta: { message: { tool_calls: { function: { arguments: '{"city":' } } } },
    },
    {
      type: 'tool-call-delta',
      index: 0,
      delta: { message: { tool_calls: { function: { arguments: '"Zürich"}' } } } },
    },
    { type: 'tool-call-end', index: 0 },
    {
      type: 'tool-call-start',
      index: 1,
      delta: {
        message: { tool_calls: { id: 'n_1', type: 'function', function: { name: 'now', arguments: '' } } },
      },
    },
    { type: 'tool-call-end', index: 1 },
    { type: 'message-end', delta: { finish_reason: 'TOOL_CALL', usage: cohereUsage } },
  ],
  framed: typed,
  closing: 'data: [DONE]\n\n',
  plain: {
    id: 'coh-1',
    message: {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Zwei Städte – 两个.' },
        { type: 'text', text: 'Let me look. 🌦' },
      ],
      tool_calls: [
        { id: 'w_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Zürich"}' } },
        { id: 'n_1', type: 'function', function: { name: 'now', arguments: 'null' } },
      ],
    },
    finish_reason: 'TOOL_CALL',
    usage: cohereUsage,
  },
};

const said = (message: Json, more: Json = {}): Json => ({
  model: 'm',
  created_at: '2026-11-22T10:00:00.1Z',
  message: { role: 'assistant', content: '', ...message },
  done: false,
  ...more,
});
const done = { done: true, done_reason: 'stop', prompt_eval_count: 20, eval_count: 12 };
const calls = [
  { function: { name: 'weather', arguments: { city: 'Zürich' } } },
  { function: { name: 'now', arguments: {} } },
];

const OLLAMA: UpstreamSample = {
  dialect: 'ollama',
  frames: [
    said({ thinking: 'Zwei Städte – 两个.' }),
    said({ content: 'Let me look' }),
    said({ content: '. 🌦' }),
    said({ tool_calls: calls }),
    said({}, done),
  ],
  framed: line,
  closing: '',
  plain: said({ thinking: 'Zwei Städte – 两个.', content: 'Let me look. 🌦', tool_calls: calls }, done),
};

export const UPSTREAM_SAMPLES: readonly UpstreamSample[] = [GEMINI, CONVERSE, COHERE, OLLAMA];

export function streamOf(
  { frames, framed, closing }: UpstreamSample,
  list: readonly Json[] = frames,
): Buffer {
  return Buffer.concat([...list.map((frame) => framed(frame)), Buffer.from(closing)]);
}

export const target = (more: Partial<RouteTarget> = {}): RouteTarget => ({
  dialect: 'gemini',
  upstreamModel: 'model-1',
  maxOutputTokens: 8_192,
  contextLength: 128_000,
  reasoning: { style: 'effort', efforts: ['low', 'medium', 'high'] },
  fixesSampling: false,
  quirks: {},
  ...more,
});
