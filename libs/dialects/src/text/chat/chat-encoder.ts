import { writeJson } from '@gateway/json-body';
import type { ModelEvent } from '../model-event.js';
import type { AnswerEncoder, Decoded, TextFacts } from '../text-dialect.js';
import {
  ReasoningDetails,
  type ReasoningPiece,
  type StartEvent,
  annotation,
  answerHead,
  callerFinish,
  chatUsage,
  fold,
} from './chat-completion.js';
import type { JsonObject } from '../../body/json-object.js';

export const DONE_FRAME = 'data: [DONE]\n\n';

type UsageEvent = Extract<ModelEvent, { type: 'usage' }>;

interface OpenChoice {
  details: ReasoningDetails;
  custom: Set<number>;
}

/**
 * Writes the answer of another dialect as a chat completion; a stream one frame per event and nothing held back but
 * usage.
 */
export class ChatEncoder implements AnswerEncoder {
  private start: StartEvent | null = null;
  private head: string | null = null;
  private usage: UsageEvent | null = null;
  private readonly choices = new Map<number, OpenChoice>();
  private isOver = false;

  constructor(private readonly facts: TextFacts) {}

  whole({ events }: Decoded): JsonObject {
    return fold(events, this.facts);
  }

  write({ events }: Decoded): string {
    let frames = '';
    for (const event of events) frames += this.framesOf(event);
    return frames;
  }

  private framesOf(event: ModelEvent): string {
    if (this.isOver) return '';
    switch (event.type) {
      case 'start':
        this.start ??= event;
        return '';
      case 'usage':
        this.usage = event;
        return '';
      case 'ping':
      case 'tool_end':
        return '';
      case 'error':
        this.isOver = true;
        return '';
      case 'end':
        this.isOver = true;
        return this.usageFrame() + DONE_FRAME;
      default:
        return this.choiceFrames(event);
    }
  }

  private choiceFrames(event: Extract<ModelEvent, { choice: number }>): string {
    const { choice, type } = event;
    if (type === 'tool_end') return '';
    const isReasoning = type === 'reasoning' || type === 'reasoning_signature' || type === 'opaque_reasoning';
    if (isReasoning && this.facts.excludeReasoning) return '';
    const open = this.choices.get(choice);
    const state = open ?? { details: new ReasoningDetails(), custom: new Set<number>() };
    this.choices.set(choice, state);
    const first = open ? '' : this.delta(choice, { role: 'assistant', content: '' });
    if (type === 'finish') return first + this.finish(event);
    const delta = this.deltaOf(event, state);
    if (delta === null) return first;
    const logprobs = type === 'text' ? event.logprobs : undefined;
    return first + this.delta(choice, delta, logprobs);
  }

  private deltaOf(
    event: Exclude<Extract<ModelEvent, { choice: number }>, { type: 'finish' | 'tool_end' }>,
    { details, custom }: OpenChoice,
  ): JsonObject | null {
    const { legacyFunctions } = this.facts;
    switch (event.type) {
      case 'text':
        return { content: event.text };
      case 'refusal':
        return { refusal: event.text };
      case 'reasoning':
      case 'reasoning_signature':
      case 'opaque_reasoning':
        return reasoningDelta(details, event);
      case 'tool_start':
        if (event.custom) custom.add(event.call);
        return toolStartDelta(event, legacyFunctions);
      case 'tool_arguments':
        return toolArgumentsDelta(event, custom.has(event.call), legacyFunctions);
      case 'citation':
        return { annotations: [annotation(event.citation)] };
      case 'audio':
        return { audio: event.audio };
    }
  }

  private finish({ choice, reason, native }: Extract<ModelEvent, { type: 'finish' }>): string {
    const finishReason = callerFinish(reason, this.facts.legacyFunctions);
    return this.frame(
      `{"index":${choice},"delta":{},"logprobs":null,"finish_reason":${JSON.stringify(finishReason)},` +
        `"native_finish_reason":${JSON.stringify(native)}}`,
    );
  }

  private delta(choice: number, delta: JsonObject, logprobs: unknown = null): string {
    return this.frame(
      `{"index":${choice},"delta":${writeJson(delta)},"logprobs":${JSON.stringify(logprobs)},` +
        `"finish_reason":null,"native_finish_reason":null}`,
    );
  }

  private frame(choice: string): string {
    return `${this.chunkHead()}"choices":[${choice}]${this.facts.includeUsage ? ',"usage":null' : ''}}\n\n`;
  }

  private usageFrame(): string {
    const { facts, usage } = this;
    const body = JSON.stringify(chatUsage(facts.believed(usage?.usage ?? {}), usage?.raw ?? {}, facts));
    return `${this.chunkHead()}"choices":[],"usage":${body}}\n\n`;
  }

  /** Written once per stream: every chunk begins with the same text. */
  private chunkHead(): string {
    if (this.head === null) {
      const { id, ...rest } = answerHead(this.start, this.facts);
      const head = JSON.stringify({ id, object: 'chat.completion.chunk', ...rest });
      this.head = `data: ${head.slice(0, -1)},`;
    }
    return this.head;
  }
}

function reasoningDelta(details: ReasoningDetails, piece: ReasoningPiece): JsonObject {
  const detail = details.add(piece);
  return piece.type === 'reasoning'
    ? { reasoning: piece.text, reasoning_details: [detail] }
    : { reasoning_details: [detail] };
}

/** A legacy caller knows one call, by its old name. */
export function toolStartDelta(
  { call, id, name, custom, extras }: Extract<ModelEvent, { type: 'tool_start' }>,
  legacyFunctions: boolean,
): JsonObject | null {
  if (legacyFunctions) return call === 0 ? { function_call: { name, arguments: '' } } : null;
  const body = custom
    ? { type: 'custom', custom: { name, input: '' } }
    : { type: 'function', function: { name, arguments: '' } };
  return { tool_calls: [{ index: call, id, ...body, ...extras }] };
}

export function toolArgumentsDelta(
  { call, text }: Extract<ModelEvent, { type: 'tool_arguments' }>,
  isCustom: boolean,
  legacyFunctions: boolean,
): JsonObject | null {
  if (legacyFunctions) return call === 0 ? { function_call: { arguments: text } } : null;
  const body = isCustom ? { custom: { input: text } } : { function: { arguments: text } };
  return { tool_calls: [{ index: call, ...body }] };
}
