import { EventStreamCodec } from '@smithy/core/event-streams';
import { tokensOf } from '@gateway/testing';

type Path = readonly (string | number)[];

/** The places of a format for the JSON of a call, of its result and of the schemas. */
interface Places {
  input: Path;
  result: Path;
  schema: Path;
  format: Path | null;
}

/** The schema of a tool or of an answer with the document in it. */
const schemaOf = (json: string): string =>
  `{"type":"object","properties":{"x":{"type":"object","default":${json}}},"required":["x"],"additionalProperties":false}`;
const DEFAULT = ['properties', 'x', 'default'];

/** Requests of each caller's format: a call, its result, a tool and an answer's schema of one JSON object each. */
export const ASKING: Readonly<Record<string, (json: string, stream: boolean) => string>> = {
  '/chat/completions': (json, stream) => {
    const text = JSON.stringify(json);
    return (
      `{"model":"m","stream":${stream},"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,` +
      `"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":${text}}}]},` +
      `{"role":"tool","tool_call_id":"call_1","content":${text}}],"tools":[{"type":"function","function":{"name":"look",` +
      `"parameters":${schemaOf(json)}}}],"response_format":{"type":"json_schema","json_schema":{"name":"out",` +
      `"schema":${schemaOf(json)}}}}`
    );
  },
  '/messages': (json, stream) =>
    `{"model":"m","max_tokens":99,"stream":${stream},"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":` +
    `[{"type":"tool_use","id":"toolu_1","name":"look","input":${json}}]},{"role":"user","content":[{"type":"tool_result",` +
    `"tool_use_id":"toolu_1","content":${JSON.stringify(json)}}]}],"tools":[{"name":"look","input_schema":${schemaOf(json)}}],` +
    `"output_config":{"format":{"type":"json_schema","schema":${schemaOf(json)}}}}`,
  '/responses': (json, stream) => {
    const text = JSON.stringify(json);
    return (
      `{"model":"m","stream":${stream},"input":[{"type":"message","role":"user","content":"hi"},{"type":"function_call",` +
      `"call_id":"call_1","name":"look","arguments":${text}},{"type":"function_call_output","call_id":"call_1",` +
      `"output":${text}}],"tools":[{"type":"function","name":"look","parameters":${schemaOf(json)}}],` +
      `"text":{"format":{"type":"json_schema","name":"out","schema":${schemaOf(json)}}}}`
    );
  },
};

/** Places in each upstream's request. */
export const SENT: Readonly<Record<string, Places>> = {
  chat: {
    input: ['messages', 1, 'tool_calls', 0, 'function', 'arguments'],
    result: ['messages', 2, 'content'],
    schema: ['tools', 0, 'function', 'parameters', ...DEFAULT],
    format: ['response_format', 'json_schema', 'schema', ...DEFAULT],
  },
  messages: {
    input: ['messages', 1, 'content', 0, 'input'],
    result: ['messages', 2, 'content', 0, 'content'],
    schema: ['tools', 0, 'input_schema', ...DEFAULT],
    format: ['output_config', 'format', 'schema', ...DEFAULT],
  },
  responses: {
    input: ['input', 1, 'arguments'],
    result: ['input', 2, 'output'],
    schema: ['tools', 0, 'parameters', ...DEFAULT],
    format: ['text', 'format', 'schema', ...DEFAULT],
  },
  gemini: {
    input: ['contents', 1, 'parts', 0, 'functionCall', 'args'],
    result: ['contents', 2, 'parts', 0, 'functionResponse', 'response'],
    schema: ['tools', 0, 'functionDeclarations', 0, 'parametersJsonSchema', ...DEFAULT],
    format: ['generationConfig', 'responseJsonSchema', ...DEFAULT],
  },
  converse: {
    input: ['messages', 1, 'content', 0, 'toolUse', 'input'],
    result: ['messages', 2, 'content', 0, 'toolResult', 'content', 0, 'json'],
    schema: ['toolConfig', 'tools', 0, 'toolSpec', 'inputSchema', 'json', ...DEFAULT],
    format: ['outputConfig', 'textFormat', 'structure', 'jsonSchema', 'schema', ...DEFAULT],
  },
  ollama: {
    input: ['messages', 1, 'tool_calls', 0, 'function', 'arguments'],
    result: ['messages', 2, 'content'],
    schema: ['tools', 0, 'function', 'parameters', ...DEFAULT],
    format: ['format', ...DEFAULT],
  },
  cohere: {
    input: ['messages', 1, 'tool_calls', 0, 'function', 'arguments'],
    result: ['messages', 2, 'content'],
    schema: ['tools', 0, 'function', 'parameters', ...DEFAULT],
    format: null,
  },
};

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

