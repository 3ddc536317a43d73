import { isObject, type JsonObject } from '../../body/json-object.js';
import { writeJson } from '@gateway/json-body';
import { withoutMoney } from '../../translation/money-names.js';
import type { AnswerFailure } from '../../translation/translation.js';
import { errorStatus } from '../failures.js';
import type { ModelEvent } from '../model-event.js';
import { finishReason } from './stop-reason.js';
import { mergeUsage, unitUsage } from './usage.js';
import { numberOrNull, objectAt, objectsAt, textAt, textOrNull } from './json.js';

/** Family that mints the signatures of this dialect: they go back to it alone. */
export const SIGNATURE_FORMAT = 'anthropic';

/** Status that an in-band error would have had as an HTTP answer. */
const ERROR_STATUS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    conflict_error: 409,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  }),
);

interface OpenBlock {
  /** Number of the client's tool call, null for every other block. */
  call: number | null;
  /** Input that came whole in the start, for a tool that sends no fragment. */
  input: JsonObject;
  hasFragments: boolean;
  signature: string;
}

/** Failure of an upstream that says what was wrong with its bytes. */
export function badResponse(message: string): ModelEvent {
  return failed({ kind: 'bad_response', body: null, status: null, message });
}

function connectionLost(message: string): ModelEvent {
  return failed({ kind: 'connection', body: null, status: null, message });
}

/** The event for an error envelope on a 200 answer, first event or later one. */
export function inBandError(envelope: JsonObject): ModelEvent {
  const error = objectAt(envelope, 'error');
  const message = textAt(error, 'message');
  return failed({
    kind: 'in_band',
    body: error,
    status: ERROR_STATUS.get(textAt(error, 'type')) ?? errorStatus(error.code),
    message: message === '' ? 'the provider reported an error without a message' : message,
  });
}

function failed(failure: AnswerFailure): ModelEvent {
  return { type: 'error', failure };
}

/**
 * State machine from Anthropic to the middle form, fed with parsed events of a stream. A plain answer is fed as
 * the events that would have built it, so both give the same. Nothing follows `end` or `error`.
 */
export class AnswerReader {
  private id: string | null = null;
  private usage: JsonObject = {};
  private calls = 0;
  private searches = 0;
  private finished = false;
  private state: 'init' | 'open' | 'done' = 'init';
  private readonly blocks = new Map<number, OpenBlock>();

  /** `originalName`: the caller's own name of a tool. */
  constructor(private readonly originalName: (name: string) => string = (name) => name) {}

  get isDone(): boolean {
    return this.state === 'done';
  }

  read(event: JsonObject): ModelEvent[] {
    if (this.state === 'done') return [];
    const events = this.take(event);
    const last = events.at(-1)?.type;
    if (last === 'end' || last === 'error') this.state = 'done';
    return events;
  }

  /** The upstream closed its connection. */
  close(): ModelEvent[] {
    if (this.state === 'done') return [];
    this.state = 'done';
    return [connectionLost('the provider closed the stream before message_stop')];
  }

  private take(event: JsonObject): ModelEvent[] {
    const type = textAt(event, 'type');
    switch (type) {
      case 'message_start':
        return this.start(objectAt(event, 'message'));
      case 'error':
        return [inBandError(event)];
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
      case 'message_delta':
      case 'message_stop':
        if (this.state === 'init') return [badResponse(`${type} came before message_start`)];
        return this.takeOpen(type, event);
      default:
        // A host that serves the model fails in words of its own.
        if (type === '' && isObject(event.error)) return [inBandError(event)];
        return type === 'ping' ? [{ type: 'ping' }] : [];
    }
  }

  private takeOpen(type: string, event: JsonObject): ModelEvent[] {
    const index = numberOrNull(event, 'index') ?? -1;
    if (type === 'content_block_start') return this.blockStart(index, objectAt(event, 'content_block'));
    if (type === 'content_block_delta') return this.blockDelta(index, objectAt(event, 'delta'));
    if (type === 'content_block_stop') return this.blockStop(index);
    if (type === 'message_delta') return this.messageDelta(event);
    return this.messageStop();
  }

  private start(message: JsonObject): ModelEvent[] {
    const id = textOrNull(message, 'id');
    if (this.state === 'open') {
      return id === this.id ? [] : [badResponse('another message started inside the message')];
    }
    this.state = 'open';
    this.id = id;
    this.usage = objectAt(message, 'usage');
    const tier = textOrNull(this.usage, 'service_tier');
    return [
      {
        type: 'start',
        id,
        created: null,
        systemFingerprint: null,
        serviceTier: tier === 'standard' ? 'default' : tier,
      },
      this.counts(false),
    ];
  }

