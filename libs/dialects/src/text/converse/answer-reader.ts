import { writeJson } from '@gateway/json-body';
import { filled, isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { mintedToolId } from '../minted-id.js';
import type { ModelEvent } from '../model-event.js';
import { SIGNATURE_FORMAT } from './encode-content.js';
import { addedKeys, unitUsage } from './usage.js';

/** stopReason -> finish_reason where the meaning matches; anything else goes on verbatim. */
const TO_FINISH: ReadonlyMap<string, string> = new Map(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    content_filtered: 'content_filter',
    guardrail_intervened: 'content_filter',
  }),
);
const BLOCKS_MAX = 4_096;
const ARGUMENTS_MAX = 8 * 1_048_576;

interface OpenBlock {
  /** Number of the client's tool call, null for every other block. */
  call: number | null;
  argumentLength: number;
  /** A block of a tool that ran at the provider. */
  isServer: boolean;
  signature: string;
}

/** State machine from Bedrock to the middle form. A plain answer is fed as the events of its stream. */
export class AnswerReader {
  isFinished = false;
  /** Bound that the answer exceeds; null while it does not. */
  outgrown: string | null = null;
  private hasStarted = false;
  private calls = 0;
  private readonly blocks = new Map<number, OpenBlock>();

  constructor(private readonly originalName: (name: string) => string) {}

  read(name: string, payload: JsonObject): ModelEvent[] {
    const events: ModelEvent[] = [];
    if (!this.hasStarted) {
      this.hasStarted = true;
      events.push({ type: 'start', id: null, created: null, systemFingerprint: null, serviceTier: null });
    }
    const index = typeof payload.contentBlockIndex === 'number' ? payload.contentBlockIndex : 0;
    // Nothing is said behind the finish, only counted.
    switch (this.isFinished && name !== 'metadata' ? null : name) {
      case 'contentBlockStart':
        this.start(index, objectOf(payload.start), events);
        break;
      case 'contentBlockDelta':
        this.delta(index, objectOf(payload.delta), events);
        break;
      case 'contentBlockStop':
        this.stop(index, events);
        break;
      case 'messageStop':
        this.finish(payload, events);
        break;
      case 'metadata':
        this.metadata(payload, events);
        break;
      default:
        break;
    }
    return events;
  }

  private start(index: number, { toolUse, toolResult }: JsonObject, events: ModelEvent[]): void {
    this.stop(index, events);
    const open = this.open(index);
    if (isObject(toolResult)) open.isServer = true;
    if (!isObject(toolUse)) return;
    if (toolUse.type === 'server_tool_use') {
      open.isServer = true;
      return;
    }
    const call = this.calls;
    this.calls += 1;
    open.call = call;
    const id = filled(toolUse.toolUseId) ?? mintedToolId('', 0, call);
    const name = this.originalName(textOf(toolUse.name));
    events.push({ type: 'tool_start', choice: 0, call, id, name, custom: false });
  }

  private open(index: number): OpenBlock {
    const made = { call: null, argumentLength: 0, isServer: false, signature: '' };
    if (this.blocks.size >= BLOCKS_MAX) this.outgrown = 'The answer has too many blocks.';
    else this.blocks.set(index, made);
    return made;
  }

  private delta(index: number, delta: JsonObject, events: ModelEvent[]): void {
    const open = this.blocks.get(index) ?? this.open(index);
    if (open.isServer) return;
    const text = filled(delta.text);
    if (text !== null) events.push({ type: 'text', choice: 0, text });
    if (isObject(delta.toolUse)) this.input(open, delta.toolUse.input, events);
    if (isObject(delta.reasoningContent)) this.reasoning(open, delta.reasoningContent, events);
    if (isObject(delta.citation)) citation(delta.citation, events);
  }

  private input(open: OpenBlock, input: unknown, events: ModelEvent[]): void {
    const text = typeof input === 'string' ? input : isObject(input) ? writeJson(input) : '';
    if (open.call === null || text === '') return;
    open.argumentLength += text.length;
    if (open.argumentLength > ARGUMENTS_MAX) {
      this.outgrown = 'The arguments of a tool call are too large.';
      return;
    }
    events.push({ type: 'tool_arguments', choice: 0, call: open.call, text });
  }

  private reasoning(open: OpenBlock, content: JsonObject, events: ModelEvent[]): void {
    const { reasoningText, redactedContent } = content;
    const { text, signature } = isObject(reasoningText) ? reasoningText : content;
    const thought = filled(text);
    if (thought !== null)
      events.push({ type: 'reasoning', choice: 0, text: thought, format: SIGNATURE_FORMAT });
    open.signature += textOf(signature);
    const data = filled(redactedContent);
    if (data !== null) events.push({ type: 'opaque_reasoning', choice: 0, data, format: SIGNATURE_FORMAT });
  }

  private stop(index: number, events: ModelEvent[]): void {
    const open = this.blocks.get(index);
    if (!open) return;
    this.blocks.delete(index);
    const { call, signature } = open;
    if (signature !== '')
      events.push({ type: 'reasoning_signature', choice: 0, signature, format: SIGNATURE_FORMAT });
    if (call === null) return;
    if (open.argumentLength === 0) events.push({ type: 'tool_arguments', choice: 0, call, text: '{}' });
    events.push({ type: 'tool_end', choice: 0, call });
  }

  private finish({ stopReason, additionalModelResponseFields }: JsonObject, events: ModelEvent[]): void {
    const native = filled(stopReason);
    if (native === null || this.isFinished) return;
    for (const index of [...this.blocks.keys()]) this.stop(index, events);
    this.isFinished = true;
    const stopSequence = filled(objectOf(additionalModelResponseFields).stop_sequence);
    events.push({ type: 'finish', choice: 0, reason: TO_FINISH.get(native) ?? native, native, stopSequence });
  }

  private metadata({ usage }: JsonObject, events: ModelEvent[]): void {
    if (!isObject(usage)) return;
    events.push({ type: 'usage', usage: unitUsage(usage), raw: addedKeys(usage) });
  }
}

/** Emits only sources with an address as citations of the middle form. */
function citation({ title, location }: JsonObject, events: ModelEvent[]): void {
  const url = filled(objectOf(objectOf(location).web).url);
  if (url !== null) events.push({ type: 'citation', choice: 0, citation: { url, title: textOf(title) } });
}

/** A plain answer as the events that would have built it. */
export function* asStream(body: JsonObject): Generator<[name: string, payload: JsonObject]> {
  const { content } = objectOf(objectOf(body.output).message);
  for (const [contentBlockIndex, block] of objectsOf(content).entries()) {
    const { toolUse, toolResult, citationsContent } = block;
    if (isObject(toolUse) || isObject(toolResult))
      yield ['contentBlockStart', { contentBlockIndex, start: { toolUse, toolResult } }];
    const said = isObject(citationsContent)
      ? {
          text: objectsOf(citationsContent.content)
            .map(({ text }) => textOf(text))
            .join(''),
        }
      : {};
    yield ['contentBlockDelta', { contentBlockIndex, delta: { ...block, ...said } }];
    if (isObject(citationsContent))
      for (const one of objectsOf(citationsContent.citations))
        yield ['contentBlockDelta', { contentBlockIndex, delta: { citation: one } }];
    yield ['contentBlockStop', { contentBlockIndex }];
  }
  yield ['messageStop', body];
  yield ['metadata', body];
}