function eventFrame(name: string, payload: string): Uint8Array {
  return codec.encode({
    headers: {
      ':message-type': { type: 'string', value: 'event' },
      ':event-type': { type: 'string', value: name },
      ':content-type': { type: 'string', value: 'application/json' },
    },
    body: Buffer.from(payload),
  });
}

const sse = (...frames: string[]): Buffer =>
  Buffer.from(frames.map((data) => `data: ${data.replaceAll('\n', ' ')}\n\n`).join(''));
const chatAnswer = (member: string, json: string, isObject: boolean): string => {
  const input = isObject ? json : JSON.stringify(json);
  return (
    `{"id":"c1","created":1,"model":"m","choices":[{"index":0,"${member}":{"role":"assistant","content":null,` +
    `"own_message":${json},"tool_calls":[{"index":0,"id":"call_9","type":"function","own_call":${json},` +
    `"function":{"name":"look","arguments":${input}}}]},"own_choice":${json},"finish_reason":"tool_calls"}],` +
    `"own_answer":${json},"own_number":1.0}`
  );
};
const geminiAnswer = (json: string): string =>
  `{"responseId":"g1","candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"id":"call_9",` +
  `"name":"look","args":${json}}}]},"finishReason":"STOP"}]}`;
const ollamaAnswer = (json: string): string =>
  `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[` +
  `{"function":{"name":"look","arguments":${json}}}]},"done":true,"done_reason":"stop"}`;
const responsesAnswer = (json: string): string =>
  `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"id":"fc_1",` +
  `"type":"function_call","call_id":"call_9","name":"look","arguments":${JSON.stringify(json)},"status":"completed"}],` +
  `"own_answer":${json},"own_number":1.0}`;
const message = (content: string, more = ''): string =>
  `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[${content}],"stop_reason":"tool_use",` +
  `"usage":{"input_tokens":1,"output_tokens":1}${more}}`;
const toolUse = (json: string): string => `{"type":"tool_use","id":"toolu_9","name":"look","input":${json}}`;

interface UpstreamAnswer {
  contentType: string;
  bytes: Buffer;
}

/** Answers of each upstream's format that call a tool with the JSON object: plain ones and streams, in each spelling. */
export const ANSWERS: Readonly<
  Record<string, { plain: ((json: string) => string)[]; stream: ((json: string) => UpstreamAnswer)[] }>
> = {
  chat: {
    plain: [(json) => chatAnswer('message', json, false), (json) => chatAnswer('message', json, true)],
    stream: [false, true].map((isObject) => (json) => ({
      contentType: 'text/event-stream',
      bytes: sse(chatAnswer('delta', json, isObject), '[DONE]'),
    })),
  },
  messages: {
    plain: [(json) => message(toolUse(json), `,"own_answer":${json},"own_number":1.0`)],
    stream: [false, true].map((isWhole) => (json) => ({
      contentType: 'text/event-stream',
      bytes: sse(
        `{"type":"message_start","message":${message('')}}`,
        `{"type":"content_block_start","index":0,"content_block":${toolUse(isWhole ? json : '{}')}}`,
        ...(isWhole
          ? []
          : [
              `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${JSON.stringify(json)}}}`,
            ]),
        '{"type":"content_block_stop","index":0}',
        '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}',
        '{"type":"message_stop"}',
      ),
    })),
  },
  responses: {
    plain: [responsesAnswer],
    stream: [
      (json) => ({
        contentType: 'text/event-stream',
        bytes: sse(`{"type":"response.completed","sequence_number":0,"response":${responsesAnswer(json)}}`),
      }),
    ],
  },
  gemini: {
    plain: [geminiAnswer],
    stream: [(json) => ({ contentType: 'text/event-stream', bytes: sse(geminiAnswer(json)) })],
  },
  converse: {
    plain: [
      (json) =>
        `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"call_9","name":"look","input":${json}}}]}},` +
        `"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`,
    ],
    stream: [false, true].map((isObject) => (json) => ({
      contentType: 'application/vnd.amazon.eventstream',
      bytes: Buffer.concat([
        eventFrame(
          'contentBlockStart',
          '{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"call_9","name":"look"}}}',
        ),
        eventFrame(
          'contentBlockDelta',
          `{"contentBlockIndex":0,"delta":{"toolUse":{"input":${isObject ? json : JSON.stringify(json)}}}}`,
        ),
        eventFrame('contentBlockStop', '{"contentBlockIndex":0}'),
        eventFrame('messageStop', '{"stopReason":"tool_use"}'),
      ]),
    })),
  },
  ollama: {
    plain: [ollamaAnswer],
    stream: [
      (json) => ({
        contentType: 'application/x-ndjson',
        bytes: Buffer.from(`${ollamaAnswer(json).replaceAll('\n', ' ')}\n`),
      }),
    ],
  },
  cohere: {
    plain: [
      (json) =>
        `{"id":"c1","message":{"role":"assistant","tool_calls":[{"id":"call_9","type":"function","function":{"name":"look",` +
        `"arguments":${JSON.stringify(json)}}}]},"finish_reason":"TOOL_CALL"}`,
    ],
    stream: [
      (json) => ({
        contentType: 'text/event-stream',
        bytes: sse(
          '{"type":"message-start","id":"c1"}',
          `{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"call_9","type":"function","function":` +
            `{"name":"look","arguments":${JSON.stringify(json)}}}}}}`,
          '{"type":"message-end","delta":{"finish_reason":"TOOL_CALL"}}',
        ),
      }),
    ],
  },
};

