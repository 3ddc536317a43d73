import type { StreamDecoder } from '../dialect.js';
import type { ModelEvent } from '../model-event.js';
import { SseParser, type SseEvent } from '../sse/sse-parser.js';
import { AnswerReader, badResponse } from './answer-reader.js';
import { isObject, parseJson } from './json.js';

/** Upstream bytes -> events. The type stands in the data too, so a lost `event:` line does no harm. */
export class MessagesStreamDecoder implements StreamDecoder {
  private readonly sse = new SseParser();
  private readonly reader = new AnswerReader();
  private failed = false;

  push(bytes: Uint8Array): ModelEvent[] {
    const events = this.read(this.sse.push(bytes));
    return this.sse.overflowed ? [...events, ...this.fail('a line of the stream is too long')] : events;
  }

  end(): ModelEvent[] {
    const events = this.read(this.sse.end());
    return this.failed ? events : [...events, ...this.reader.close()];
  }

  private read(list: SseEvent[]): ModelEvent[] {
    const events: ModelEvent[] = [];
    for (const { data } of list) {
      if (this.failed || this.reader.isDone) break;
      // Not of this dialect, but some servers that imitate it close with OpenAI's marker.
      if (data === '' || data === '[DONE]') continue;
      const value = parseJson(data);
      events.push(...(isObject(value) ? this.reader.read(value) : this.fail('an event is no JSON object')));
    }
    return events;
  }

  private fail(message: string): ModelEvent[] {
    if (this.failed || this.reader.isDone) return [];
    this.failed = true;
    return [badResponse(message)];
  }
}
