import { isObject, type JsonObject } from '../../body/json-object.js';
import type { UnitUsage } from '@gateway/contracts';
import type { Citation, ModelEvent } from '../model-event.js';
import { ObjectEnd } from '../object-end.js';
import type { TextFacts } from '../text-dialect.js';
import { SIGNATURE_FORMAT } from './answer-reader.js';
import { stoppedAt, stopReason, type Finish } from './stop-reason.js';
import { callerToolId } from './tool-id.js';
import { messagesUsage } from './usage.js';

type OpenKind = 'text' | 'thinking' | 'opaque' | 'tool';

interface WaitingCall {
  type: 'call';
  call: number;
  id: string;
  name: string;
  text: string;
  isEnded: boolean;
}

type ContentEvent = Exclude<
  ModelEvent,
  { type: 'start' | 'usage' | 'finish' | 'end' | 'ping' | 'audio' | 'error' }
>;
type ToolEvent = Extract<ContentEvent, { type: 'tool_start' | 'tool_arguments' | 'tool_end' }>;

/** True for formats of reasoning whose signatures this dialect's family minted, whatever their version. */
export function isOwnFormat(format: string | undefined): boolean {
  return format?.startsWith(SIGNATURE_FORMAT) ?? false;
}

/**
 * Events -> the objects of a messages stream. At most one block is open and indexes are dense. A text or another tool
 * between the fragments of a tool waits until that has ended or its arguments are whole. A plain answer is built of the
 * same objects, so both agree.
 */
export class AnswerWriter {
  private isStarted = false;
  private index = -1;
  private open: OpenKind | null = null;
  private openCall = -1;
  private openArguments = new ObjectEnd();
  private hasToolBlock = false;
  private hasRefused = false;
  private waiting: (WaitingCall | Exclude<ContentEvent, ToolEvent>)[] = [];
  /** Citations that came before the text that they belong to. */
  private readonly early: Citation[] = [];
  private readonly waitingCalls = new Map<number, WaitingCall>();
  private finish: (Finish & { details?: unknown }) | null = null;
  private usage: UnitUsage = {};

  constructor(private readonly facts: TextFacts) {}

  write(event: ModelEvent): JsonObject[] {
    // This dialect has one choice: the front refuses more.
    if ('choice' in event && event.choice !== 0) return [];
    switch (event.type) {
      case 'start':
        return this.start(event.id);
      case 'usage':
        this.usage = event.usage;
        return [];
      case 'finish':
        this.finish = event;
        return [];
      case 'end':
        return this.end();
      case 'ping':
      case 'audio':
      case 'error':
        return [];
      default:
        return [...this.start(null), ...this.content(event)];
    }
  }

  private start(id: string | null): JsonObject[] {
    if (this.isStarted) return [];
    this.isStarted = true;
    const message = {
      id: id?.startsWith('msg_') ? id : this.facts.answerId(),
      type: 'message',
      role: 'assistant',
      model: this.facts.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: messagesUsage({}, this.facts),
    };
    return [{ type: 'message_start', message }];
  }

  private content(event: ContentEvent): JsonObject[] {
    switch (event.type) {
      case 'tool_start':
        return this.toolStart(event.call, event.id, event.name);
      case 'tool_arguments':
        return this.toolArguments(event.call, event.text);
      case 'tool_end':
        return this.toolEnd(event.call);
      default:
        if (this.open !== 'tool') return this.said(event);
        this.waiting.push(event);
        return this.openArguments.isWhole ? this.nextCall() : [];
    }
  }

  /** Writes events that are no tool, where no tool is open. */
  private said(event: Exclude<ContentEvent, ToolEvent>): JsonObject[] {
    switch (event.type) {
      case 'refusal':
        this.hasRefused = true;
        return this.text(event.text);
      case 'text':
        return this.text(event.text);
      case 'citation':
        if (this.open === 'text') return [this.cited(event.citation)];
        this.early.push(event.citation);
        return [];
      case 'reasoning':
        return event.text === '' || this.facts.excludeReasoning ? [] : this.thinking(event.text);
      case 'reasoning_signature':
        return isOwnFormat(event.format) ? this.signature(event.signature) : [];
      case 'opaque_reasoning':
        if (!isOwnFormat(event.format)) return [];
        return [
          ...this.stop(),
          this.blockStart({ type: 'redacted_thinking', data: event.data }, 'opaque'),
          ...this.stop(),
        ];
    }
  }

