import { rememberSpelling } from '@gateway/json-body';
import { filled, isObject, objectOf, type JsonObject } from '../../body/json-object.js';
import type { AnswerFailure } from '../../translation/translation.js';
import { badResponse, CUT_SHORT } from '../failures.js';
import type { ModelEvent } from '../model-event.js';
import type { AnswerDecoder, Decoded } from '../text-dialect.js';
import { jsonOf } from '../../body/upstream-json.js';
import { AnswerReader, asStream } from './answer-reader.js';
import { EventFrames, type EventFrame } from './event-frames.js';

/** Status that an exception in the stream would have had as an answer. */
const STATUS: Readonly<Record<string, number>> = {
  validationException: 400,
  modelTimeoutException: 408,
  modelStreamErrorException: 424,
  throttlingException: 429,
  internalServerException: 500,
  serviceUnavailableException: 503,
};

/** Reads the answer of Converse and of ConverseStream, whose end is the end of the body. */
export class ConverseDecoder implements AnswerDecoder {
  private readonly frames = new EventFrames();
  private readonly reader: AnswerReader;
  private isOver = false;

  constructor(toolNames: Readonly<Record<string, string>> = {}) {
    this.reader = new AnswerReader((name) => (Object.hasOwn(toolNames, name) ? toolNames[name] : name));
  }

  whole(body: JsonObject, text = ''): Decoded {
    rememberSpelling(body, text);
    if (!isObject(body.output)) return this.failed(badResponse('The answer has no output.'));
    const events: ModelEvent[] = [];
    for (const [name, payload] of asStream(body)) events.push(...this.reader.read(name, payload));
    this.close(events);
    return { events, raw: null, source: null };
  }

  push(bytes: Uint8Array): Decoded[] {
    const decoded: Decoded[] = [];
    if (this.isOver) return decoded;
    for (const frame of this.frames.push(bytes)) {
      if (this.isOver) return decoded;
      decoded.push(this.frame(frame));
    }
    if (this.frames.fault !== null) decoded.push(this.failed(badResponse(this.frames.fault)));
    return decoded;
  }

  end(): Decoded[] {
    if (this.isOver) return [];
    const events: ModelEvent[] = [];
    if (this.frames.isMidFrame) this.fail(CUT_SHORT, events);
    else this.close(events);
    return [{ events, raw: null, source: null }];
  }

  private frame({ messageType, name, payload }: EventFrame): Decoded {
    if (messageType === 'exception' || messageType === 'error') return this.failed(exception(name, payload));
    const value = jsonOf(payload);
    if (!isObject(value)) return this.failed(badResponse('An event of the stream is not a JSON object.'));
    // Input comes as text in pieces; some servers send it as an object.
    if (isObject(objectOf(objectOf(value.delta).toolUse).input)) rememberSpelling(value, payload);
    const events = this.reader.read(name, value);
    if (this.reader.outgrown !== null) this.fail(badResponse(this.reader.outgrown), events);
    return { events, raw: null, source: null };
  }

  private close(events: ModelEvent[]): void {
    if (this.isOver) return;
    if (!this.reader.isFinished) {
      this.fail(CUT_SHORT, events);
      return;
    }
    this.isOver = true;
    events.push({ type: 'end' });
  }

  private fail(failure: AnswerFailure, events: ModelEvent[]): void {
    if (this.isOver) return;
    this.isOver = true;
    events.push({ type: 'error', failure });
  }

  private failed(failure: AnswerFailure): Decoded {
    const events: ModelEvent[] = [];
    this.fail(failure, events);
    return { events, raw: null, source: null };
  }
}

function exception(type: string, payload: string): AnswerFailure {
  const value = objectOf(jsonOf(payload));
  const message = filled(value.message) ?? filled(value.originalMessage) ?? `The provider reported ${type}.`;
  // Named as in the header of an answer that failed as a whole.
  const named = type === '' ? '' : type[0].toUpperCase() + type.slice(1);
  return {
    kind: 'in_band',
    body: { error: { type: named, message } },
    status: Object.hasOwn(STATUS, type) ? STATUS[type] : null,
    message,
  };
}
