import type { ApiError } from '@gateway/contracts';
import { writeJson } from '@gateway/json-body';
import { objectOf, textOf, type JsonObject } from '../../body/json-object.js';
import type { ModelEvent } from '../model-event.js';
import type { ModelRequest } from '../model-request.js';
import type { AnswerEncoder, Decoded, TextFacts } from '../text-dialect.js';
import { AnswerWriter } from './answer-writer.js';

export const DONE_FRAME = 'data: [DONE]\n\n';

export function frame(object: JsonObject): string {
  return `event: ${textOf(object.type)}\ndata: ${writeJson(object)}\n\n`;
}

/** Writes the answer of another format as a response; a stream ends in `[DONE]`, and without it where it has failed. */
export class ResponsesEncoder implements AnswerEncoder {
  private readonly writer: AnswerWriter;
  stored: JsonObject | null = null;

  constructor(facts: TextFacts, request: ModelRequest) {
    this.writer = new AnswerWriter(facts, request);
  }

  whole({ events }: Decoded): JsonObject {
    let last: JsonObject = {};
    for (const event of events) for (const object of this.writer.write(event)) last = object;
    this.stored = objectOf(last.response);
    return this.stored;
  }

  write({ events }: Decoded): string {
    return events.map((event) => this.frames(event)).join('');
  }

  fail(error: ApiError, requestId: string): string {
    const objects = this.writer.fail(error, requestId);
    if (objects.length > 0) this.stored = objectOf(objects.at(-1)?.response);
    return objects.map(frame).join('');
  }

  private frames(event: ModelEvent): string {
    const objects = this.writer.write(event);
    if (event.type === 'end') this.stored = objectOf(objects.at(-1)?.response);
    const frames = objects.map(frame).join('');
    return event.type === 'end' && frames !== '' ? frames + DONE_FRAME : frames;
  }
}