  private blockStart(index: number, block: JsonObject): ModelEvent[] {
    const open: OpenBlock = { call: null, input: {}, hasFragments: false, signature: '' };
    this.blocks.set(index, open);
    switch (block.type) {
      case 'text':
        return [
          ...textEvents(textAt(block, 'text')),
          ...objectsAt(block, 'citations').flatMap(citationEvents),
        ];
      case 'thinking':
        open.signature = textAt(block, 'signature');
        return reasoningEvents(textAt(block, 'thinking'));
      case 'redacted_thinking':
        return [
          { type: 'opaque_reasoning', choice: 0, data: textAt(block, 'data'), format: SIGNATURE_FORMAT },
        ];
      case 'tool_use':
        open.call = this.calls;
        this.calls += 1;
        // Never sent on as it stands: a stream starts every tool with {} and then spells the input out.
        open.input = objectAt(block, 'input');
        return [
          {
            type: 'tool_start',
            choice: 0,
            call: open.call,
            id: textAt(block, 'id'),
            name: this.originalName(textAt(block, 'name')),
            custom: false,
          },
        ];
      case 'server_tool_use':
        return block.name === 'web_search' ? this.searched() : [];
      default:
        // Server tools ran at the provider already: they are no calls of the client.
        return [];
    }
  }

  /** Returns the searches; their count comes at the end: a stream that breaks off before it has run these. */
  private searched(): ModelEvent[] {
    this.searches += 1;
    return [this.counts(false)];
  }

  /** Searches that the provider does not count are those that were seen. */
  private counts(isFinal: boolean): ModelEvent {
    const usage = unitUsage(this.usage, isFinal);
    const isCounted = isFinal && isObject(this.usage.server_tool_use);
    if (this.searches > 0 && !isCounted) usage.tool_calls = { web_search: this.searches };
    return { type: 'usage', usage, raw: withoutMoney(this.usage) as JsonObject };
  }

  private blockDelta(index: number, delta: JsonObject): ModelEvent[] {
    const open = this.blocks.get(index);
    switch (delta.type) {
      case 'text_delta':
        return textEvents(textAt(delta, 'text'));
      case 'thinking_delta':
        return reasoningEvents(textAt(delta, 'thinking'));
      case 'signature_delta':
        if (open) open.signature += textAt(delta, 'signature');
        return [];
      case 'citations_delta':
        return citationEvents(objectAt(delta, 'citation'));
      case 'input_json_delta': {
        const text = textAt(delta, 'partial_json');
        if (!open || open.call === null || text === '') return [];
        open.hasFragments = true;
        return [{ type: 'tool_arguments', choice: 0, call: open.call, text }];
      }
      default:
        return [];
    }
  }

  private blockStop(index: number): ModelEvent[] {
    const open = this.blocks.get(index);
    if (!open) return [];
    this.blocks.delete(index);
    if (open.signature !== '') {
      return [
        { type: 'reasoning_signature', choice: 0, signature: open.signature, format: SIGNATURE_FORMAT },
      ];
    }
    const { call } = open;
    if (call === null) return [];
    const end: ModelEvent = { type: 'tool_end', choice: 0, call };
    if (open.hasFragments) return [end];
    return [{ type: 'tool_arguments', choice: 0, call, text: writeJson(open.input) }, end];
  }

  private messageDelta(event: JsonObject): ModelEvent[] {
    const events: ModelEvent[] = [];
    const delta = objectAt(event, 'delta');
    const native = textOrNull(delta, 'stop_reason');
    if (native !== null && !this.finished) {
      this.finished = true;
      events.push(...this.closeBlocks(), {
        type: 'finish',
        choice: 0,
        reason: finishReason(native),
        native,
        stopSequence: textOrNull(delta, 'stop_sequence'),
        ...(isObject(delta.stop_details) ? { details: withoutMoney(delta.stop_details) } : {}),
      });
    }
    if (isObject(event.usage)) {
      this.usage = mergeUsage(this.usage, event.usage);
      events.push(this.counts(true));
    }
    return events;
  }

  private messageStop(): ModelEvent[] {
    // Without a stop_reason nobody knows whether the answer is whole: none is made up.
    if (!this.finished) return [badResponse('the message stopped without a stop_reason')];
    return [{ type: 'end' }];
  }

  private closeBlocks(): ModelEvent[] {
    return [...this.blocks.keys()].flatMap((index) => this.blockStop(index));
  }
}

function textEvents(text: string): ModelEvent[] {
  return text === '' ? [] : [{ type: 'text', choice: 0, text }];
}

function reasoningEvents(text: string): ModelEvent[] {
  return text === '' ? [] : [{ type: 'reasoning', choice: 0, text, format: SIGNATURE_FORMAT }];
}

function citationEvents(citation: JsonObject): ModelEvent[] {
  const url = textAt(citation, 'url');
  if (url === '') return [];
  return [{ type: 'citation', choice: 0, citation: { url, title: textAt(citation, 'title') } }];
}
