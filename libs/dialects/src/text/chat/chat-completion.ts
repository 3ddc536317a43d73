import type { Citation, ModelEvent } from '../model-event.js';
import type { TextFacts } from '../text-dialect.js';
import { objectOf, type JsonObject } from '../../body/json-object.js';
import { chatUsage } from './usage.js';

export type StartEvent = Extract<ModelEvent, { type: 'start' }>;

/** The members beside the choices of an answer, and on every chunk of a stream alike (wire-formats 1.4, S2). */
interface AnswerHead {
  id: string;
  created: number;
  model: string;
  service_tier: string;
  system_fingerprint: string;
}

/** `model` is the catalogue id and never the provider's own name of it. */
export function answerHead(start: StartEvent | null, facts: TextFacts): AnswerHead {
  const tier = start?.serviceTier ?? facts.tier;
  return {
    // An id of another format would be no id of a chat completion.
    id: start?.id == null || /^(msg|resp)_/.test(start.id) ? facts.answerId() : start.id,
    created: start?.created ?? facts.created,
    model: facts.model,
    // Anthropic calls its default tier by another name.
    service_tier: tier === 'standard' ? 'default' : tier,
    // The field is a string: a provider that names no configuration has an empty one.
    system_fingerprint: start?.systemFingerprint ?? '',
  };
}

/** Returns the caller's finish reason: a legacy caller knows calls by their old name. */
export function callerFinish(reason: string, legacyFunctions: boolean): string {
  return legacyFunctions && reason === 'tool_calls' ? 'function_call' : reason;
}

type UsageEvent = Extract<ModelEvent, { type: 'usage' }>;
type ToolStart = Extract<ModelEvent, { type: 'tool_start' }>;

class FoldedChoice {
  private text = '';
  private refusal = '';
  private reasoning = '';
  private details: ReasoningDetails | null = null;
  private readonly annotations: JsonObject[] = [];
  private readonly calls = new Map<number, { start: ToolStart; text: string }>();
  private audio: JsonObject | null = null;
  private logprobs: JsonObject | null = null;
  private reason = 'stop';
  private native: string | null = null;

  constructor(
    private readonly index: number,
    private readonly facts: TextFacts,
  ) {}

  add(event: ModelEvent): void {
    switch (event.type) {
      case 'text':
        this.text += event.text;
        if (event.logprobs !== undefined) this.logprobs = joinLists(this.logprobs, objectOf(event.logprobs));
        break;
      case 'refusal':
        this.refusal += event.text;
        break;
      case 'reasoning':
        this.reasoning += event.text;
        (this.details ??= new ReasoningDetails()).add(event);
        break;
      case 'reasoning_signature':
      case 'opaque_reasoning':
        (this.details ??= new ReasoningDetails()).add(event);
        break;
      case 'tool_start':
        this.calls.set(event.call, { start: event, text: '' });
        break;
      case 'tool_arguments': {
        const call = this.calls.get(event.call);
        if (call) call.text += event.text;
        break;
      }
      case 'citation':
        this.annotations.push(annotation(event.citation));
        break;
      case 'audio':
        this.audio = joinAudio(this.audio, event.audio);
        break;
      case 'finish':
        this.reason = event.reason;
        this.native = event.native;
        break;
      default:
        break;
    }
  }

  toJson(): JsonObject {
    const { facts } = this;
    return {
      index: this.index,
      message: this.message(),
      logprobs: this.logprobs,
      finish_reason: callerFinish(this.reason, facts.legacyFunctions),
      native_finish_reason: this.native,
    };
  }

  private message(): JsonObject {
    const { facts, calls } = this;
    const isEmpty = this.text === '' && (calls.size > 0 || this.refusal !== '' || this.audio !== null);
    const message: JsonObject = {
      role: 'assistant',
      content: isEmpty ? null : this.text,
      refusal: this.refusal === '' ? null : this.refusal,
      annotations: this.annotations,
    };
    const toolCalls = [...calls.values()].map(({ start, text }) => toolCall(start, text));
    if (toolCalls.length > 0) {
      if (facts.legacyFunctions) message.function_call = toolCalls[0].function;
      else message.tool_calls = toolCalls;
    }
    if (this.audio) message.audio = this.audio;
    if (!facts.excludeReasoning) {
      if (this.reasoning !== '') message.reasoning = this.reasoning;
      if (this.details) message.reasoning_details = this.details.blocks;
    }
    return message;
  }
}

