import type { JsonObject } from '../../body/json-object.js';
import { rememberSpelling } from '@gateway/json-body';
import type { UnitUsage } from '@gateway/contracts';
import type { SseEvent } from '../../sse/sse-parser.js';
import { withoutMoney } from '../../translation/money-names.js';
import type { AnswerEncoder, Decoded, TextFacts } from '../text-dialect.js';
import { frame } from './messages-encoder.js';
import { callerToolId } from './tool-id.js';
import { messagesUsage, nativeUsage } from './usage.js';
import { objectAt, objectsAt, textAt } from './json.js';

/**
 * Messages on both sides: blocks and members that nobody knows stay as they are. Of a stream only message_start and
 * message_delta are rewritten; a frame that ends in an error is held back, for the caller gets the gateway's words.
 */
export class NativeMessagesEncoder implements AnswerEncoder {
  private hasStarted = false;
  private reported: { usage: UnitUsage; raw: JsonObject } = { usage: {}, raw: {} };

  constructor(private readonly facts: TextFacts) {}

  whole({ events, raw }: Decoded): JsonObject {
    this.note(events);
    const shown = spared(raw ?? {});
    const ids = events.flatMap((event) => (event.type === 'tool_start' ? [event.id] : []));
    const content = objectsAt(shown, 'content');
    const calls = content.filter(({ type }) => type === 'tool_use');
    const isOwn = calls.every(({ id }, at) => id === ids[at]);
    const named = content.map((block) => {
      const at = calls.indexOf(block);
      return at < 0 ? block : { ...block, id: callerToolId(ids[at]) };
    });
    return { ...shown, ...(isOwn ? {} : { content: named }), model: this.facts.model, usage: this.usage() };
  }

  write({ events, raw, source }: Decoded): string {
    this.note(events);
    if (raw === null || source === null || events.at(-1)?.type === 'error') return '';
    const type = textAt(raw, 'type');
    const isRewritten = type === 'message_start' || type === 'message_delta';
    const renamed = renamedBlock(raw, events);
    if (renamed !== null) {
      rememberSpelling(raw, source.data);
      return frame(type, spared(renamed));
    }
    if (!isRewritten && spared(raw) === raw) return frameText(source, type);
    rememberSpelling(raw, source.data);
    if (type === 'message_start') return this.messageStart(spared(raw));
    return frame(type, isRewritten ? { ...spared(raw), usage: this.usage() } : spared(raw));
  }

  private note(events: Decoded['events']): void {
    for (const event of events) if (event.type === 'usage') this.reported = event;
  }

  /** The counts wait for message_delta: here the spec wants the same keys as zeros. */
  private messageStart(value: JsonObject): string {
    if (this.hasStarted) return '';
    this.hasStarted = true;
    const usage = messagesUsage({}, this.facts);
    const message = { ...objectAt(value, 'message'), model: this.facts.model, usage };
    return frame('message_start', { ...value, message });
  }

  private usage(): JsonObject {
    const { raw, usage } = this.reported;
    return nativeUsage(raw, this.facts.believed(usage), this.facts);
  }
}

/** The start of a tool's block under the id that its call is shown by; null where it has that id. */
function renamedBlock(raw: JsonObject, [event]: Decoded['events']): JsonObject | null {
  const block = objectAt(raw, 'content_block');
  if (event?.type !== 'tool_start' || block.id === event.id) return null;
  return { ...raw, content_block: { ...block, id: callerToolId(event.id) } };
}

/** Members that the model wrote, which may name money. */
const WRITTEN = new Set(['input']);

function spared(raw: JsonObject): JsonObject {
  return withoutMoney(raw, WRITTEN) as JsonObject;
}

/** The event in one spelling, with its data line by line; the event line that a provider forgot is added. */
function frameText({ event, data }: SseEvent, type: string): string {
  return `event: ${event === '' ? type : event}\ndata: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}
