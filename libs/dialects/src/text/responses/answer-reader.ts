import { filled, isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { withoutMoney } from '../../translation/money-names.js';
import { errorStatus } from '../failures.js';
import type { ModelEvent } from '../model-event.js';
import { OWN_FORMAT } from './sealed-reasoning.js';
import { flatName } from './tools.js';
import { isSearch, unitUsage } from './usage.js';

/** Status that an in-band error would have had as an HTTP answer. */
const ERROR_STATUS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    rate_limit_exceeded: 429,
    insufficient_quota: 429,
    server_error: 500,
    invalid_prompt: 400,
    invalid_request_error: 400,
    context_length_exceeded: 400,
  }),
);

/** Failure of an upstream that says what was wrong with its bytes. */
export function badResponse(message: string): ModelEvent {
  return { type: 'error', failure: { kind: 'bad_response', body: null, status: null, message } };
}

/** The event for an error on a 200 answer, flat or in its envelope. */
function inBandError(error: JsonObject): ModelEvent {
  const said = textOf(error.message);
  const message = said === '' ? 'the provider reported an error without a message' : said;
  const named = ERROR_STATUS.get(textOf(error.code)) ?? ERROR_STATUS.get(textOf(error.type));
  const status = named ?? errorStatus(error.code);
  return { type: 'error', failure: { kind: 'in_band', body: error, status, message } };
}

interface OpenCall {
  call: number;
  hasArguments: boolean;
  isEnded: boolean;
}

/** The part of an item that was already said, by its place in the output. */
interface SeenItem {
  texts: Set<number>;
  reasoning: boolean;
  call: OpenCall | null;
}

/**
 * Events of a responses stream -> middle form. What was not streamed is taken from an item's end or from the closing
 * response, and never twice; a plain answer is the closing response of a stream without deltas.
 */
export class AnswerReader {
  private isStarted = false;
  private calls = 0;
  private searches = 0;
  private readonly items = new Map<number, SeenItem>();
  private isOver = false;
  isDone = false;

  constructor(private readonly toolNames: Readonly<Record<string, string>>) {}

  whole(body: JsonObject): ModelEvent[] {
    if (isObject(body.error) && body.object !== 'response') return [inBandError(body.error)];
    if (!Array.isArray(body.output)) return [badResponse('the answer has no output')];
    return this.terminal(body);
  }

  read(event: JsonObject): ModelEvent[] {
    if (this.isDone) return [];
    const events = this.take(event);
    const last = events.at(-1)?.type;
    if (last === 'end' || last === 'error') this.isDone = true;
    return events;
  }

  /** The upstream closed its connection. */
  close(): ModelEvent[] {
    if (this.isDone) return [];
    this.isDone = true;
    const message = 'the provider closed the stream before the response was completed';
    return [{ type: 'error', failure: { kind: 'connection', body: null, status: null, message } }];
  }

  private take(event: JsonObject): ModelEvent[] {
    const index = typeof event.output_index === 'number' ? event.output_index : 0;
    switch (event.type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.start(objectOf(event.response));
      case 'response.completed':
      case 'response.incomplete':
        return this.terminal(objectOf(event.response));
      case 'response.failed':
      case 'response.cancelled':
        return [inBandError(objectOf(objectOf(event.response).error))];
      case 'error':
        return [inBandError(isObject(event.error) ? event.error : event)];
      case 'response.output_item.added':
        return this.itemAdded(index, objectOf(event.item));
      case 'response.output_item.done':
        return this.itemRest(index, objectOf(event.item));
      case undefined:
        // A host that serves the model fails in words of its own.
        return isObject(event.error) ? [inBandError(event.error)] : [];
      default:
        return this.delta(index, event);
    }
  }

