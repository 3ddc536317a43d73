import type { UnitUsage } from '@gateway/contracts';
import type { Citation, ModelEvent } from '../model-event.js';
import type { TextFacts } from '../text-dialect.js';
import { SIGNATURE_FORMAT } from './answer-reader.js';
import { isObject, type JsonObject } from './json.js';
import { stopReason, type Finish } from './stop-reason.js';
import { callerToolId } from './tool-id.js';
import { messagesUsage } from './usage.js';

type OpenKind = 'text' | 'thinking' | 'opaque' | 'tool';

interface WaitingCall {
  id: string;
  name: string;
  fragments: string[];
  isEnded: boolean;
}

/** True for formats of reasoning whose signatures this dialect's family minted, whatever their version. */
export function isOwnFormat(format: string | undefined): boolean {
  return format?.startsWith(SIGNATURE_FORMAT) ?? false;
}

/**
 * Events -> the objects of a messages stream (wire-formats 5.6, encoder). At most one block is open and indexes are
 * dense; fragments of a tool that comes while another is open wait until that one ends. A plain answer is built of the
 * same objects, so both agree.
 */
export class AnswerWriter {
  private isStarted = false;
  private index = -1;
  private open: OpenKind | null = null;
  private openCall = -1;
  private hasToolBlock = false;
  private hasRefused = false;
  private readonly waiting = new Map<number, WaitingCall>();
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

  private content(
    event: Exclude<ModelEvent, { type: 'start' | 'usage' | 'finish' | 'end' | 'ping' | 'audio' | 'error' }>,
  ): JsonObject[] {
    switch (event.type) {
      case 'refusal':
        this.hasRefused = true;
        return this.text(event.text);
      case 'text':
        return this.text(event.text);
      case 'citation':
        return this.open === 'text'
          ? [this.delta({ type: 'citations_delta', citation: citationOf(event.citation) })]
          : [];
      case 'reasoning':
        return event.text === '' || this.facts.excludeReasoning ? [] : this.thinking(event.text);
      case 'reasoning_signature':
        return isOwnFormat(event.format) ? this.signature(event.signature) : [];
      case 'opaque_reasoning':
        if (!isOwnFormat(event.format)) return [];
        return [
          ...this.closeAll(),
          this.blockStart({ type: 'redacted_thinking', data: event.data }, 'opaque'),
          ...this.stop(),
        ];
      case 'tool_start':
        return this.toolStart(event.call, event.id, event.name);
      case 'tool_arguments':
        return this.toolArguments(event.call, event.text);
      case 'tool_end':
        return this.toolEnd(event.call);
    }
  }

  private text(text: string): JsonObject[] {
    if (text === '') return [];
    const opened =
      this.open === 'text' ? [] : [...this.closeAll(), this.blockStart({ type: 'text', text: '' }, 'text')];
    return [...opened, this.delta({ type: 'text_delta', text })];
  }

  private thinking(thinking: string): JsonObject[] {
    return [...this.openThinking(), this.delta({ type: 'thinking_delta', thinking })];
  }

  private openThinking(): JsonObject[] {
    if (this.open === 'thinking') return [];
    return [
      ...this.closeAll(),
      this.blockStart({ type: 'thinking', thinking: '', signature: '' }, 'thinking'),
    ];
  }

  /** A signature ends its block; one without text makes a block of its own, or it would be lost. */
  private signature(signature: string): JsonObject[] {
    return [...this.openThinking(), this.delta({ type: 'signature_delta', signature }), ...this.stop()];
  }

  private toolStart(call: number, id: string, name: string): JsonObject[] {
    if (this.open === 'tool') {
      this.waiting.set(call, { id, name, fragments: [], isEnded: false });
      return [];
    }
    return [...this.stop(), this.openTool(call, id, name)];
  }

  private openTool(call: number, id: string, name: string): JsonObject {
    this.hasToolBlock = true;
    this.openCall = call;
    return this.blockStart({ type: 'tool_use', id: callerToolId(id), name, input: {} }, 'tool');
  }

  private toolArguments(call: number, text: string): JsonObject[] {
    if (text === '') return [];
    if (this.open === 'tool' && this.openCall === call) return [this.fragment(text)];
    this.waiting.get(call)?.fragments.push(text);
    return [];
  }

  private toolEnd(call: number): JsonObject[] {
    const waiting = this.waiting.get(call);
    if (waiting) waiting.isEnded = true;
    if (this.open !== 'tool' || this.openCall !== call) return [];
    const events = this.stop();
    for (const [next, tool] of this.waiting) {
      this.waiting.delete(next);
      events.push(
        this.openTool(next, tool.id, tool.name),
        ...tool.fragments.map((text) => this.fragment(text)),
      );
      if (!tool.isEnded) break;
      events.push(...this.stop());
    }
    return events;
  }

  /** Closes what is open and writes out every tool that waits. */
  private closeAll(): JsonObject[] {
    const events = this.stop();
    for (const [call, tool] of this.waiting) {
      events.push(
        this.openTool(call, tool.id, tool.name),
        ...tool.fragments.map((text) => this.fragment(text)),
      );
      events.push(...this.stop());
    }
    this.waiting.clear();
    return events;
  }

  private end(): JsonObject[] {
    const finish = this.finish ?? { reason: 'stop', native: null, stopSequence: null };
    const events = [...this.start(null), ...this.closeAll()];
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
    return this.delta({ type: 'input_json_delta', partial_json: text });
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