/** Place of a call's input in each caller's plain answer. */
const SHOWN: Readonly<Record<string, Path>> = {
  '/chat/completions': ['choices', 0, 'message', 'tool_calls', 0, 'function', 'arguments'],
  '/messages': ['content', 0, 'input'],
  '/responses': ['output', 0, 'arguments'],
};

/** Tokens of the input in a plain answer. */
export function shownPlain(path: string, answer: string): string[] {
  return jsonAt(tokensOf(answer), SHOWN[path]);
}

/** Tokens of the input in a stream. */
export function shownStream(path: string, stream: string): string[] {
  const frames = [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => tokensOf(data));
  const texts = (...at: Path): string => frames.map((frame) => stringOf(valueAt(frame, at))).join('');
  if (path === '/responses')
    return tokensOf(texts('item', 'arguments') || texts('response', 'output', 0, 'arguments'));
  // A chunk may hold the start of a call and its arguments.
  if (path === '/chat/completions') {
    const pieces = frames.flatMap((frame) =>
      [0, 1].map((at) => valueAt(frame, ['choices', 0, 'delta', 'tool_calls', at, 'function', 'arguments'])),
    );
    return tokensOf(pieces.map(stringOf).join(''));
  }
  const fragments = texts('delta', 'partial_json');
  const whole = frames
    .map((frame) => valueAt(frame, ['content_block', 'input']))
    .find((value) => value.length > 0);
  return fragments === '' ? (whole ?? []) : tokensOf(fragments);
}

/** Tokens of the JSON at the path of a text, which may be written as a string there, or within a list of text parts. */
export function jsonAt(tokens: string[], path: Path): string[] {
  const at = path.findIndex((_, depth) => valueAt(tokens, path.slice(0, depth + 1))[0]?.startsWith('"'));
  const value = valueAt(tokens, at < 0 ? path : path.slice(0, at + 1));
  if (value[0] === '[') return jsonAt(value, [0, 'text']);
  if (!value[0]?.startsWith('"')) return value;
  return jsonAt(tokensOf(stringOf(value)), at < 0 ? [] : path.slice(at + 1));
}

function stringOf([token]: string[]): string {
  return token?.startsWith('"') ? (JSON.parse(token) as string) : '';
}

/** Tokens of the value at the path; none where there is none. */
export function valueAt(tokens: string[], [step, ...rest]: Path): string[] {
  if (step === undefined) return tokens;
  const isArray = tokens[0] === '[';
  if (isArray !== (typeof step === 'number')) return [];
  let at = 1;
  for (let index = 0; at < tokens.length - 1; index += 1) {
    const name = isArray ? index : (JSON.parse(tokens[at]) as string);
    if (!isArray) at += 2;
    const start = at;
    let depth = 0;
    do {
      if (tokens[at] === '{' || tokens[at] === '[') depth += 1;
      if (tokens[at] === '}' || tokens[at] === ']') depth -= 1;
      at += 1;
    } while (depth > 0 && at < tokens.length);
    if (name === step) return valueAt(tokens.slice(start, at), rest);
    at += 1;
  }
  return [];
}
