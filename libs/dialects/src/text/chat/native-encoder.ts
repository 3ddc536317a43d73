import { rememberSpelling, spelledLike, writeJson } from '@gateway/json-body';
import { withoutMoney } from '../../translation/money-names.js';
import type { ModelEvent } from '../model-event.js';
import type { AnswerEncoder, Decoded, TextFacts } from '../text-dialect.js';
import {
  ReasoningDetails,
  type StartEvent,
  annotation,
  answerHead,
  callerFinish,
  chatUsage,
  fold,
} from './chat-completion.js';
import { DONE_FRAME, toolArgumentsDelta, toolStartDelta } from './chat-encoder.js';
import { isObject, objectOf, objectsOf, pick, type JsonObject } from '../../body/json-object.js';

type ChoiceEvent = Extract<ModelEvent, { choice: number }>;
type UsageEvent = Extract<ModelEvent, { type: 'usage' }>;

interface SeenChoice {
  custom: Set<number>;
  details: ReasoningDetails;
}

/**
 * Chat on both sides: the caller's answer or chunk is made of the events, with the unknown members of the provider's kept.
 * Who serves and what it costs the gateway are taken out. Of a stream only usage is held back, for its own last chunk.
 */
export class NativeChatEncoder implements AnswerEncoder {
  /** Choices of a stream; none of a plain answer. */
  private seen: Map<number, SeenChoice> | null = null;
  private start: StartEvent | null = null;
  private usage: UsageEvent | null = null;
  /** Text of each chunk up to its choices, until another start is read. */
  private head: string | null = null;
  /** The answer or chunk that is written, and its text. */
  private raw: JsonObject = {};
  private text = '';
  private isRemembered = false;
  /** True where something of it is written otherwise than JSON.stringify writes it. */
  isSpelled = false;

  /** The provider's own spelling of its reasoning stays unless the caller left it out. */
  private readonly ownMessage: ReadonlySet<string>;

  constructor(private readonly facts: TextFacts) {
    this.ownMessage = facts.excludeReasoning ? OWN_AND_REASONING : OWN_MESSAGE;
  }

  whole({ events, raw, text }: Decoded): JsonObject {
    this.begin(raw, text ?? '', events);
    const answer = fold(events, this.facts);
    if (raw === null) return answer;
    for (const [position, sent] of objectsOf(raw.choices).entries()) {
      const index = typeof sent.index === 'number' ? sent.index : position;
      const choice = objectsOf(answer.choices).find((one) => one.index === index);
      if (!choice) continue;
      if (isObject(sent.logprobs)) this.remember();
      const unknown = this.unknownOf(objectOf(sent.message), this.ownMessage);
      Object.assign(objectOf(choice.message), unknown);
      Object.assign(choice, this.unknownOf(sent, OWN_CHOICE));
    }
    return Object.assign(answer, this.unknownOf(raw, OWN_ANSWER));
  }

  write({ events, raw, source, text }: Decoded): string {
    this.begin(raw, source?.data ?? text ?? '', events);
    for (const event of events) {
      if (event.type === 'start') {
        this.start = event;
        this.head = null;
      } else if (event.type === 'usage') this.usage = event;
    }
    const last = events.at(-1)?.type;
    // Nothing of a chunk that ends in an error is passed on: the caller's error frame follows.
    if (last === 'error') return '';
    const frames = this.chunkFrames(raw ?? {}, events);
    return last === 'end' ? frames + this.usageFrame() + DONE_FRAME : frames;
  }

