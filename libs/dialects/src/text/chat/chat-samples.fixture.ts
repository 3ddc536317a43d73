// Synthetic bodies for the specs of this folder.
import { BodyFault, parseBody, type ParsedBody } from '@gateway/json-body';
import type { Quirks, RouteTarget } from '../../translation/translation.js';
import type { ModelEvent } from '../model-event.js';
import type { AnswerDecoder, Decoded, EncodedRequest, TextFacts } from '../text-dialect.js';
import { dialect } from './chat.dialect.js';
import { objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';

export function facts(more: Partial<TextFacts> = {}): TextFacts {
  return {
    requestId: 'req_1',
    model: 'acme/large',
    created: 1_700_000_000,
    now: () => 1_700_000_001,
    answerId: () => 'chatcmpl_own',
    tier: 'default',
    byokUsed: false,
    fallbackTriggered: false,
    excludeReasoning: false,
    deprecatedCacheKey: false,
    includeUsage: false,
    legacyFunctions: false,
    believed: (reported) => reported,
    ...more,
  };
}

export function target(quirks: Quirks = {}, more: Partial<RouteTarget> = {}): RouteTarget {
  return {
    dialect: 'chat',
    upstreamModel: 'large-2026',
    maxOutputTokens: 8_192,
    contextLength: 128_000,
    reasoning: { style: 'effort' },
    fixesSampling: false,
    quirks,
    ...more,
  };
}

export function bodyOf(value: unknown): ParsedBody {
  const body = parseBody(Buffer.from(JSON.stringify(value)));
  if (body instanceof BodyFault) throw new Error(body.detail.msg);
  return body;
}

/** Returns the body as the upstream reads it. */
export function sent({ request: { pieces, byteLength } }: EncodedRequest): JsonObject {
  const bytes = Buffer.concat(pieces);
  if (bytes.byteLength !== byteLength) throw new Error('the byte length is wrong');
  return objectOf(JSON.parse(bytes.toString('utf8')));
}

export const HEAD = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_690_000_000,
  model: 'large-2026',
};

export function chunk(delta: JsonObject | null, more: JsonObject = {}, choice: JsonObject = {}): JsonObject {
  const choices = delta === null ? [] : [{ index: 0, delta, finish_reason: null, ...choice }];
  return { ...HEAD, choices, ...more };
}

export function finishChunk(reason: string, more: JsonObject = {}): JsonObject {
  return chunk({}, more, { finish_reason: reason });
}

export const USAGE = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
export const USAGE_CHUNK = chunk(null, { usage: USAGE });

export function wire(chunks: readonly unknown[], done = true): Buffer {
  const frames = chunks.map((body) => `data: ${JSON.stringify(body)}\n\n`);
  return Buffer.from(frames.join('') + (done ? 'data: [DONE]\n\n' : ''));
}

/** Pushes the bytes cut at the given lengths, again and again. */
export function cut<T>(
  reader: { push(bytes: Uint8Array): T[]; end(): T[] },
  bytes: Uint8Array,
  lengths: readonly number[] = [bytes.length],
): T[] {
  const results: T[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length];
    results.push(...reader.push(bytes.subarray(at, at + length)));
    at += length;
  }
  return [...results, ...reader.end()];
}

export function decoder(quirks: Quirks = {}): AnswerDecoder {
  return dialect.upstream.decoder(target(quirks), undefined);
}

export function eventsOf(chunks: readonly unknown[], quirks: Quirks = {}, done = true): ModelEvent[] {
  return eventsIn(cut(decoder(quirks), wire(chunks, done)));
}

export function eventsIn(frames: readonly Decoded[]): ModelEvent[] {
  return frames.flatMap(({ events }) => events);
}

/** Events of a plain answer. */
export function plainEvents(answer: JsonObject): ModelEvent[] {
  return decoder().whole(answer).events;
}

/** A plain answer for a caller of the same dialect. */
export function editedAnswer(answer: JsonObject, more: Partial<TextFacts> = {}): JsonObject {
  return dialect.caller.encoder(facts(more), true).whole(decoder().whole(answer));
}

/** A plain answer for a caller of another dialect. */
export function foldOf(events: ModelEvent[], more: Partial<TextFacts> = {}): JsonObject {
  return dialect.caller.encoder(facts(more), false).whole({ events, raw: null, source: null });
}

/** The caller's stream on the same-dialect path. */
export function editedStream(
  chunks: readonly unknown[],
  more: Partial<TextFacts> = {},
  { quirks = {}, done = true }: { quirks?: Quirks; done?: boolean } = {},
): string {
  const encoder = dialect.caller.encoder(facts(more), true);
  return cut(decoder(quirks), wire(chunks, done))
    .map((frame) => encoder.write(frame))
    .join('');
}

/** The caller's stream on the translated path. */
export function encodedStream(events: readonly ModelEvent[], more: Partial<TextFacts> = {}): string {
  const encoder = dialect.caller.encoder(facts(more), false);
  return events.map((event) => encoder.write({ events: [event], raw: null, source: null })).join('');
}

/** Chunks of a caller's stream; every frame must be one line of data and a blank one. */
export function chunksOf(stream: string): JsonObject[] {
  const frames = stream.split('\n\n');
  if (frames.pop() !== '') throw new Error('the last frame is not closed');
  return frames.flatMap((frame) => {
    if (!/^data: [^\n]*$/.test(frame)) throw new Error(`no frame: ${frame}`);
    return frame === 'data: [DONE]' ? [] : [objectOf(JSON.parse(frame.slice(6)))];
  });
}

export function choiceIn(answer: JsonObject, index = 0): JsonObject {
  return objectOf(objectsOf(answer.choices).find((choice) => choice.index === index));
}

export function deltasOf(stream: string): JsonObject[] {
  return chunksOf(stream).flatMap((part) => objectsOf(part.choices).map((choice) => objectOf(choice.delta)));
}

export interface Joined {
  content: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: string }[];
  finish: unknown;
  native: unknown;
}

/** Returns a stream as a client reads it: its deltas joined. */
export function joined(stream: string, index = 0): Joined {
  const answer: Joined = { content: '', reasoning: '', calls: [], finish: null, native: null };
  for (const part of chunksOf(stream)) {
    const choice = choiceIn(part, index);
    const delta = objectOf(choice.delta);
    answer.content += textOf(delta.content);
    answer.reasoning += textOf(delta.reasoning);
    for (const call of objectsOf(delta.tool_calls)) {
      const at = Number(call.index);
      const { name, arguments: text } = objectOf(call.function);
      answer.calls[at] ??= { id: textOf(call.id), name: textOf(name), arguments: '' };
      answer.calls[at].arguments += textOf(text);
    }
    if (choice.finish_reason) {
      answer.finish = choice.finish_reason;
      answer.native = choice.native_finish_reason;
    }
  }
  return answer;
}

/** The same of a plain answer. */
export function joinedPlain(answer: JsonObject, index = 0): Joined {
  const choice = choiceIn(answer, index);
  const message = objectOf(choice.message);
  return {
    content: textOf(message.content),
    reasoning: textOf(message.reasoning),
    calls: objectsOf(message.tool_calls).map((call) => {
      const { name, arguments: text } = objectOf(call.function);
      return { id: textOf(call.id), name: textOf(name), arguments: textOf(text) };
    }),
    finish: choice.finish_reason,
    native: choice.native_finish_reason,
  };
}
