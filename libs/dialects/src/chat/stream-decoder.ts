import { parseUpstreamJson } from '../body/upstream-json.js';
import type { RouteTarget, StreamDecoder } from '../dialect.js';
import type { ModelEvent } from '../model-event.js';
import { SseParser, type SseEvent } from '../sse/sse-parser.js';
import { AnswerDecoder, badResponse, inBand } from './answer-decoder.js';
import { isObject, type JsonObject } from './json-object.js';

/** One upstream frame, parsed once: for the meter its events, for the frame editor its chunk. */
export interface DecodedFrame {
  /** Null where the frame is no chunk: the end, an error, a broken stream. */
  chunk: JsonObject | null;
  events: ModelEvent[];
}

/** Reads the stream of an OpenAI-compatible provider (wire-formats 1.4, tolerances 5.6). */
export class ChatStreamDecoder implements StreamDecoder {
  readonly answer: AnswerDecoder;
  private readonly parser = new SseParser();

  constructor(target: RouteTarget, toolNames?: Readonly<Record<string, string>>) {
    this.answer = new AnswerDecoder(target.quirks, toolNames);
  }

  push(bytes: Uint8Array): ModelEvent[] {
    return this.frames(bytes).flatMap(({ events }) => events);
  }

  end(): ModelEvent[] {
    return this.endFrames().flatMap(({ events }) => events);
  }

  frames(bytes: Uint8Array): DecodedFrame[] {
    if (this.answer.isOver) return [];
    const frames = this.decode(this.parser.push(bytes));
    if (this.parser.overflowed) frames.push(this.failed('An event of the stream is too long.'));
    return frames;
  }

  endFrames(): DecodedFrame[] {
    const frames = this.decode(this.parser.end());
    if (this.answer.isOver) return frames;
    // Some providers close without [DONE]: a finish that was seen is as good.
    const events = this.answer.isFinished
      ? this.answer.end()
      : this.answer.fail({
          kind: 'connection',
          body: null,
          status: null,
          message: 'The stream ended before the answer was complete.',
        });
    return [...frames, { chunk: null, events }];
  }

  private decode(events: SseEvent[]): DecodedFrame[] {
    const frames: DecodedFrame[] = [];
    for (const event of events) {
      if (this.answer.isOver) break;
      frames.push(this.frame(event));
    }
    return frames;
  }

  private frame({ event, data }: SseEvent): DecodedFrame {
    const text = data.trim();
    if (text === '[DONE]') return { chunk: null, events: this.answer.end() };
    if (text === '') return { chunk: null, events: [] };
    const chunk = parsed(text);
    if (event === 'error') {
      const body = chunk ?? text;
      return {
        chunk: null,
        events: this.answer.fail(inBand(isObject(body) ? (body.error ?? body) : body, body)),
      };
    }
    if (!isObject(chunk)) return this.failed('An event of the stream is not a JSON object.');
    const answered = this.answer.read(chunk, 'delta');
    return { chunk: this.answer.isOver ? null : chunk, events: answered };
  }

  private failed(message: string): DecodedFrame {
    return { chunk: null, events: this.answer.fail(badResponse(message)) };
  }
}

function parsed(text: string): unknown {
  try {
    return parseUpstreamJson(text);
  } catch {
    return null;
  }
}