  private chunkFrames(chunk: JsonObject, events: readonly ModelEvent[]): string {
    const raws = objectsOf(chunk.choices);
    // Most chunks have one choice: no list grows for it, and few are searched.
    const indexes = raws.length === 0 ? [] : [indexAt(raws, 0)];
    for (let position = 1; position < raws.length; position += 1) {
      const index = indexAt(raws, position);
      if (!indexes.includes(index)) indexes.push(index);
    }
    for (const event of events)
      if ('choice' in event && !indexes.includes(event.choice)) indexes.push(event.choice);
    let opening: JsonObject[] | null = null;
    let content: JsonObject[] | null = null;
    let closing = '';
    for (const index of indexes) {
      const raw = raws.length > 1 ? lastChoice(raws, index) : (raws[0] ?? {});
      const isFirst = this.seen?.has(index) !== true;
      const delta = this.delta(index, events, objectOf(raw.delta));
      const isEmpty = !hasOthers(delta, NO_NAMES);
      if (isFirst) {
        const begun = this.choiceOf(index, isEmpty ? raw : {}, { role: 'assistant', content: '' });
        opening = opening === null ? [begun] : [...opening, begun];
      }
      if (!isEmpty) {
        const choice = this.choiceOf(index, raw, delta);
        content = content === null ? [choice] : [...content, choice];
      }
      for (const event of events)
        if (event.type === 'finish' && event.choice === index)
          closing += this.frame(chunk, [this.finished(event, raw, isEmpty)]);
    }
    return `${this.frame(chunk, opening)}${this.frame(chunk, content)}${closing}`;
  }

  private delta(index: number, events: readonly ModelEvent[], raw: JsonObject): JsonObject {
    this.seen ??= new Map();
    let state = this.seen.get(index);
    if (!state) this.seen.set(index, (state = { custom: new Set(), details: new ReasoningDetails() }));
    const delta: JsonObject = {};
    for (const event of events)
      if ('choice' in event && event.choice === index) this.addTo(delta, event, state);
    if (this.facts.excludeReasoning) for (const name of REASONING) delete delta[name];
    const unknown = this.unknownOf(raw, this.ownMessage);
    if (unknown === NOTHING) return delta;
    for (const name of Object.keys(unknown)) if (unknown[name] === null) delete unknown[name];
    return Object.assign(delta, unknown);
  }

  private addTo(delta: JsonObject, event: ChoiceEvent, { custom, details }: SeenChoice): void {
    const { legacyFunctions } = this.facts;
    switch (event.type) {
      case 'text':
        if (event.text !== '' || event.logprobs !== undefined)
          delta.content = typeof delta.content === 'string' ? delta.content + event.text : event.text;
        return;
      case 'refusal':
        delta.refusal = typeof delta.refusal === 'string' ? delta.refusal + event.text : event.text;
        return;
      case 'reasoning':
        join(delta, { reasoning: event.text, reasoning_details: [details.add(event)] });
        return;
      case 'reasoning_signature':
      case 'opaque_reasoning':
        join(delta, { reasoning_details: [details.add(event)] });
        return;
      case 'tool_start': {
        if (event.custom) custom.add(event.call);
        join(delta, toolStartDelta(event, legacyFunctions));
        return;
      }
      case 'tool_arguments':
        join(delta, toolArgumentsDelta(event, custom.has(event.call), legacyFunctions));
        return;
      case 'citation':
        join(delta, { annotations: [annotation(event.citation)] });
        return;
      case 'audio':
        delta.audio = event.audio;
        return;
      case 'finish':
      case 'tool_end':
        return;
    }
  }

  private finished(
    { choice, reason, native }: Extract<ModelEvent, { type: 'finish' }>,
    raw: JsonObject,
    keepsLogprobs: boolean,
  ): JsonObject {
    return {
      ...this.choiceOf(choice, raw, {}),
      logprobs: keepsLogprobs ? logprobsOf(raw) : null,
      finish_reason: callerFinish(reason, this.facts.legacyFunctions),
      native_finish_reason: native,
    };
  }

  private frame(chunk: JsonObject, choices: JsonObject[] | null): string {
    if (choices === null) return '';
    const rest = { ...this.unknownOf(chunk, OWN_ANSWER), ...(this.facts.includeUsage && { usage: null }) };
    return this.chunk(this.isSpelled ? writeJson(choices) : JSON.stringify(choices), rest);
  }

  /** Returns a chunk of the text of its choices and the members behind them. */
  private chunk(choices: string, rest: JsonObject): string {
    if (this.head === null) {
      const { id, ...others } = answerHead(this.start, this.facts);
      this.head = `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', ...others }).slice(0, -1)},"choices":`;
    }
    const behind = hasOthers(rest, NO_NAMES) ? `,${writeJson(rest).slice(1)}` : '}';
    return `${this.head}${choices}${behind}\n\n`;
  }

  private begin(raw: JsonObject | null, text: string, events: readonly ModelEvent[]): void {
    this.raw = raw ?? {};
    this.text = text;
    this.isRemembered = false;
    // The decoder has remembered what it kept of a call.
    this.isSpelled = events.some((event) => event.type === 'tool_start' && event.extras !== undefined);
  }

