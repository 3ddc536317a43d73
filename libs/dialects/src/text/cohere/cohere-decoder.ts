import type { UnitUsage } from '@gateway/contracts';
import {
  filled,
  isObject,
  objectOf,
  objectsOf,
  pick,
  textOf,
  wholeCount,
  type JsonObject,
} from '../../body/json-object.js';
import { withoutMoney } from '../../translation/money-names.js';
import type { AnswerFailure } from '../../translation/translation.js';
import { ToolCallDecoder } from '../chat/tool-call-decoder.js';
import { EventDecoder } from '../event-decoder.js';
import { badResponse, CUT_SHORT } from '../failures.js';
import type { ModelEvent } from '../model-event.js';
import type { Decoded } from '../text-dialect.js';

const FORMAT = 'cohere-v2';
/** Native reason -> finish_reason where the meaning matches; anything else goes on verbatim. */
const TO_FINISH: ReadonlyMap<string, string> = new Map(
  Object.entries({
    COMPLETE: 'stop',
    STOP_SEQUENCE: 'stop',
    MAX_TOKENS: 'length',
    TOOL_CALL: 'tool_calls',
    ERROR_TOXIC: 'content_filter',
  }),
);
const TRANSLATED: ReadonlySet<string> = new Set(['tokens', 'cached_tokens']);

/** Reads the answer of /v2/chat; a plain one is read as the events that would have built it. */
export class CohereDecoder extends EventDecoder {
  private hasStarted = false;
  private isFinished = false;
  private hasSaid = false;
  idSeed = '';
  private readonly tools = new ToolCallDecoder(0, this);

  constructor(readonly toolNames: Readonly<Record<string, string>> = {}) {
    super();
  }

  override whole(body: JsonObject): Decoded {
    if (!isObject(body.message))
      return this.failed(badResponse(textOf(body.message) || 'The answer has no message.'));
    const events: ModelEvent[] = [];
    for (const event of asStream(body)) this.read(event, events);
    this.close(events);
    return { events, raw: null, source: null };
  }

  protected override read(event: JsonObject, events: ModelEvent[]): void {
    const delta = objectOf(event.delta);
    const message = objectOf(delta.message);
    if (!this.hasStarted) this.start(filled(event.id), events);
    switch (event.type) {
      case 'content-start':
      case 'content-delta':
        this.content(objectOf(message.content), events);
        break;
      case 'tool-plan-delta':
        this.reasoning(textOf(message.tool_plan), events);
        break;
      case 'tool-call-start':
      case 'tool-call-delta':
        this.toolCall(event, objectOf(message.tool_calls), events);
        break;
      case 'citation-start':
        for (const one of [message.citations].flat()) citations(objectOf(one), events);
        break;
      case 'message-end':
        this.finish(delta, events);
        break;
      default:
        // An error without an envelope of its own.
        if (event.type === undefined && filled(event.message) !== null) this.fail(inBand(event), events);
        break;
    }
  }

  private start(id: string | null, events: ModelEvent[]): void {
    this.hasStarted = true;
    this.idSeed = id ?? '';
    events.push({ type: 'start', id, created: null, systemFingerprint: null, serviceTier: null });
  }

  private content({ text, thinking }: JsonObject, events: ModelEvent[]): void {
    this.reasoning(textOf(thinking), events);
    const said = filled(text);
    if (said === null) return;
    this.hasSaid = true;
    events.push({ type: 'text', choice: 0, text: said });
  }

  private reasoning(text: string, events: ModelEvent[]): void {
    if (text !== '') events.push({ type: 'reasoning', choice: 0, text, format: FORMAT });
  }

  private toolCall({ index }: JsonObject, call: JsonObject, events: ModelEvent[]): void {
    const { id, function: body } = call;
    this.tools.delta({ index, id, function: body }, events);
    if (this.tools.outgrown !== null) this.fail(badResponse(this.tools.outgrown), events);
  }

  private finish({ finish_reason, usage, error }: JsonObject, events: ModelEvent[]): void {
    const native = filled(finish_reason);
    if (native === null || this.isFinished || this.isOver) return;
    const isFailure = native === 'ERROR' || native === 'TIMEOUT';
    // Behind an answer it is the reason why that ends, like any other.
    if (isFailure && !this.hasSaid && this.tools.count === 0) {
      this.fail(inBand({ message: filled(error) ?? `The provider ended with ${native}.` }), events);
      return;
    }
    this.tools.finish(events);
    this.isFinished = true;
    events.push({
      type: 'finish',
      choice: 0,
      reason: TO_FINISH.get(native) ?? native,
      native,
      stopSequence: null,
    });
    if (!isObject(usage)) return;
    const raw = withoutMoney(pick(usage, (name) => !TRANSLATED.has(name))) as JsonObject;
    events.push({ type: 'usage', usage: unitUsage(usage), raw });
  }

  protected override lacking(): AnswerFailure | null {
    return this.isFinished ? null : CUT_SHORT;
  }
}

/** Counts of what was read and written; `billed_units` leave the provider's own preamble out. */
function unitUsage({ tokens, cached_tokens }: JsonObject): UnitUsage {
  const { input_tokens, output_tokens, reasoning_tokens } = objectOf(tokens);
  const input = wholeCount(input_tokens);
  const output = wholeCount(output_tokens);
  const usage: UnitUsage = {};
  if (input !== null) {
    usage.prompt_tokens = input;
    usage.cached_tokens = Math.min(wholeCount(cached_tokens) ?? 0, input);
    usage.cache_write_tokens = 0;
    usage.cache_write_1h_tokens = 0;
  }
  if (output !== null) {
    usage.completion_tokens = output;
    usage.reasoning_tokens = wholeCount(reasoning_tokens) ?? 0;
  }
  return usage;
}

/** Emits only sources with an address as citations of the middle form: most are the caller's own documents. */
function citations({ start, end, sources }: JsonObject, events: ModelEvent[]): void {
  for (const source of objectsOf(sources)) {
    const { url, title } = objectOf(source.document ?? source.tool_output);
    const address = filled(url);
    if (address === null) continue;
    const place = typeof start === 'number' && typeof end === 'number' ? { start, end } : {};
    events.push({
      type: 'citation',
      choice: 0,
      citation: { url: address, title: textOf(title), ...place },
    });
  }
}

function inBand({ message }: JsonObject): AnswerFailure {
  const words = filled(message) ?? 'The provider reported an error.';
  return { kind: 'in_band', body: { message: words }, status: null, message: words };
}

function* asStream({ id, message, ...end }: JsonObject): Generator<JsonObject> {
  const { content, tool_plan, tool_calls, citations: cited } = objectOf(message);
  yield { type: 'message-start', id };
  if (tool_plan !== undefined) yield { type: 'tool-plan-delta', delta: { message: { tool_plan } } };
  for (const part of objectsOf(content))
    yield { type: 'content-delta', delta: { message: { content: part } } };
  for (const [index, call] of objectsOf(tool_calls).entries())
    yield { type: 'tool-call-start', index, delta: { message: { tool_calls: call } } };
  for (const one of objectsOf(cited))
    yield { type: 'citation-start', delta: { message: { citations: one } } };
  yield { type: 'message-end', delta: end };
}
