import { messagesErrorEnvelope, type ApiError } from '@gateway/contracts';
import type { AnswerFacts, StreamEncoder } from '../dialect.js';
import type { ModelEvent } from '../model-event.js';
import { AnswerWriter } from './answer-writer.js';

/** One frame; Anthropic's SDK ignores events without the `event:` line. */
export function frame(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

const PING = frame('ping', { type: 'ping' });

/** The caller's stream (wire-formats 2.3): no [DONE], and after an error no message_stop. */
export class MessagesStreamEncoder implements StreamEncoder {
  private readonly writer: AnswerWriter;
  private isClosed = false;

  constructor(private readonly facts: AnswerFacts) {
    this.writer = new AnswerWriter(facts);
  }

  write(event: ModelEvent): string {
    if (this.isClosed) return '';
    if (event.type === 'end') this.isClosed = true;
    return this.writer
      .write(event)
      .map((object) => frame(String(object.type), object) + (object.type === 'message_start' ? PING : ''))
      .join('');
  }

  error(error: ApiError): string {
    if (this.isClosed) return '';
    this.isClosed = true;
    return frame('error', messagesErrorEnvelope(error, this.facts.requestId));
  }

  keepAlive(): string {
    return PING;
  }
}