  /** Remembers the spelling before the provider's members are written again. */
  private remember(): void {
    if (this.isRemembered) return;
    this.isRemembered = true;
    if (rememberSpelling(this.raw, this.text)) this.isSpelled = true;
  }

  private choiceOf(index: number, raw: JsonObject, delta: JsonObject): JsonObject {
    const { logprobs } = raw;
    if (isObject(logprobs)) this.remember();
    return {
      index,
      delta,
      logprobs: logprobsOf(raw),
      finish_reason: null,
      native_finish_reason: null,
      ...this.unknownOf(raw, OWN_CHOICE),
    };
  }

  /** Members that no rule of the gateway is about: they reach the caller as the provider wrote them, without money. */
  private unknownOf(value: JsonObject, own: ReadonlySet<string>): JsonObject {
    if (!hasOthers(value, own)) return NOTHING;
    const unknown = pick(value, (name) => !own.has(name));
    if (!hasSpelling(unknown)) return withoutMoney(unknown, REPEATED) as JsonObject;
    this.remember();
    return withoutMoney(spelledLike(unknown, value), REPEATED) as JsonObject;
  }

  private usageFrame(): string {
    const { facts, usage } = this;
    const body = chatUsage(facts.believed(usage?.usage ?? {}), usage?.raw ?? {}, facts);
    return this.chunk('[]', { usage: body });
  }
}

/** Returns the last of a chunk's choices with this index, an empty one where none has it. */
function lastChoice(raws: readonly JsonObject[], index: number): JsonObject {
  for (let position = raws.length - 1; position >= 0; position -= 1)
    if (indexAt(raws, position) === index) return raws[position];
  return {};
}

function indexAt(raws: readonly JsonObject[], position: number): number {
  const { index } = raws[position];
  return typeof index === 'number' ? index : position;
}

function logprobsOf({ logprobs }: JsonObject): unknown {
  return withoutMoney(logprobs ?? null);
}

/** Joins what several events of one chunk say: texts are put together, lists appended, a function call completed. */
function join(delta: JsonObject, more: JsonObject | null): void {
  for (const [name, value] of Object.entries(more ?? {})) {
    const before = delta[name];
    if (typeof before === 'string' && typeof value === 'string') delta[name] = before + value;
    else if (Array.isArray(before) && Array.isArray(value))
      delta[name] = [...(before as unknown[]), ...(value as unknown[])];
    else if (name === 'function_call' && before !== undefined)
      delta[name] = { ...objectOf(before), ...objectOf(value) };
    else delta[name] = value;
  }
}

/** Members of an answer that the gateway writes itself, and those that name who serves: neither is passed on. */
const OWN_ANSWER = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'service_tier',
  'system_fingerprint',
  'provider',
  'x_groq',
]);
const OWN_CHOICE = new Set([
  'index',
  'message',
  'delta',
  'logprobs',
  'finish_reason',
  'native_finish_reason',
]);
const OWN_MESSAGE = new Set([
  'role',
  'content',
  'refusal',
  'annotations',
  'audio',
  'tool_calls',
  'function_call',
  'reasoning',
  'thinking',
]);
const OWN_AND_REASONING = new Set([...OWN_MESSAGE, 'reasoning_content', 'reasoning_details']);

const NO_NAMES: ReadonlySet<string> = new Set();
/** Stands for the unknown members of most objects: a frame of a stream asks for them of three. */
const NOTHING: JsonObject = Object.freeze({});

/** Members of a delta that a caller who excludes reasoning does not get. */
const REASONING = ['reasoning', 'reasoning_details'];

/** The caller's own words, where a provider repeats them. */
const REPEATED = new Set(['metadata']);

/** True where an object has members of other names. */
function hasOthers(value: JsonObject, names: ReadonlySet<string>): boolean {
  for (const name in value) if (!names.has(name)) return true;
  return false;
}

/** True where a member is none of those that are always written alike. */
function hasSpelling(unknown: JsonObject): boolean {
  for (const name of Object.keys(unknown)) {
    const value = unknown[name];
    if (typeof value === 'number' || (typeof value === 'object' && value !== null)) return true;
  }
  return false;
}
