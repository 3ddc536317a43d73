import {
  endlessPieces,
  fragmentsOf,
  isEndless,
  piecesOf,
  type Answer,
  type Ask,
  type Tokens,
} from './answer.js';
import { checkMessagesBody, signatureOf } from './check-messages.js';
import type { AnswerContext, SimDialect, SimEvent } from './dialect.js';
import { ANTHROPIC_ERRORS, anthropicError } from './errors-anthropic.js';
import type { NativeError } from './error-table.js';
import { objectOf, objectsOf, parseJson, textOf, type Json, type JsonObject } from './json.js';
import { isOn, oneOf, type Script } from './script.js';

const VERSIONS = new Set(['2023-06-01', '2026-10-21']);

/** Anthropic messages. */
export const messagesDialect: SimDialect = {
  errors: ANTHROPIC_ERRORS,
  checkHeaders,
  check: (body, headers, script) => checkMessagesBody(body, headers['anthropic-version'] ?? '', script),
  refuse: (status, message) => anthropicError(status, 'invalid_request_error', message),
  readAsk,
  plain,
  events,
  errorEvent: (error) => ({ name: 'error', data: JSON.stringify(error.body) }),
  keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
};

/** SDKs of version 2026-10-21 send the key as a bearer token; under 2023-06-01 only x-api-key carries it. */
function checkHeaders(headers: Readonly<Record<string, string>>): NativeError | undefined {
  const version = headers['anthropic-version'];
  const bearer =
    version === '2026-10-21' ? /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] : undefined;
  const key = headers['x-api-key'] ?? bearer;
  if (key === undefined) return anthropicError(401, 'authentication_error', 'x-api-key header is required');
  if (key.includes('invalid')) return ANTHROPIC_ERRORS.get('401-key');
  if (version === undefined) return invalid('anthropic-version: header is required');
  return VERSIONS.has(version)
    ? undefined
    : invalid(`anthropic-version: "${version}" is not a valid version`);
}

function invalid(text: string): NativeError {
  return anthropicError(400, 'invalid_request_error', text);
}

function readAsk(body: JsonObject, _script: Script): Ask {
  const messages = objectsOf(body.messages);
  const lastUser = messages.findLast((message) => message.role === 'user');
  const last = messages.at(-1);
  const results = objectsOf(last?.content).filter((block) => block.type === 'tool_result');
  const format = objectOf(objectOf(body.output_config).format);
  const thinking = objectOf(body.thinking).type;
  const texts = [body.system, ...messages.map((message) => message.content)].map(textsOf);
  return {
    model: textOf(body.model),
    isStream: body.stream === true,
    lastUserText: textsOf(lastUser?.content),
    toolResults: results.map((block) => textsOf(block.content)),
    tools: objectsOf(body.tools).map((tool) => ({ name: textOf(tool.name), schema: tool.input_schema })),
    toolChoice: readChoice(objectOf(body.tool_choice)),
    isParallel: objectOf(body.tool_choice).disable_parallel_tool_use !== true,
    outputSchema: format.type === 'json_schema' ? (format.schema ?? 'object') : undefined,
    isThinking: thinking === 'enabled' || thinking === 'adaptive',
    maxTokens: typeof body.max_tokens === 'number' ? body.max_tokens : undefined,
    promptBytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    choices: 1,
    includeUsage: true,
  };
}

/** Every text of a content value, those inside tool results included. */
function textsOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((block) => textOf(block.text) + (block.type === 'tool_result' ? textsOf(block.content) : ''))
    .join('');
}

function readChoice(choice: JsonObject): Ask['toolChoice'] {
  if (choice.type === 'any') return 'required';
  if (choice.type === 'none') return 'none';
  return choice.type === 'tool' ? { name: textOf(choice.name) } : 'auto';
}

function stopOf({ answer, script }: AnswerContext): object {
  const native = typeof answer.finish === 'object' ? answer.finish.native : undefined;
  const reason = native ?? naturalStop(answer);
  const refused = reason === 'refusal';
  return {
    stop_reason: reason,
    stop_sequence: reason === 'stop_sequence' ? 'END' : null,
    stop_details: refused
      ? { type: 'refusal', category: null, explanation: script.values.get('refusal') ?? null }
      : null,
  };
}

function naturalStop(answer: Answer): string {
  if (answer.refusal !== undefined) return 'refusal';
  if (answer.calls.length > 0) return 'tool_use';
  return answer.finish === 'length' ? 'max_tokens' : 'end_turn';
}