  private delta(index: number, event: JsonObject): ModelEvent[] {
    const delta = textOf(event.delta);
    const part = typeof event.content_index === 'number' ? event.content_index : 0;
    switch (event.type) {
      case 'response.output_text.delta':
        this.item(index).texts.add(part);
        return textEvent(delta, event.logprobs);
      case 'response.refusal.delta':
        this.item(index).texts.add(part);
        return delta === '' ? [] : [{ type: 'refusal', choice: 0, text: delta }];
      case 'response.output_text.annotation.added':
        return citationEvents(objectOf(event.annotation));
      case 'response.reasoning_summary_part.added': {
        const isFurther = event.summary_index !== 0 && this.item(index).reasoning;
        return isFurther ? [reasoningEvent('\n\n')] : [];
      }
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        this.item(index).reasoning = true;
        return delta === '' ? [] : [reasoningEvent(delta)];
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.callArguments(index, delta);
      case 'response.function_call_arguments.done':
        return this.wholeArguments(index, textOf(event.arguments));
      case 'response.custom_tool_call_input.done':
        return this.wholeArguments(index, textOf(event.input));
      default:
        return [];
    }
  }

  private start(response: JsonObject): ModelEvent[] {
    if (this.isStarted) return [];
    this.isStarted = true;
    const created = response.created_at;
    return [
      {
        type: 'start',
        id: filled(response.id),
        created: typeof created === 'number' ? Math.trunc(created) : null,
        systemFingerprint: null,
        serviceTier: tierOf(response.service_tier),
      },
    ];
  }

  private itemAdded(index: number, item: JsonObject): ModelEvent[] {
    const seen = this.item(index);
    const custom = item.type === 'custom_tool_call';
    if ((!custom && item.type !== 'function_call') || seen.call !== null) return [];
    seen.call = { call: this.calls++, hasArguments: false, isEnded: false };
    const name = flatName(textOf(item.name), filled(item.namespace));
    return [
      {
        type: 'tool_start',
        choice: 0,
        call: seen.call.call,
        id: filled(item.call_id) ?? textOf(item.id),
        name: Object.hasOwn(this.toolNames, name) ? this.toolNames[name] : name,
        custom,
      },
    ];
  }

  private callArguments(index: number, text: string): ModelEvent[] {
    const { call } = this.item(index);
    if (call === null || call.isEnded || text === '') return [];
    call.hasArguments = true;
    return [{ type: 'tool_arguments', choice: 0, call: call.call, text }];
  }

  private wholeArguments(index: number, text: string): ModelEvent[] {
    return this.item(index).call?.hasArguments === false ? this.callArguments(index, text) : [];
  }

  /** Returns the rest of an item that no delta has said. */
  private itemRest(index: number, item: JsonObject): ModelEvent[] {
    switch (item.type) {
      case 'message':
        return this.messageRest(index, item);
      case 'reasoning':
        return this.reasoningRest(index, item);
      case 'function_call':
      case 'custom_tool_call': {
        const events = this.itemAdded(index, item);
        events.push(...this.wholeArguments(index, textOf(item.arguments ?? item.input)));
        const { call } = this.item(index);
        if (call === null || call.isEnded) return events;
        call.isEnded = true;
        return [...events, { type: 'tool_end', choice: 0, call: call.call }];
      }
      case 'web_search_call':
        return this.searched(item);
      default:
        return [];
    }
  }

  /** Counted at once: a stream that breaks off has no usage. */
  private searched(item: JsonObject): ModelEvent[] {
    if (this.isOver || !isSearch(item)) return [];
    this.searches += 1;
    return [{ type: 'usage', usage: unitUsage({}, this.searches), raw: {} }];
  }

  private messageRest(index: number, { content }: JsonObject): ModelEvent[] {
    const { texts } = this.item(index);
    return objectsOf(content).flatMap((part, position): ModelEvent[] => {
      if (texts.has(position)) return [];
      texts.add(position);
      if (part.type === 'refusal') return [{ type: 'refusal', choice: 0, text: textOf(part.refusal) }];
      const annotations = objectsOf(part.annotations).flatMap(citationEvents);
      return [...textEvent(textOf(part.text), part.logprobs), ...annotations];
    });
  }

