import type { UnitUsage } from '@gateway/contracts';
import { isObject, objectOf, wholeCount, type JsonObject } from '../../body/json-object.js';
import { withoutMoney } from '../../translation/money-names.js';
import type { Quirks } from '../../translation/translation.js';
import type { Citation, ModelEvent } from '../model-event.js';
import type { TextFacts } from '../text-dialect.js';

export type StartEvent = Extract<ModelEvent, { type: 'start' }>;

/** The members beside the choices of an answer, and on every chunk of a stream alike. */
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
  /** None while no tool was called. */
  private calls: Map<number, { start: ToolStart; text: string }> | null = null;
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
        (this.calls ??= new Map()).set(event.call, { start: event, text: '' });
        break;
      case 'tool_arguments': {
        const call = this.calls?.get(event.call);
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
    const isEmpty = this.text === '' && (calls !== null || this.refusal !== '' || this.audio !== null);
    const message: JsonObject = {
      role: 'assistant',
      content: isEmpty ? null : this.text,
      refusal: this.refusal === '' ? null : this.refusal,
      annotations: this.annotations,
    };
    if (calls !== null) {
      const toolCalls = [...calls.values()].map(({ start, text }) => toolCall(start, text));
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

/** The plain chat completion: the fold of the events of one answer. */
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
  const { id, created, model, service_tier, system_fingerprint } = answerHead(start, facts);
  const inOrder = Array.from(choices.values(), (choice) => choice.toJson());
  if (inOrder.length > 1) inOrder.sort((a, b) => Number(a.index) - Number(b.index));
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: inOrder,
    usage: chatUsage(facts.believed(usage?.usage ?? {}), usage?.raw ?? {}, facts),
    service_tier,
    system_fingerprint,
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
 * Members of `reasoning_details`. A block is text up to its signature; opaque data is a block of its
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

function firstOf(...values: unknown[]): number {
  for (let at = 0; at < values.length; at += 1) {
    const count = wholeCount(values[at]);
    if (count !== null) return count;
  }
  return 0;
}

/** The usage object of a chunk or answer. Groq repeats it in `x_groq`: one of the two counts, never both. */
export function reportedUsage(answer: JsonObject): JsonObject | null {
  const { usage, x_groq } = answer;
  if (hasCounts(usage)) return usage;
  const repeated = isObject(x_groq) ? x_groq.usage : undefined;
  return hasCounts(repeated) ? repeated : null;
}

function hasCounts(usage: unknown): usage is JsonObject {
  return isObject(usage) && (wholeCount(usage.prompt_tokens) ?? wholeCount(usage.completion_tokens)) !== null;
}

/**
 * Counts of an OpenAI-compatible usage object. Cached and written tokens never exceed the
 * prompt. A side whose total is absent or no count is left out: it is estimated, and not free.
 */
export function unitUsage(raw: JsonObject, quirks: Quirks): UnitUsage {
  // `prompt_token_details` is Mistral's spelling.
  const input = objectOf(raw.prompt_tokens_details ?? raw.prompt_token_details);
  const output = objectOf(raw.completion_tokens_details);
  let prompt = firstOf(raw.prompt_tokens);
  let completion = firstOf(raw.completion_tokens);
  const total = wholeCount(raw.total_tokens);
  let cached = firstOf(
    raw.prompt_cache_hit_tokens,
    raw.num_cached_tokens,
    input.cached_tokens,
    raw.cached_tokens,
  );
  const reasoning = firstOf(output.reasoning_tokens, raw.reasoning_tokens);
  if (quirks.usageExcludesReasoning) {
    // xAI counts reasoning on top; its total shows whether this answer does.
    if (total !== prompt + completion) completion += reasoning;
    if (cached > prompt) prompt += cached;
  }
  cached = Math.min(cached, prompt);
  const written = Math.min(
    firstOf(input.cache_write_tokens, input.cache_creation_input_tokens),
    prompt - cached,
  );
  const usage: UnitUsage = {};
  if (wholeCount(raw.prompt_tokens) !== null) {
    usage.prompt_tokens = prompt;
    usage.cached_tokens = cached;
    usage.cache_write_tokens = written;
    usage.cache_write_1h_tokens = Math.min(firstOf(input.cache_write_1h_tokens), written);
    usage.audio_input_tokens = firstOf(input.audio_tokens);
    const images = wholeCount(input.image_tokens);
    if (images) usage.image_input_tokens = images;
  }
  if (wholeCount(raw.completion_tokens) !== null) {
    usage.completion_tokens = completion;
    usage.reasoning_tokens = reasoning;
    usage.audio_output_tokens = firstOf(output.audio_tokens);
    usage.accepted_prediction_tokens = firstOf(output.accepted_prediction_tokens);
    usage.rejected_prediction_tokens = firstOf(output.rejected_prediction_tokens);
    const images = wholeCount(output.image_tokens);
    if (images) usage.image_output_tokens = images;
  }
  const searches = wholeCount(raw.num_search_queries);
  if (searches) usage.searches = searches;
  return usage;
}

/** Counts of other dialects that the fixed keys already say; they are translated, not added by the provider. */
const TRANSLATED = [
  'input_tokens',
  'output_tokens',
  'input_tokens_details',
  'cache_read_input_tokens',
  'cache_creation',
  'output_tokens_details',
];

function providerKeys(raw: JsonObject): JsonObject {
  const keys = { ...objectOf(withoutMoney(raw)) };
  delete keys.cache_creation_input_tokens;
  if (raw.prompt_tokens === undefined) for (const name of TRANSLATED) delete keys[name];
  return keys;
}

/**
 * The chat usage object: every fixed key always present and always the gateway's value, the
 * provider's own keys beside them, no money. `raw` is the provider's object in whatever dialect it speaks.
 */
export function chatUsage(usage: UnitUsage, raw: JsonObject, facts: TextFacts): JsonObject {
  const keys = providerKeys(raw);
  const prompt = usage.prompt_tokens ?? 0;
  const completion = usage.completion_tokens ?? 0;
  const written = usage.cache_write_tokens ?? 0;
  return {
    ...keys,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      ...objectOf(keys.prompt_tokens_details),
      cached_tokens: usage.cached_tokens ?? 0,
      cache_write_tokens: written,
      cache_write_1h_tokens: usage.cache_write_1h_tokens ?? 0,
      audio_tokens: usage.audio_input_tokens ?? 0,
    },
    completion_tokens_details: {
      ...objectOf(keys.completion_tokens_details),
      reasoning_tokens: usage.reasoning_tokens ?? 0,
      audio_tokens: usage.audio_output_tokens ?? 0,
      accepted_prediction_tokens: usage.accepted_prediction_tokens ?? 0,
      rejected_prediction_tokens: usage.rejected_prediction_tokens ?? 0,
    },
    byok_used: facts.byokUsed,
    fallback_triggered: facts.fallbackTriggered,
    ...(facts.deprecatedCacheKey && written > 0 ? { cache_creation_input_tokens: written } : {}),
  };
}
