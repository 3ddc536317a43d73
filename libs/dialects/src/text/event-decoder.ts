import { rememberSpelling } from '@gateway/json-body';
import { isObject, type JsonObject } from '../body/json-object.js';
import { jsonOf } from '../body/upstream-json.js';
import { SseParser, type SseEvent } from '../sse/sse-parser.js';
import type { AnswerFailure } from '../translation/translation.js';
import { badResponse } from './failures.js';
import type { ModelEvent } from './model-event.js';
import type { AnswerDecoder, Decoded } from './text-dialect.js';

/** Reads an answer whose stream is server-sent events of one JSON object each; what they say is the dialect's. */
export abstract class EventDecoder implements AnswerDecoder {
  protected isOver = false;
  private parser: SseParser | null = null;
  private event: JsonObject = {};
  private text = '';

  abstract whole(body: JsonObject, text?: string): Decoded;

  /** Adds what an event says. */
  protected abstract read(event: JsonObject, events: ModelEvent[]): void;

  /** Remembers how the event that is read is written, before an object of it is written again. */
  protected spell(): void {
    rememberSpelling(this.event, this.text);
  }

  /** Returns the missing part of an answer at its end; null where it is whole. */
  protected abstract lacking(): AnswerFailure | null;

  push(bytes: Uint8Array): Decoded[] {
    if (this.isOver) return [];
    this.parser ??= new SseParser();
    const frames = this.frames(this.parser.push(bytes));
    if (this.parser.overflowed) frames.push(this.failed(badResponse('An event of the stream is too long.')));
    return frames;
  }

  end(): Decoded[] {
    const frames = this.frames(this.parser?.end() ?? []);
    const events: ModelEvent[] = [];
    this.close(events);
    if (events.length > 0) frames.push({ events, raw: null, source: null });
    return frames;
  }

  /** A plain answer never asked for it. */
  protected get isStream(): boolean {
    return this.parser !== null;
  }

  /** Null for what is no event of the dialect. */
  protected parsed(data: string): JsonObject | null {
    const value = jsonOf(data);
    return isObject(value) ? value : null;
  }

  protected close(events: ModelEvent[]): void {
    if (this.isOver) return;
    const failure = this.lacking();
    if (failure !== null) {
      this.fail(failure, events);
      return;
    }
    this.isOver = true;
    events.push({ type: 'end' });
  }

  protected fail(failure: AnswerFailure, events: ModelEvent[]): void {
    if (this.isOver) return;
    this.isOver = true;
    events.push({ type: 'error', failure });
  }

  protected failed(failure: AnswerFailure): Decoded {
    const events: ModelEvent[] = [];
    this.fail(failure, events);
    return { events, raw: null, source: null };
  }

  private frames(list: SseEvent[]): Decoded[] {
    const frames: Decoded[] = [];
    for (const { data } of list) {
      if (this.isOver) break;
      // Not of these formats, but some servers that imitate them close with OpenAI's marker.
      if (data === '' || data === '[DONE]') continue;
      const event = this.parsed(data);
      if (event === null) {
        frames.push(this.failed(badResponse('An event of the stream is not a JSON object.')));
        break;
      }
      const events: ModelEvent[] = [];
      this.event = event;
      this.text = data;
      this.read(event, events);
      frames.push({ events, raw: null, source: null });
    }
    return frames;
  }
}