/** The plain chat completion: the fold of the events of one answer (wire-formats 1.3). */
export function fold(events: Iterable<ModelEvent>, facts: TextFacts): JsonObject {
  let start: StartEvent | null = null;
  let usage: UsageEvent | null = null;
  const choices = new Map<number, FoldedChoice>();
  for (const event of events) {
    if (event.type === 'start') start ??= event;
    else if (event.type === 'usage') usage = event;
    else if ('choice' in event) {
      const choice = choices.get(event.choice) ?? new FoldedChoice(event.choice, facts);
      choices.set(event.choice, choice);
      choice.add(event);
    }
  }
  const { id, created, model, ...tier } = answerHead(start, facts);
  const inOrder = [...choices.entries()].sort(([a], [b]) => a - b);
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: inOrder.map(([, choice]) => choice.toJson()),
    usage: chatUsage(facts.believed(usage?.usage ?? {}), usage?.raw ?? {}, facts),
    ...tier,
  };
}

export function annotation({ url, title, start, end }: Citation): JsonObject {
  return { type: 'url_citation', url_citation: { url, title, start_index: start ?? 0, end_index: end ?? 0 } };
}

function toolCall(start: ToolStart, text: string): JsonObject {
  const { id, name, custom, extras } = start;
  return custom
    ? { id, type: 'custom', custom: { name, input: text }, ...extras }
    : { id, type: 'function', function: { name, arguments: text }, ...extras };
}

function joinLists(left: JsonObject | null, right: JsonObject): JsonObject {
  const joined: JsonObject = { ...left };
  for (const [name, list] of Object.entries(right)) {
    const before = joined[name];
    if (Array.isArray(before) && Array.isArray(list))
      joined[name] = [...(before as unknown[]), ...(list as unknown[])];
    else if (!Array.isArray(before)) joined[name] = list;
  }
  return joined;
}

/** Streamed audio: data and transcript come in pieces, id and expiry once. */
function joinAudio(left: JsonObject | null, right: JsonObject): JsonObject {
  const joined: JsonObject = { ...left };
  for (const [name, value] of Object.entries(right)) {
    const before = joined[name];
    const isPiece = (name === 'data' || name === 'transcript') && typeof before === 'string';
    joined[name] = isPiece && typeof value === 'string' ? before + value : value;
  }
  return joined;
}

/** One piece of reasoning as reasoning_details has it, without its index. */
export type ReasoningPiece =
  | { type: 'reasoning'; text: string; format: string }
  | { type: 'reasoning_signature'; signature: string; format: string }
  | { type: 'opaque_reasoning'; data: string; format: string };

/**
 * Members of `reasoning_details` (wire-formats 1.3). A block is text up to its signature; opaque data is a block of its
 * own. As stream deltas, pieces of one block share its index.
 */
export class ReasoningDetails {
  readonly blocks: JsonObject[] = [];
  private isOpen = false;

  /** Takes the piece in, and answers it as the delta of a stream. */
  add(piece: ReasoningPiece): JsonObject {
    if (piece.type === 'opaque_reasoning') {
      this.isOpen = false;
      const block = {
        type: 'reasoning.encrypted',
        data: piece.data,
        index: this.blocks.length,
        format: piece.format,
      };
      this.blocks.push(block);
      return block;
    }
    if (!this.isOpen)
      this.blocks.push({ type: 'reasoning.text', text: '', index: this.blocks.length, format: piece.format });
    this.isOpen = piece.type === 'reasoning';
    const index = this.blocks.length - 1;
    const block = this.blocks[index];
    if (piece.type === 'reasoning') {
      block.text = `${String(block.text)}${piece.text}`;
      return { type: 'reasoning.text', text: piece.text, index, format: piece.format };
    }
    block.signature = piece.signature;
    return { type: 'reasoning.text', signature: piece.signature, index, format: piece.format };
  }
}
