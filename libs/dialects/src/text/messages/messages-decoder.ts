import { isObject, type JsonObject } from '../../body/json-object.js';
import { rememberSpelling } from '@gateway/json-body';
import { jsonOf } from '../../body/upstream-json.js';
import { SseParser, type SseEvent } from '../../sse/sse-parser.js';
import type { ModelEvent } from '../model-event.js';
import type { AnswerDecoder, Decoded } from '../text-dialect.js';
import { AnswerReader, badResponse, inBandError } from './answer-reader.js';
import { objectAt, objectsAt } from './json.js';

/** Event that a host puts between those of the model; clients of the dialect break on it. */
const OF_THE_HOST = 'vertex_event';

/** Reads the answer of an upstream. The type stands in the data too, so a lost `event:` line does no harm. */
export class MessagesDecoder implements AnswerDecoder {
  private sse: SseParser | null = null;
  private readonly reader: AnswerReader;
  private hasFailed = false;

  constructor(toolNames: Readonly<Record<string, string>> = {}) {
    this.reader = new AnswerReader((name) => (Object.hasOwn(toolNames, name) ? toolNames[name] : name));
  }

  whole(body: JsonObject, text = ''): Decoded {
    rememberSpelling(body, text);
    return { events: this.plain(body), raw: body, source: null };
  }

  push(bytes: Uint8Array): Decoded[] {
    this.sse ??= new SseParser();
    const frames = this.read(this.sse.push(bytes));
    if (this.sse.overflowed) frames.push(this.failed('a line of the stream is too long'));
    return frames;
  }

  end(): Decoded[] {
    const frames = this.read(this.sse?.end() ?? []);
    if (!this.hasFailed) frames.push({ events: this.reader.close(), raw: null, source: null });
    return frames;
  }

  private plain(body: JsonObject): ModelEvent[] {
    const isOfHost = body.type === undefined && isObject(body.error);
    if (body.type === 'error' || isOfHost) return [inBandError(body)];
    if (!Array.isArray(body.content)) return [badResponse('the answer has no content')];
    return [...asStream(body)].flatMap((event) => this.reader.read(event));
  }

  private read(list: SseEvent[]): Decoded[] {
    const frames: Decoded[] = [];
    for (const source of list) {
      if (this.hasFailed || this.reader.isDone) break;
      // Not of this dialect, but some servers that imitate it close with OpenAI's marker.
      if (source.data === '' || source.data === '[DONE]' || source.event === OF_THE_HOST) continue;
      const raw = jsonOf(source.data);
      if (isObject(raw) && raw.type === OF_THE_HOST) continue;
      if (isObject(raw) && hasInput(raw)) rememberSpelling(raw, source.data);
      if (isObject(raw)) frames.push({ events: this.reader.read(raw), raw, source });
      else frames.push(this.failed('an event is no JSON object'));
    }
    return frames;
  }

  private failed(message: string): Decoded {
    const isOver = this.hasFailed || this.reader.isDone;
    this.hasFailed = true;
    return { events: isOver ? [] : [badResponse(message)], raw: null, source: null };
  }
}

/** True for the start of a tool's block whose input came whole: no fragments follow. */
function hasInput(event: JsonObject): boolean {
  if (event.type !== 'content_block_start') return false;
  return Object.keys(objectAt(objectAt(event, 'content_block'), 'input')).length > 0;
}

/** A plain message as the stream events that would have built it. */
function* asStream(message: JsonObject): Generator<JsonObject> {
  const { content: _content, usage, ...rest } = message;
  yield { type: 'message_start', message: { ...rest, usage: objectAt(message, 'usage') } };
  for (const [index, block] of objectsAt(message, 'content').entries()) {
    yield { type: 'content_block_start', index, content_block: block };
    yield { type: 'content_block_stop', index };
  }
  const { stop_reason, stop_sequence, stop_details } = message;
  yield {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence, stop_details },
    ...(isObject(usage) ? { usage } : {}),
  };
  yield { type: 'message_stop' };
}
