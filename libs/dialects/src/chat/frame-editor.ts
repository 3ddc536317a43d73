import { completeUsage } from '../complete-usage.js';
import type { AnswerFacts, EditedFrame, FrameEditor, StreamDecoder } from '../dialect.js';
import type { ModelEvent } from '../model-event.js';
import { answerHead, type StartEvent } from './answer-head.js';
import { callerFinish } from './finish.js';
import { annotation } from './fold.js';
import { objectOf, objectsOf, type JsonObject } from './json-object.js';
import { ReasoningDetails } from './reasoning-details.js';
import { ChatStreamDecoder, type DecodedFrame } from './stream-decoder.js';
import { DONE_FRAME, toolArgumentsDelta, toolStartDelta } from './stream-encoder.js';
import { unknownOfAnswer, unknownOfChoice, unknownOfMessage } from './unknown-members.js';
import { chatUsage } from './usage.js';

type ChoiceEvent = Extract<ModelEvent, { choice: number }>;
type UsageEvent = Extract<ModelEvent, { type: 'usage' }>;

interface SeenChoice {
  custom: Set<number>;
  details: ReasoningDetails;
}

/**
 * Chat on both sides: each upstream chunk is parsed once, its events go to the meter, and the caller's chunk is made of
 * the same events with the chunk's unknown members kept. Only usage is held back, for its own last chunk.
 */
export class ChatFrameEditor implements FrameEditor {
  private readonly decoder: ChatStreamDecoder;
  private readonly seen = new Map<number, SeenChoice>();
  private start: StartEvent | null = null;
  private usage: UsageEvent | null = null;

  constructor(
    decoder: StreamDecoder,
    private readonly facts: AnswerFacts,
    private readonly see: (event: ModelEvent) => void = () => undefined,
  ) {
    if (!(decoder instanceof ChatStreamDecoder))
      throw new TypeError('The frame editor of chat needs the stream decoder of chat.');
    this.decoder = decoder;
  }

  push(bytes: Uint8Array): EditedFrame[] {
    return this.decoder.frames(bytes).map((frame) => this.edit(frame));
  }

  end(): EditedFrame[] {
    return this.decoder.endFrames().map((frame) => this.edit(frame));
  }

  private edit({ chunk, events }: DecodedFrame): EditedFrame {
    for (const event of events) {
      this.see(event);
      if (event.type === 'start') this.start = event;
      else if (event.type === 'usage') this.usage = event;
    }
    const last = events.at(-1);
    // Nothing of a chunk that ends in an error is passed on: the caller's error frame follows.
    if (last?.type === 'error') return { frame: '', events };
    let frame = this.chunkFrames(chunk ?? {}, events);
    if (last?.type === 'end') frame += this.usageFrame() + DONE_FRAME;
    return { frame, events };
  }

  private chunkFrames(chunk: JsonObject, events: ModelEvent[]): string {
    const ofChoice = new Map<number, ChoiceEvent[]>();
    const raws = new Map<number, JsonObject>();
    for (const [position, raw] of objectsOf(chunk.choices).entries()) {
      const index = typeof raw.index === 'number' ? raw.index : position;
      raws.set(index, raw);
      ofChoice.set(index, []);
    }
    for (const event of events) {
      if (!('choice' in event)) continue;
      const list = ofChoice.get(event.choice);
      if (list) list.push(event);
      else ofChoice.set(event.choice, [event]);
    }
    if (ofChoice.size === 0) return '';
    const opening: JsonObject[] = [];
    const content: JsonObject[] = [];
    const closing: JsonObject[] = [];
    for (const [index, own] of ofChoice) {
      const raw = raws.get(index) ?? {};
      const isFirst = !this.seen.has(index);
      const delta = this.delta(index, own, objectOf(raw.delta));
      const isEmpty = Object.keys(delta).length === 0;
      if (isFirst) opening.push(choiceOf(index, isEmpty ? raw : {}, { role: 'assistant', content: '' }));
      if (!isEmpty) content.push(choiceOf(index, raw, delta));
      const finish = own.find((event) => event.type === 'finish');
      if (finish) closing.push(this.finished(finish, raw, isEmpty));
    }
    const lists = [opening, content, ...closing.map((choice) => [choice])];
    return lists.map((choices) => (choices.length === 0 ? '' : this.frame(chunk, choices))).join('');
  }

  private delta(index: number, events: ChoiceEvent[], raw: JsonObject): JsonObject {
    const state = this.seen.get(index) ?? { custom: new Set(), details: new ReasoningDetails() };
    this.seen.set(index, state);
    const { excludeReasoning } = this.facts;
    const unknown = unknownOfMessage(raw, excludeReasoning);
    for (const name of Object.keys(unknown)) if (unknown[name] === null) delete unknown[name];
    const delta: JsonObject = {};
    for (const event of events) this.addTo(delta, event, state);
    if (excludeReasoning) for (const name of ['reasoning', 'reasoning_details']) delete delta[name];
    return { ...delta, ...unknown };
  }

  private addTo(delta: JsonObject, event: ChoiceEvent, { custom, details }: SeenChoice): void {
    const { legacyFunctions } = this.facts;
    switch (event.type) {
      case 'text':
        if (event.text !== '' || event.logprobs !== undefined) join(delta, { content: event.text });
        return;
      case 'refusal':
        join(delta, { refusal: event.text });
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
        const started = toolStartDelta(event, legacyFunctions);
        const extras = this.decoder.answer.choices.get(event.choice)?.tools.extras.get(event.call);
        if (extras) Object.assign(objectsOf(started?.tool_calls)[0] ?? {}, extras);
        join(delta, started);
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
      ...choiceOf(choice, raw, {}),
      logprobs: keepsLogprobs ? (raw.logprobs ?? null) : null,
      finish_reason: callerFinish(reason, this.facts.legacyFunctions),
      native_finish_reason: native,
    };
  }

  private frame(chunk: JsonObject, choices: JsonObject[]): string {
    const { id, ...rest } = answerHead(this.start, this.facts);
    const edited = {
      id,
      object: 'chat.completion.chunk',
      ...rest,
      choices,
      ...unknownOfAnswer(chunk),
      ...(this.facts.includeUsage ? { usage: null } : {}),
    };
    return `data: ${JSON.stringify(edited)}\n\n`;
  }

  private usageFrame(): string {
    const { facts, usage } = this;
    const { id, ...rest } = answerHead(this.start, facts);
    const body = chatUsage(completeUsage(usage?.usage ?? {}, facts), usage?.raw ?? {}, facts);
    return `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', ...rest, choices: [], usage: body })}\n\n`;
  }
}

function choiceOf(index: number, raw: JsonObject, delta: JsonObject): JsonObject {
  return {
    index,
    delta,
    logprobs: raw.logprobs ?? null,
    finish_reason: null,
    native_finish_reason: null,
    ...unknownOfChoice(raw),
  };
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
