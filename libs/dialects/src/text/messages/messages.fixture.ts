import type { JsonObject } from '../../body/json-object.js';
import { BodyFault, parseBody, type ParsedBody } from '@gateway/json-body';
import type { RouteTarget } from '../../translation/translation.js';
import type { ModelEvent } from '../model-event.js';
import type { ModelRequest } from '../model-request.js';
import type { Decoded, TextFacts } from '../text-dialect.js';
import { SseParser } from '../../sse/sse-parser.js';
import { dialect } from './messages.dialect.js';

export const FACTS: TextFacts = {
  requestId: 'req_1',
  model: 'acme/claude',
  created: 1_700_000_000,
  now: () => 1_700_000_001,
  answerId: () => 'msg_gateway',
  tier: 'default',
  byokUsed: false,
  fallbackTriggered: false,
  excludeReasoning: false,
  deprecatedCacheKey: false,
  includeUsage: false,
  legacyFunctions: false,
  believed: (reported) => reported,
};

export const TARGET: RouteTarget = {
  dialect: 'messages',
  upstreamModel: 'claude-x',
  maxOutputTokens: 8000,
  contextLength: 200_000,
  reasoning: { style: 'none' },
  fixesSampling: false,
  quirks: {},
};

export function bodyOf(value: unknown): ParsedBody {
  const body = parseBody(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
  if (body instanceof BodyFault) throw new Error(body.detail.msg);
  return body;
}

/** A request of another front, with only what a test names. */
export function translatedRequest(changes: Partial<ModelRequest>): ModelRequest {
  return {
    dialect: 'chat',
    model: 'acme/claude',
    stream: false,
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    tools: [],
    toolChoice: null,
    parallelToolCalls: null,
    maxOutputTokens: null,
    sampling: {
      temperature: null,
      topP: null,
      topK: null,
      seed: null,
      frequencyPenalty: null,
      presencePenalty: null,
    },
    stop: [],
    choices: 1,
    responseFormat: null,
    reasoning: null,
    serviceTier: null,
    endUser: null,
    requires: [],
    files: [],
    hints: {},
    includeUsage: false,
    legacyFunctions: false,
    unknown: {},
    sizes: { textBytes: 0, images: 0, audioSeconds: 0, documentBytes: [] },
    callerNames: {
      stop: 'stop',
      endUser: 'safety_identifier',
      reasoning: 'reasoning',
      thoughts: 'messages.reasoning_details',
    },
    nativeHeaders: {},
    body: bodyOf({}),
    ...changes,
  };
}

/** Returns the wire form of a request, and its ignored members. */
export function encoded(request: ModelRequest, target = TARGET): { body: JsonObject; ignored: string[] } {
  const { request: sent, ignored } = dialect.upstream.encode(request, target);
  const bytes = Buffer.concat(sent.pieces);
  if (bytes.byteLength !== sent.byteLength) throw new Error('the length is wrong');
  return { body: JSON.parse(bytes.toString()) as JsonObject, ignored };
}

export function sse(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** Events of a stream's bytes, cut to pieces of the sizes given. */
export function decoded(wire: string, sizes: readonly number[] = [Infinity]): ModelEvent[] {
  return framesOf(wire, sizes).flatMap(({ events }) => events);
}

export function framesOf(wire: string, sizes: readonly number[] = [Infinity]): Decoded[] {
  const decoder = dialect.upstream.decoder();
  const bytes = Buffer.from(wire);
  const found: Decoded[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const next = at + sizes[turn % sizes.length];
    found.push(...decoder.push(bytes.subarray(at, next)));
    at = next;
  }
  return [...found, ...decoder.end()];
}

export function start(usage: JsonObject = { input_tokens: 10, output_tokens: 1 }, id = 'msg_up'): JsonObject {
  const message = { id, type: 'message', role: 'assistant', model: 'claude-x', content: [], usage };
  return { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } };
}

export function block(index: number, content_block: JsonObject, ...deltas: JsonObject[]): JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

export function text(index: number, ...pieces: string[]): JsonObject[] {
  const deltas = pieces.map((piece) => ({ type: 'text_delta', text: piece }));
  return block(index, { type: 'text', text: '' }, ...deltas);
}

export function tool(index: number, id: string, ...fragments: string[]): JsonObject[] {
  const deltas = fragments.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  return block(index, { type: 'tool_use', id, name: 'look', input: {} }, ...deltas);
}

export function stop(stop_reason: string, usage: JsonObject = { output_tokens: 7 }): JsonObject[] {
  return [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}

/** Events of a stream as a caller parses it. */
export function frames(wire: string): JsonObject[] {
  const parser = new SseParser();
  return [...parser.push(Buffer.from(wire)), ...parser.end()].map(({ event, data }) => {
    const value = JSON.parse(data) as JsonObject;
    if (value.type !== event) throw new Error('the event line names another type');
    return value;
  });
}

/** The usage object of the messages endpoint before anything was counted. */
export const ZEROS = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 0,
  byok_used: false,
  fallback_triggered: false,
};

/** The plain answer of another dialect's events. */
export function foldOf(events: ModelEvent[], facts: TextFacts = FACTS): JsonObject {
  return dialect.caller.encoder(facts, false).whole({ events, raw: null, source: null });
}

/** The caller's stream of another dialect's events. */
export function encodedStream(events: readonly ModelEvent[], facts: TextFacts = FACTS): string {
  const encoder = dialect.caller.encoder(facts, false);
  return events.map((event) => encoder.write({ events: [event], raw: null, source: null })).join('');
}

/** Events of a plain answer. */
export function plainEvents(body: JsonObject): ModelEvent[] {
  return dialect.upstream.decoder().whole(body).events;
}
