import type { UnitUsage } from '@gateway/contracts';
import type { ModelEvent } from '../model-event.js';
import type { AnswerFacts, EditedFrame, FrameEditor, StreamDecoder } from '../dialect.js';
import { SseParser, type SseEvent } from '../sse/sse-parser.js';
import { badResponse } from './answer-reader.js';
import { isObject, objectAt, parseJson, textAt, type JsonObject } from './json.js';
import { frame } from './stream-encoder.js';
import { completeUsage } from '../complete-usage.js';
import { messagesUsage, nativeUsage } from './usage.js';

/**
 * A native stream passed on frame by frame: only message_start and message_delta are rewritten, everything else goes on
 * as it came. The decoder sees the same frames; one that it fails on is held back, for the caller gets an error instead.
 */
export class MessagesFrameEditor implements FrameEditor {
  private readonly sse = new SseParser();
  private hasStarted = false;
  private hasFailed = false;
  private reported: { usage: UnitUsage; raw: JsonObject } = { usage: {}, raw: {} };

  constructor(
    private readonly decoder: StreamDecoder,
    private readonly facts: AnswerFacts,
    private readonly see: (event: ModelEvent) => void = () => undefined,
  ) {}

  push(bytes: Uint8Array): EditedFrame[] {
    const frames = this.sse.push(bytes).map((event) => this.edit(event));
    if (this.sse.overflowed && !this.hasFailed) {
      this.hasFailed = true;
      frames.push({ frame: '', events: [badResponse('a line of the stream is too long')] });
    }
    return frames;
  }

  end(): EditedFrame[] {
    const frames = this.sse.end().map((event) => this.edit(event));
    const events = this.hasFailed ? [] : this.decoder.end();
    for (const event of events) this.see(event);
    return events.length === 0 ? frames : [...frames, { frame: '', events }];
  }

  private edit(event: SseEvent): EditedFrame {
    if (this.hasFailed) return { frame: '', events: [] };
    const text = frameText(event);
    const events = this.decoder.push(Buffer.from(text));
    for (const one of events) {
      this.see(one);
      if (one.type === 'error') this.hasFailed = true;
      if (one.type === 'usage') this.reported = one;
    }
    return { frame: this.hasFailed ? '' : this.rewritten(event, text), events };
  }

  private rewritten(event: SseEvent, text: string): string {
    const isLeftAlone =
      event.event !== '' && event.event !== 'message_start' && event.event !== 'message_delta';
    if (isLeftAlone) return text;
    const value = parseJson(event.data);
    if (!isObject(value)) return '';
    const type = textAt(value, 'type');
    if (type === 'message_start') return this.messageStart(value);
    if (type === 'message_delta') return frame(type, this.messageDelta(value));
    return event.event === '' ? `event: ${type}\n${text}` : text;
  }

  /** The counts wait for message_delta: here the spec wants the same keys as zeros. */
  private messageStart(value: JsonObject): string {
    if (this.hasStarted) return '';
    this.hasStarted = true;
    const usage = messagesUsage({}, this.facts);
    const message = { ...objectAt(value, 'message'), model: this.facts.model, usage };
    return frame('message_start', { ...value, message });
  }

  private messageDelta(value: JsonObject): JsonObject {
    const { raw, usage } = this.reported;
    return { ...value, usage: nativeUsage(raw, completeUsage(usage, this.facts), this.facts) };
  }
}

/** The event in one spelling, with its data line by line. */
function frameText({ event, data }: SseEvent): string {
  const lines = data
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('');
  return `${event === '' ? '' : `event: ${event}\n`}${lines}\n`;
}