  private text(text: string): JsonObject[] {
    if (text === '') return [];
    const opened =
      this.open === 'text' ? [] : [...this.stop(), this.blockStart({ type: 'text', text: '' }, 'text')];
    opened.push(...this.early.splice(0).map((one) => this.cited(one)));
    return [...opened, this.delta({ type: 'text_delta', text })];
  }

  private thinking(thinking: string): JsonObject[] {
    return [...this.openThinking(), this.delta({ type: 'thinking_delta', thinking })];
  }

  private openThinking(): JsonObject[] {
    if (this.open === 'thinking') return [];
    return [...this.stop(), this.blockStart({ type: 'thinking', thinking: '', signature: '' }, 'thinking')];
  }

  /** A signature ends its block; one without text makes a block of its own, or it would be lost. */
  private signature(signature: string): JsonObject[] {
    return [...this.openThinking(), this.delta({ type: 'signature_delta', signature }), ...this.stop()];
  }

  private toolStart(call: number, id: string, name: string): JsonObject[] {
    const starting: WaitingCall = { type: 'call', call, id, name, text: '', isEnded: false };
    if (this.open !== 'tool') return this.openTool(starting);
    this.waiting.push(starting);
    this.waitingCalls.set(call, starting);
    return [];
  }

  private openTool({ call, id, name, text }: WaitingCall): JsonObject[] {
    const events = this.stop();
    this.hasToolBlock = true;
    this.openCall = call;
    this.openArguments = new ObjectEnd();
    events.push(this.blockStart({ type: 'tool_use', id: callerToolId(id), name, input: {} }, 'tool'));
    if (text !== '') events.push(this.fragment(text));
    return events;
  }

  private toolArguments(call: number, text: string): JsonObject[] {
    if (text === '') return [];
    if (this.open === 'tool' && this.openCall === call) return [this.fragment(text)];
    const waiting = this.waitingCalls.get(call);
    if (waiting) waiting.text += text;
    return [];
  }

  private toolEnd(call: number): JsonObject[] {
    if (this.open === 'tool' && this.openCall === call) return this.nextCall();
    const waiting = this.waitingCalls.get(call);
    if (waiting) waiting.isEnded = true;
    return [];
  }

  /** Closes what is open and writes what waits, up to a call whose fragments go on: to the last where the answer is over. */
  private nextCall(isOver = false): JsonObject[] {
    const events = this.stop();
    let written = 0;
    for (const next of this.waiting) {
      written += 1;
      if (next.type === 'call') this.waitingCalls.delete(next.call);
      events.push(...(next.type === 'call' ? this.openTool(next) : this.said(next)));
      if (next.type === 'call' && !isOver && !next.isEnded && !this.openArguments.isWhole) break;
      if (next.type === 'call') events.push(...this.stop());
    }
    this.waiting = this.waiting.slice(written);
    return events;
  }

  private end(): JsonObject[] {
    const given = this.finish ?? { reason: 'stop', native: null, stopSequence: null };
    const finish = { ...given, stopSequence: stoppedAt(given, this.facts.stop) };
    const events = [...this.start(null), ...this.nextCall(true), ...this.stop()];
    const reason = stopReason(finish, this.hasToolBlock);
    const delta = {
      stop_reason: this.hasRefused && reason === 'end_turn' ? 'refusal' : reason,
      stop_sequence: finish.stopSequence,
      stop_details: isObject(finish.details) ? finish.details : null,
    };
    events.push({
      type: 'message_delta',
      delta,
      usage: messagesUsage(this.facts.believed(this.usage), this.facts),
    });
    events.push({ type: 'message_stop' });
    return events;
  }

  private blockStart(block: JsonObject, open: OpenKind): JsonObject {
    this.index += 1;
    this.open = open;
    return { type: 'content_block_start', index: this.index, content_block: block };
  }

  private fragment(text: string): JsonObject {
    this.openArguments.add(text);
    return this.delta({ type: 'input_json_delta', partial_json: text });
  }

  private cited(citation: Citation): JsonObject {
    return this.delta({ type: 'citations_delta', citation: citationOf(citation) });
  }

  private delta(delta: JsonObject): JsonObject {
    return { type: 'content_block_delta', index: this.index, delta };
  }

  private stop(): JsonObject[] {
    if (this.open === null) return [];
    this.open = null;
    return [{ type: 'content_block_stop', index: this.index }];
  }
}

function citationOf({ url, title }: Citation): JsonObject {
  return { type: 'web_search_result_location', url, title, cited_text: '', encrypted_index: '' };
}