/** Anthropic's input count leaves out what was read from or written to the cache. */
function usageOf(tokens: Tokens, outputTokens: number): object {
  return {
    input_tokens: Math.max(0, tokens.prompt - tokens.cached - tokens.cacheWrite),
    cache_creation_input_tokens: tokens.cacheWrite,
    cache_read_input_tokens: tokens.cached,
    cache_creation: {
      ephemeral_5m_input_tokens: tokens.cacheWrite - tokens.cacheWrite1h,
      ephemeral_1h_input_tokens: tokens.cacheWrite1h,
    },
    output_tokens: outputTokens,
    ...(tokens.reasoning > 0 ? { output_tokens_details: { thinking_tokens: tokens.reasoning } } : {}),
    service_tier: 'standard',
  };
}

function message(context: AnswerContext): object {
  const { id, ask } = context;
  return { id: `msg_sim${id}`, type: 'message', role: 'assistant', model: ask.model };
}

function plain(context: AnswerContext): object {
  const { id, answer, script } = context;
  const content: object[] = [];
  if (answer.thinking !== undefined) {
    content.push({ type: 'thinking', thinking: answer.thinking, signature: signatureOf(answer.thinking) });
  }
  if (answer.text !== '') content.push({ type: 'text', text: answer.text });
  for (const [index, call] of answer.calls.entries()) {
    content.push({ ...toolUse(id, call.name, index), input: parseJson(call.args) ?? {} });
  }
  const usage =
    script.values.get('usage') === 'none' ? {} : { usage: usageOf(answer.tokens, answer.tokens.completion) };
  return { ...message(context), content, ...stopOf(context), ...usage, container: null };
}

function toolUse(id: string, name: string, index: number): object {
  return { type: 'tool_use', id: `toolu_sim${id}_${index}`, name, input: {} };
}

function event(name: string, payload: object): SimEvent {
  return { name, data: JSON.stringify({ type: name, ...payload }) };
}

function* block(index: number, start: object, deltas: Iterable<object>): Generator<SimEvent> {
  yield event('content_block_start', { index, content_block: start });
  for (const delta of deltas) yield event('content_block_delta', { index, delta });
  yield event('content_block_stop', { index });
}

function* events(context: AnswerContext): Generator<SimEvent> {
  const { answer, script } = context;
  const where = oneOf(script, 'usage', ['asked', 'always', 'none', 'twice', 'finish']);
  const atStart = where === 'none' ? {} : { usage: usageOf(answer.tokens, 1) };
  yield event('message_start', {
    message: {
      ...message(context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      ...atStart,
    },
  });
  yield event('ping', {});
  yield* blocks(context);
  if (where === 'twice') {
    // A first, smaller cumulative count: the later value must win.
    yield event('message_delta', {
      delta: {},
      usage: { output_tokens: Math.floor(answer.tokens.completion / 2) },
    });
  }
  const usage = where === 'none' ? {} : { usage: usageOf(answer.tokens, answer.tokens.completion) };
  yield event('message_delta', { delta: stopOf(context), ...usage });
  if (!script.values.has('done') || isOn(script, 'done')) yield event('message_stop', {});
}

function* blocks({ id, answer, script }: AnswerContext): Generator<SimEvent> {
  let index = 0;
  if (answer.thinking !== undefined) {
    yield* block(
      index++,
      { type: 'thinking', thinking: '', signature: '' },
      thoughtDeltas(answer.thinking, script),
    );
  }
  if (answer.text !== '' || isEndless(script)) {
    yield* block(index++, { type: 'text', text: '' }, textDeltas(answer.text, script));
  }
  for (const [order, call] of answer.calls.entries()) {
    const fragments = fragmentsOf(call.args, script);
    const deltas = ['', ...fragments].map((partial) => ({ type: 'input_json_delta', partial_json: partial }));
    yield* block(index++, toolUse(id, call.name, order), call.args === '' ? [] : deltas);
  }
}

function* thoughtDeltas(thinking: string, script: Script): Generator<object> {
  for (const piece of piecesOf(thinking, script)) yield { type: 'thinking_delta', thinking: piece };
  yield { type: 'signature_delta', signature: signatureOf(thinking) };
}

function* textDeltas(text: string, script: Script): Generator<object> {
  for (const piece of piecesOf(text, script)) yield { type: 'text_delta', text: piece };
  if (isEndless(script)) for (const piece of endlessPieces()) yield { type: 'text_delta', text: piece };
}
