import type { JsonObject } from '../../body/json-object.js';
import { writeJson } from '@gateway/json-body';
import type { AnswerEncoder, Decoded, TextFacts } from '../text-dialect.js';
import { AnswerWriter } from './answer-writer.js';
import { fold } from './fold.js';

/** One frame; Anthropic's SDK ignores events without the `event:` line. */
export function frame(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${writeJson(data)}\n\n`;
}

export const PING = frame('ping', { type: 'ping' });

/** Writes the answer of another dialect as a message: no [DONE], and after an error no message_stop. */
export class MessagesEncoder implements AnswerEncoder {
  private readonly writer: AnswerWriter;
  private isClosed = false;

  constructor(private readonly facts: TextFacts) {
    this.writer = new AnswerWriter(facts);
  }

  whole({ events }: Decoded): JsonObject {
    return fold(events, this.facts);
  }

  write({ events }: Decoded): string {
    let frames = '';
    for (const event of events) {
      if (this.isClosed) break;
      if (event.type === 'end') this.isClosed = true;
      for (const object of this.writer.write(event))
        frames += frame(String(object.type), object) + (object.type === 'message_start' ? PING : '');
    }
    return frames;
  }
}
