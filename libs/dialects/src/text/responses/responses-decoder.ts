import { rememberSpelling } from '@gateway/json-body';
import { isObject, type JsonObject } from '../../body/json-object.js';
import { jsonOf } from '../../body/upstream-json.js';
import { SseParser, type SseEvent } from '../../sse/sse-parser.js';
import type { ModelEvent } from '../model-event.js';
import type { AnswerDecoder, Decoded } from '../text-dialect.js';
import { AnswerReader, badResponse } from './answer-reader.js';

/** Events that only say that the provider has begun: it may still refuse, and then another route is tried. */
const OPENING = new Set(['response.created', 'response.queued', 'response.in_progress']);
const OPENING_MAX = 64;

/** Reads the answer of an upstream. The type stands in the data too, so a lost `event:` line does no harm. */
export class ResponsesDecoder implements AnswerDecoder {
  private sse: SseParser | null = null;
  private readonly reader: AnswerReader;
  private hasFailed = false;
  /** Frames that wait for the first one with something to say. */
  private held: Decoded[] | null = [];

  /** `toolNames`: names that the upstream knows in short, with the caller's own. */
  constructor(toolNames: Readonly<Record<string, string>> = {}) {
    this.reader = new AnswerReader(toolNames);
  }

  whole(body: JsonObject, text = ''): Decoded {
    rememberSpelling(body, text);
    return { events: this.reader.whole(body), raw: body, source: null };
  }

  push(bytes: Uint8Array): Decoded[] {
    this.sse ??= new SseParser();
    const frames = this.read(this.sse.push(bytes));
    if (this.sse.overflowed) frames.push(this.failed('a line of the stream is too long'));
    return frames;
  }

  end(): Decoded[] {
    const frames = this.read(this.sse?.end() ?? []);
    if (!this.hasFailed) frames.push(without(this.reader.close()));
    return frames;
  }

  private read(list: SseEvent[]): Decoded[] {
    const frames: Decoded[] = [];
    for (const source of list) {
      if (this.hasFailed || this.reader.isDone) break;
      if (source.data === '' || source.data === '[DONE]') continue;
      const raw = jsonOf(source.data);
      if (!isObject(raw)) frames.push(this.failed('an event is no JSON object'));
      else frames.push(...this.released({ events: this.reader.read(raw), raw, source }));
    }
    return frames;
  }

  private released(frame: Decoded): Decoded[] {
    const { held } = this;
    if (held === null) return [frame];
    const isOpening = OPENING.has(String(frame.raw?.type));
    if (isOpening && held.length < OPENING_MAX) {
      held.push(frame);
      return [];
    }
    this.held = null;
    // Nothing was said before a refusal.
    return frame.events.at(-1)?.type === 'error' ? [frame] : [...held, frame];
  }

  private failed(message: string): Decoded {
    const isOver = this.hasFailed || this.reader.isDone;
    this.hasFailed = true;
    return without(isOver ? [] : [badResponse(message)]);
  }
}

function without(events: ModelEvent[]): Decoded {
  return { events, raw: null, source: null };
}
