import { rememberSpelling } from '@gateway/json-body';
import { baseRespFailure } from '../../body/base-resp.js';
import { jsonOf } from '../../body/upstream-json.js';
import { SseParser, type SseEvent } from '../../sse/sse-parser.js';
import { withoutMoney } from '../../translation/money-names.js';
import type { AnswerFailure, RouteTarget } from '../../translation/translation.js';
import type { Citation, ModelEvent } from '../model-event.js';
import type { AnswerDecoder, Decoded } from '../text-dialect.js';
import { type StartEvent, reportedUsage, unitUsage } from './chat-completion.js';
import { filled, isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { ToolCallDecoder, type CalledAnswer } from './tool-call-decoder.js';

/** Most choices of one answer: OpenAI's own bound of `n`. */
const CHOICES_MAX = 128;

/**
 * Reads the answer of an OpenAI-compatible provider, plain or streamed. A message is
 * read as one delta: a stream and its plain twin cannot disagree.
 */
export class ChatDecoder implements AnswerDecoder, CalledAnswer {
  private readonly choices = new Map<number, ChoiceDecoder>();
  private parser: SseParser | null = null;
  /** True after `end` or `error`: nothing follows. */
  private isOver = false;
  private hasStarted = false;
  idSeed = '';
  /** Object being read, and its text. */
  private current: JsonObject = {};
  private text = '';

  constructor(
    private readonly target: RouteTarget,
    readonly toolNames: Readonly<Record<string, string>> = {},
  ) {}

  whole(body: JsonObject, text = ''): Decoded {
    this.current = body;
    this.text = text;
    const events = this.read(body, 'message');
    this.close(events);
    return { events, raw: body, source: null, text };
  }

  push(bytes: Uint8Array): Decoded[] {
    if (this.isOver) return [];
    this.parser ??= new SseParser();
    const frames = this.frames(this.parser.push(bytes));
    if (this.parser.overflowed) frames.push(this.unreadable('An event of the stream is too long.'));
    return frames;
  }

  end(): Decoded[] {
    const frames = this.frames(this.parser?.end() ?? []);
    if (this.isOver) return frames;
    const choices = [...this.choices.values()];
    const events: ModelEvent[] = [];
    // Some providers close without [DONE]: a finish that was seen is as good.
    if (choices.length > 0 && choices.every((choice) => choice.isFinished)) this.close(events);
    else {
      const message = 'The stream ended before the answer was complete.';
      this.fail({ kind: 'connection', body: null, status: null, message }, events);
    }
    frames.push({ events, raw: null, source: null });
    return frames;
  }

  private frames(list: SseEvent[]): Decoded[] {
    // Most reads hold one.
    if (list.length === 1 && !this.isOver) return [this.frame(list[0])];
    const frames: Decoded[] = [];
    for (const source of list) {
      if (this.isOver) break;
      frames.push(this.frame(source));
    }
    return frames;
  }

  private frame(source: SseEvent): Decoded {
    const text = source.data.trim();
    const events: ModelEvent[] = [];
    if (text === '[DONE]') this.close(events);
    if (text === '[DONE]' || text === '') return { events, raw: null, source };
    const chunk = jsonOf(text);
    if (source.event === 'error') {
      const body = chunk ?? text;
      this.fail(inBand(isObject(body) ? (body.error ?? body) : body, body), events);
      return { events, raw: null, source };
    }
    if (!isObject(chunk)) return this.unreadable('An event of the stream is not a JSON object.');
    this.current = chunk;
    this.text = text;
    return { events: this.read(chunk, 'delta'), raw: chunk, source };
  }

  /** Events of one chunk, or of a whole answer; `member` is where a choice keeps its text. */
  private read(answer: JsonObject, member: 'delta' | 'message'): ModelEvent[] {
    const events: ModelEvent[] = [];
    const choices = objectsOf(answer.choices);
    const failure = failureIn(answer, choices);
    if (failure) return this.fail(failure, events);
    // Azure's first chunk has no id and no choices, only what its filter found: it starts nothing.
    if (!this.hasStarted && (choices.length > 0 || filled(answer.id) !== null)) this.start(answer, events);
    const hasSources = answer.search_results !== undefined || answer.citations !== undefined;
    const sources = hasSources ? sourcesOf(answer) : NO_SOURCES;
    for (let position = 0; position < choices.length; position += 1) {
      const raw = choices[position];
      const choice = this.choiceAt(typeof raw.index === 'number' ? raw.index : position);
      if (!choice) return this.fail(badResponse('The answer has too many choices.'), events);
      for (const source of sources) choice.citation(source, events);
      choice.readChoice(raw, objectOf(raw[member]), events, answer);
      const { outgrown } = choice;
      if (outgrown !== null) return this.fail(badResponse(outgrown), events);
      if (choice.isUnserved) return this.fail(UNSERVED, events);
    }
    const usage = reportedUsage(answer);
    if (usage) {
      const raw = objectOf(withoutMoney(usage));
      events.push({ type: 'usage', usage: unitUsage(usage, this.target.quirks), raw });
    }
    return events;
  }

  private start(answer: JsonObject, events: ModelEvent[]): void {
    this.hasStarted = true;
    const { created } = answer;
    const start: StartEvent = {
      type: 'start',
      id: filled(answer.id),
      created: typeof created === 'number' && created > 0 ? Math.trunc(created) : null,
      systemFingerprint: filled(answer.system_fingerprint),
      serviceTier: filled(answer.service_tier),
    };
    // What minted ids of tool calls are made of: the same for every reading of one answer.
    this.idSeed = `${start.id ?? ''}/${start.created ?? ''}`;
    events.push(start);
  }

  private choiceAt(index: number): ChoiceDecoder | null {
    let choice = this.choices.get(index);
    if (!choice) {
      if (this.choices.size >= CHOICES_MAX) return null;
      choice = new ChoiceDecoder(index, this);
      this.choices.set(index, choice);
    }
    return choice;
  }

  remember(): void {
    rememberSpelling(this.current, this.text);
  }

  /** The provider says that the answer is complete. */
  private close(events: ModelEvent[]): void {
    if (this.isOver) return;
    if (this.choices.size === 0) {
      this.fail(badResponse('The answer has no choices.'), events);
      return;
    }
    for (const choice of this.choices.values()) choice.derivedFinish(events);
    this.isOver = true;
    events.push({ type: 'end' });
  }

  private fail(failure: AnswerFailure, events: ModelEvent[]): ModelEvent[] {
    if (this.isOver) return events;
    this.isOver = true;
    events.push({ type: 'error', failure });
    return events;
  }

  private unreadable(message: string): Decoded {
    return { events: this.fail(badResponse(message), []), raw: null, source: null };
  }
}

const UNSERVED: AnswerFailure = {
  kind: 'in_band',
  body: null,
  status: 503,
  message: 'The provider had no resources for an answer.',
};

function badResponse(message: string): AnswerFailure {
  return { kind: 'bad_response', body: null, status: null, message };
}

/** Sources that Perplexity and xAI name beside the choices. */
function sourcesOf(answer: JsonObject): readonly unknown[] {
  const results = objectsOf(answer.search_results);
  if (results.length > 0) return results;
  return Array.isArray(answer.citations) ? answer.citations : NO_SOURCES;
}

const NO_SOURCES: readonly unknown[] = [];

/** An error said in-band counts though choices come with it (OpenRouter sends both). */
function failureIn(answer: JsonObject, choices: readonly JsonObject[]): AnswerFailure | null {
  if (answer.error) return inBand(answer.error, answer);
  if (answer.object === 'error') return inBand(answer, answer);
  const failure = answer.base_resp === undefined ? null : baseRespFailure(answer);
  if (failure !== null) return { ...inBand(failure, answer), status: failure.status };
  for (const choice of choices) if (choice.error) return inBand(choice.error, answer);
  return null;
}

function inBand(error: unknown, body: unknown): AnswerFailure {
  const { message, code, status_code, status } = objectOf(error);
  const statuses = [code, status_code, status].map(Number);
  return {
    kind: 'in_band',
    body: isObject(body) && body.error ? body : { error },
    status: statuses.find((value) => Number.isInteger(value) && value >= 400 && value <= 599) ?? null,
    message: filled(message) ?? filled(error) ?? 'The provider reported an error.',
  };
}

/** Format of reasoning whose provider names none; it has no signature. */
const UNNAMED_FORMAT = 'unknown';
/** DeepSeek's word for an answer that it could not go on with. */
const NO_RESOURCES = 'insufficient_system_resource';

/** One choice of an answer: its deltas of a stream, or its one message of a plain answer. */
class ChoiceDecoder {
  isFinished = false;
  /** True where the provider has ended it for want of resources, and nothing of an answer came. */
  isUnserved = false;
  private hasSaid = false;
  /** None while no tool was called: most answers. */
  private tools: ToolCallDecoder | null = null;
  /** Citations are repeated on every chunk by some providers: each is passed once. */
  private cited: Set<string> | null = null;

  constructor(
    private readonly choice: number,
    private readonly answer: CalledAnswer,
  ) {}

  /** Returns the bound that the choice exceeds; null while it does not. */
  get outgrown(): string | null {
    return this.tools?.outgrown ?? null;
  }

  /** `answer`: the chunk or the whole answer that the choice stands in. */
  readChoice(raw: JsonObject, delta: JsonObject, events: ModelEvent[], answer: JsonObject): void {
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
    this.cited ??= new Set();
    if (this.cited.has(key)) return;
    this.cited.add(key);
    events.push({ type: 'citation', choice: this.choice, citation });
  }

  private toolCall(call: JsonObject, events: ModelEvent[], isWhole: boolean): void {
    this.hasSaid = true;
    this.tools ??= new ToolCallDecoder(this.choice, this.answer);
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
 * Stop reasons of OpenAI-compatible providers whose meaning equals one of OpenAI's. A value that is
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
  const reported = filled(choice.finish_reason);
  if (reported === null) return null;
  return {
    reason: EQUAL_MEANING.get(reported.toLowerCase()) ?? reported,
    native: filled(choice.native_finish_reason) ?? reported,
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
