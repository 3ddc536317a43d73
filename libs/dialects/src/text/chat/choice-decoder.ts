import { withoutMoney } from '../../translation/money-names.js';
import type { Citation, ModelEvent } from '../model-event.js';
import { filled, isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { ToolCallDecoder } from './tool-call-decoder.js';

/** Format of reasoning whose provider names none; it has no signature. */
const UNNAMED_FORMAT = 'unknown';
/** DeepSeek's word for an answer that it could not go on with (wire-formats 5.8). */
const NO_RESOURCES = 'insufficient_system_resource';

/** One choice of an answer: its deltas of a stream, or its one message of a plain answer. */
export class ChoiceDecoder {
  isFinished = false;
  /** True where the provider has ended it for want of resources, and nothing of an answer came. */
  isUnserved = false;
  private hasSaid = false;
  /** None while no tool was called: most answers. */
  private tools: ToolCallDecoder | null = null;
  /** Citations are repeated on every chunk by some providers: each is passed once. */
  private readonly cited = new Set<string>();

  constructor(
    private readonly choice: number,
    private readonly idSeed: () => string,
    private readonly originalName: (name: string) => string,
    /** Called before a value of the answer is kept that is written again. */
    private readonly spell: () => void,
  ) {}

  /** Returns the bound that the choice exceeds; null while it does not. */
  get outgrown(): string | null {
    return this.tools?.outgrown ?? null;
  }

  /** `answer`: the chunk or the whole answer that the choice stands in. */
  read(raw: JsonObject, delta: JsonObject, events: ModelEvent[], answer: JsonObject): void {
    if (this.isFinished) return;
    this.reasoning(delta, events);
    this.content(delta.content, raw.logprobs, events);
    const { choice } = this;
    const refusal = filled(delta.refusal);
    if (refusal !== null) events.push({ type: 'refusal', choice, text: refusal });
    if (isObject(delta.audio))
      events.push({ type: 'audio', choice, audio: objectOf(withoutMoney(delta.audio)) });
    if (delta.annotations !== undefined)
      for (const annotation of objectsOf(delta.annotations)) this.citation(annotation.url_citation, events);
    // The elements of a plain answer's message are calls; those of a delta may be parts of them.
    const isWhole = raw.message === delta;
    if (delta.tool_calls !== undefined)
      for (const call of objectsOf(delta.tool_calls)) this.toolCall(call, events, isWhole);
    if (isObject(delta.function_call))
      this.toolCall({ index: 0, function: delta.function_call }, events, isWhole);
    const finish = finishOf(raw);
    if (finish === null) return;
    this.isUnserved = finish.native === NO_RESOURCES && !this.hasSaid;
    if (!this.isUnserved) this.finish(finish.reason, finish.native, events, stoppedAt(raw, answer));
  }

  /** The stream is over and the provider named no reason: it is derived. */
  derivedFinish(events: ModelEvent[]): void {
    if (!this.isFinished)
      this.finish(this.tools && this.tools.count > 0 ? 'tool_calls' : 'stop', null, events);
  }

  /** One source: an annotation's url_citation, or a search result of Perplexity or xAI. */
  citation(source: unknown, events: ModelEvent[]): void {
    const from = typeof source === 'string' ? { url: source } : objectOf(source);
    const url = filled(from.url);
    if (url === null || this.isFinished) return;
    const citation: Citation = { url, title: textOf(from.title) };
    if (typeof from.start_index === 'number') citation.start = from.start_index;
    if (typeof from.end_index === 'number') citation.end = from.end_index;
    const key = `${citation.start ?? ''}-${citation.end ?? ''}-${url}`;
    if (this.cited.has(key)) return;
    this.cited.add(key);
    events.push({ type: 'citation', choice: this.choice, citation });
  }

  private toolCall(call: JsonObject, events: ModelEvent[], isWhole: boolean): void {
    this.hasSaid = true;
    this.tools ??= new ToolCallDecoder(this.choice, this.idSeed, this.originalName, this.spell);
    if (isWhole) this.tools.whole(call, events);
    else this.tools.delta(call, events);
  }

  private finish(
    reason: string,
    native: string | null,
    events: ModelEvent[],
    stopSequence: string | null = null,
  ): void {
    this.tools?.finish(events);
    this.isFinished = true;
    events.push({ type: 'finish', choice: this.choice, reason, native, stopSequence });
  }

  private content(content: unknown, logprobs: unknown, events: ModelEvent[]): void {
    const { text, thinking } = contentOf(content);
    const { choice } = this;
    if (thinking !== '') events.push({ type: 'reasoning', choice, text: thinking, format: UNNAMED_FORMAT });
    const measured = isObject(logprobs) && Object.values(logprobs).some((list) => Array.isArray(list));
    if (measured) events.push({ type: 'text', choice, text, logprobs: withoutMoney(logprobs) });
    else if (text !== '') events.push({ type: 'text', choice, text });
    this.hasSaid ||= text !== '';
  }

  private reasoning(delta: JsonObject, events: ModelEvent[]): void {
    const details = objectsOf(delta.reasoning_details);
    if (details.length > 0) {
      for (const detail of details) this.reasoningDetail(detail, events);
      return;
    }
    const text = filled(delta.reasoning_content) ?? filled(delta.reasoning) ?? filled(delta.thinking);
    if (text !== null) events.push({ type: 'reasoning', choice: this.choice, text, format: UNNAMED_FORMAT });
  }

  private reasoningDetail(detail: JsonObject, events: ModelEvent[]): void {
    const { choice } = this;
    const format = filled(detail.format) ?? UNNAMED_FORMAT;
    const text = filled(detail.text) ?? filled(detail.summary);
    const signature = filled(detail.signature);
    const data = filled(detail.data);
    if (text !== null) events.push({ type: 'reasoning', choice, text, format });
    if (signature !== null) events.push({ type: 'reasoning_signature', choice, signature, format });
    if (data !== null) events.push({ type: 'opaque_reasoning', choice, data, format });
  }
}

/**
 * Stop reasons of OpenAI-compatible providers whose meaning equals one of OpenAI's (wire-formats 5.8). A value that is
 * not listed goes to the caller verbatim.
 */
const EQUAL_MEANING: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['complete', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['refusal', 'content_filter'],
  ['safety', 'content_filter'],
]);

/** Finish of a choice as its provider gave it, null where it gave none. OpenRouter sends the native value apart. */
function finishOf(choice: JsonObject): { reason: string; native: string | null } | null {
  const given = filled(choice.finish_reason);
  if (given === null) return null;
  return {
    reason: EQUAL_MEANING.get(given.toLowerCase()) ?? given,
    native: filled(choice.native_finish_reason) ?? given,
  };
}

/** The stop sequence that matched, as local servers say it: vLLM, SGLang, llama.cpp. A number is a token. */
function stoppedAt({ stop_reason, matched_stop }: JsonObject, { __verbose }: JsonObject): string | null {
  return filled(stop_reason) ?? filled(matched_stop) ?? filled(objectOf(__verbose).stopping_word);
}

/** Content is a string, or parts: Mistral's reasoning models send `thinking` parts among them. */
function contentOf(content: unknown): { text: string; thinking: string } {
  if (typeof content === 'string') return { text: content, thinking: '' };
  let text = '';
  let thinking = '';
  for (const part of objectsOf(content)) {
    if (part.type === 'text') text += textOf(part.text);
    else if (part.type === 'thinking') thinking += contentOf(part.thinking).text;
  }
  return { text, thinking };
}
