import { writeJson } from '@gateway/json-body';
import { withoutMoney } from '../../translation/money-names.js';
import { mintedToolId } from '../minted-id.js';
import type { ModelEvent } from '../model-event.js';
import { filled, isObject, objectOf, without, type JsonObject } from '../../body/json-object.js';

/** Longest arguments of one tool call, in UTF-16 units. */
export const TOOL_ARGUMENTS_MAX = 8 * 1_048_576;
/** Most tool calls of one choice. */
const TOOL_CALLS_MAX = 1_024;

interface Call {
  /** Dense index, -1 until the call was started. */
  call: number;
  index: number | null;
  id: string | null;
  name: string | null;
  isCustom: boolean;
  text: string;
  sent: number;
  isEnded: boolean;
  extras: JsonObject;
}

const KNOWN = ['index', 'id', 'type', 'function', 'custom'];

/** The answer that calls belong to. */
export interface CalledAnswer {
  /** Text that minted ids are made of: the same for every reading of one answer. */
  readonly idSeed: string;
  /** The caller's own names of tools, by those that the provider was sent. */
  readonly toolNames: Readonly<Record<string, string>>;
  /** Called before a value of the answer is kept that is written again. */
  remember?(): void;
}

/**
 * Tool call deltas of one choice, in any of the field's spellings: index missing, repeated or not
 * from 0; id missing, numeric, empty or repeated; name repeated; arguments as an object; calls complete in one delta.
 */
export class ToolCallDecoder {
  /** Bound that the calls exceed; null while they do not. */
  outgrown: string | null = null;
  private readonly calls: Call[] = [];
  private started = 0;

  constructor(
    private readonly choice: number,
    private readonly answer: CalledAnswer,
  ) {}

  private originalName(name: string): string {
    const { toolNames } = this.answer;
    return Object.hasOwn(toolNames, name) ? toolNames[name] : name;
  }

  get count(): number {
    return this.calls.length;
  }

  /** An element of a plain answer: a call of its own, whatever its id and index say. */
  whole(raw: JsonObject, events: ModelEvent[]): void {
    this.read(raw, events, true);
  }

  delta(raw: JsonObject, events: ModelEvent[]): void {
    this.read(raw, events, false);
  }

  private read(raw: JsonObject, events: ModelEvent[], isWhole: boolean): void {
    const isCustom = raw.type === 'custom' || isObject(raw.custom);
    const body = objectOf(isCustom ? raw.custom : raw.function);
    const name = filled(body.name);
    const given = isCustom ? body.input : body.arguments;
    if (typeof given === 'object' && given !== null) this.answer.remember?.();
    const text = argumentText(given);
    const id = typeof raw.id === 'number' ? String(raw.id) : filled(raw.id);
    const index = typeof raw.index === 'number' ? raw.index : null;
    const known = isWhole ? null : this.find(index, id, name, text);
    const call = known ?? this.open(index, isCustom, events);
    if (call.isEnded || this.outgrown !== null) return;
    call.id ??= id;
    call.name ??= name;
    // No object begins with null: it is how some say that there are no arguments.
    if (call.text !== '' || text !== 'null') call.text += text;
    if (call.text.length > TOOL_ARGUMENTS_MAX)
      this.outgrown = 'The arguments of a tool call are longer than 8 MiB.';
    this.extras(raw, call.extras);
    if (call.name !== null) this.send(call, events);
    if (isWhole) this.close(call, events);
  }

  private extras(raw: JsonObject, extras: JsonObject): void {
    if (Object.keys(raw).every((name) => KNOWN.includes(name))) return;
    this.answer.remember?.();
    Object.assign(extras, withoutMoney(without(raw, KNOWN)));
  }

  /** The choice is finished: what is still open ends. A call without arguments gets an empty object. */
  finish(events: ModelEvent[]): void {
    for (const call of this.calls) this.close(call, events);
  }

  private find(index: number | null, id: string | null, name: string | null, text: string): Call | null {
    const byId = id === null ? undefined : this.calls.findLast((call) => call.id === id);
    if (byId && (index === null || byId.index === index)) return isNext(byId, name, text) ? null : byId;
    const last = index === null ? this.calls.at(-1) : this.calls.findLast((call) => call.index === index);
    if (!last) return null;
    if (name === null || last.name === null)
      return id !== null && index === null && last.id !== null ? null : last;
    // Named again: another call where the id differs, or where the last one is complete and more arguments come.
    if (id !== null && last.id !== null) return id === last.id ? last : null;
    const isRepeat = name === last.name && (text === '' || !isComplete(last.text));
    return isRepeat ? last : null;
  }

  private open(index: number | null, isCustom: boolean, events: ModelEvent[]): Call {
    // Ends the calls before it as soon as they are whole, so that nothing downstream has to wait for the finish.
    for (const before of this.calls)
      if (!before.isEnded && isComplete(before.text)) this.close(before, events);
    if (this.calls.length >= TOOL_CALLS_MAX) this.outgrown = 'The answer has too many tool calls.';
    const call: Call = {
      call: -1,
      index,
      id: null,
      name: null,
      isCustom,
      text: '',
      sent: 0,
      isEnded: false,
      extras: {},
    };
    this.calls.push(call);
    return call;
  }

  private send(call: Call, events: ModelEvent[]): void {
    const { choice } = this;
    if (call.call < 0) {
      call.call = this.started;
      this.started += 1;
      call.id ??= mintedToolId(this.answer.idSeed, choice, call.call);
      const name = this.originalName(call.name ?? '');
      const { id, isCustom: custom, extras } = call;
      const unknown = Object.keys(extras).length > 0 ? { extras } : {};
      events.push({ type: 'tool_start', choice, call: call.call, id, name, custom, ...unknown });
    }
    if (call.sent === call.text.length) return;
    const text = call.text.slice(call.sent);
    call.sent = call.text.length;
    events.push({ type: 'tool_arguments', choice, call: call.call, text });
  }

  private close(call: Call, events: ModelEvent[]): void {
    if (call.isEnded) return;
    if (!call.isCustom && call.text.trim() === '') call.text += '{}';
    this.send(call, events);
    call.isEnded = true;
    events.push({ type: 'tool_end', choice: this.choice, call: call.call });
  }
}

/** True where a call is named again with arguments though it is complete: another one under the same id. */
function isNext(call: Call, name: string | null, text: string): boolean {
  return name !== null && call.name !== null && text.trim() !== '' && isComplete(call.text);
}

/** Some providers send the arguments as an object, or null where there are none. */
function argumentText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isObject(value) || Array.isArray(value) ? writeJson(value) : '';
}

function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