  private reasoningRest(index: number, item: JsonObject): ModelEvent[] {
    const seen = this.item(index);
    const events: ModelEvent[] = [];
    const parts = [...objectsOf(item.summary), ...objectsOf(item.content)];
    const text = parts.map((part) => textOf(part.text)).join('\n\n');
    if (!seen.reasoning && text !== '') events.push(reasoningEvent(text));
    seen.reasoning = true;
    const data = filled(item.encrypted_content);
    if (data !== null && !seen.texts.has(-1)) {
      seen.texts.add(-1);
      events.push({ type: 'opaque_reasoning', choice: 0, data, format: OWN_FORMAT });
    }
    return events;
  }

  /** The closing response of a stream, or a plain answer. */
  private terminal(response: JsonObject): ModelEvent[] {
    const { status } = response;
    if (status === 'failed' || status === 'cancelled' || isObject(response.error))
      return [inBandError(objectOf(response.error))];
    if (status === 'queued' || status === 'in_progress')
      return [badResponse('the response is not completed')];
    const events = this.start(response);
    this.isOver = true;
    const streamed = [...this.items.values()];
    for (const [index, item] of objectsOf(response.output).entries()) {
      // Some providers number the items of the closing response anew.
      if (streamed.length === 0 || this.items.has(index) || !isSaid(item, streamed))
        events.push(...this.itemRest(index, item));
    }
    const reason = filled(objectOf(response.incomplete_details).reason);
    events.push({
      type: 'finish',
      choice: 0,
      reason: finishReason(reason, status === 'incomplete', this.calls > 0),
      native: reason ?? filled(status),
      stopSequence: null,
    });
    if (isObject(response.usage)) {
      const searches = Math.max(this.searches, objectsOf(response.output).filter(isSearch).length);
      const usage = unitUsage(response, searches);
      events.push({ type: 'usage', usage, raw: objectOf(withoutMoney(response.usage)) });
    }
    return [...events, { type: 'end' }];
  }

  private item(index: number): SeenItem {
    const found = this.items.get(index) ?? { texts: new Set(), reasoning: false, call: null };
    this.items.set(index, found);
    return found;
  }
}

/** True where items of this kind were streamed. */
function isSaid({ type }: JsonObject, streamed: readonly SeenItem[]): boolean {
  if (type === 'message') return streamed.some(({ texts }) => texts.size > 0);
  if (type === 'reasoning') return streamed.some(({ reasoning }) => reasoning);
  return streamed.some(({ call }) => call !== null);
}

function finishReason(reason: string | null, isIncomplete: boolean, hasCalls: boolean): string {
  if (reason === 'max_output_tokens' || reason === 'max_tokens') return 'length';
  if (reason === 'content_filter') return 'content_filter';
  if (reason !== null) return reason;
  if (isIncomplete) return 'length';
  return hasCalls ? 'tool_calls' : 'stop';
}

function tierOf(tier: unknown): string | null {
  return tier === 'auto' ? null : filled(tier);
}

/** Logprobs stand in the middle form as chat has them. */
function textEvent(text: string, logprobs: unknown): ModelEvent[] {
  const content = Array.isArray(logprobs) ? (logprobs as unknown[]) : [];
  if (text === '' && content.length === 0) return [];
  const more = content.length === 0 ? {} : { logprobs: { content, refusal: null } };
  return [{ type: 'text', choice: 0, text, ...more }];
}

function reasoningEvent(text: string): ModelEvent {
  return { type: 'reasoning', choice: 0, text, format: OWN_FORMAT };
}

function citationEvents({ type, url, title, start_index, end_index }: JsonObject): ModelEvent[] {
  if (type !== 'url_citation' || filled(url) === null) return [];
  const range =
    typeof start_index === 'number' && typeof end_index === 'number'
      ? { start: start_index, end: end_index }
      : {};
  return [{ type: 'citation', choice: 0, citation: { url: textOf(url), title: textOf(title), ...range } }];
}
