import { rememberSpelling, spelledLike } from '@gateway/json-body';
import type { ApiError, UnitUsage } from '@gateway/contracts';
import { isObject, textOf, type JsonObject } from '../../body/json-object.js';
import { withoutMoney } from '../../translation/money-names.js';
import type { ModelRequest } from '../model-request.js';
import type { AnswerEncoder, Decoded, TextFacts } from '../text-dialect.js';
import { failedCode, responseObject, type ResponseState } from './response-object.js';
import { DONE_FRAME, frame } from './responses-encoder.js';
import { responsesUsage } from './usage.js';

/** Members of a response that say who serves or what it cost: neither is passed on. */
const OWN_MEMBERS = new Set(['provider', 'output_text']);

/**
 * Responses on both sides: items, events and members that nobody knows stay as they are. Rewritten are the response
 * objects that some events carry: model, id where it is none of this format, usage; what names money goes.
 */
export class NativeResponsesEncoder implements AnswerEncoder {
  private reported: { usage: UnitUsage; raw: JsonObject } = { usage: {}, raw: {} };
  private sequence = 0;
  private response: JsonObject | null = null;
  /** Response as the provider wrote it, without its cost and an invalid id. */
  stored: JsonObject | null = null;

  constructor(
    private readonly facts: TextFacts,
    private readonly request: ModelRequest,
  ) {}

  whole({ events, raw }: Decoded): JsonObject {
    this.note(events);
    return this.edited(raw ?? {}, true);
  }

  write({ events, raw, source }: Decoded): string {
    this.note(events);
    const last = events.at(-1)?.type;
    // Of a frame that ends in an error nothing is passed on: the gateway's words follow.
    if (raw === null || source === null || last === 'error') return last === 'end' ? DONE_FRAME : '';
    const type = textOf(raw.type);
    this.sequence = typeof raw.sequence_number === 'number' ? raw.sequence_number + 1 : this.sequence;
    if (!isObject(raw.response) && spared(raw) === raw) return frameText(source, type);
    rememberSpelling(raw, source.data);
    const shown = spared(raw);
    if (!isObject(raw.response)) return frame(shown);
    this.response = this.edited(raw.response, last === 'end');
    const edited = frame({ ...shown, response: this.response });
    return last === 'end' ? edited + DONE_FRAME : edited;
  }

  fail(error: ApiError, requestId: string): string {
    const { code, message } = error;
    const said = { code, message, param: error.options.param ?? null };
    const shown = { type: 'error', ...said, error: { type: error.entry.type, ...said } };
    const frames = frame({ ...shown, request_id: requestId, sequence_number: this.sequence++ });
    const last = this.response ?? responseObject(this.startState(), this.request, this.facts);
    const response = { ...last, status: 'failed', error: { code: failedCode(error), message } };
    this.stored = response;
    return frames + frame({ type: 'response.failed', response, sequence_number: this.sequence++ });
  }

  private startState(): ResponseState {
    const { answerId, created, tier } = this.facts;
    return {
      id: answerId(),
      createdAt: created,
      serviceTier: tier,
      status: 'in_progress',
      completedAt: null,
      output: [],
      usage: null,
      error: null,
      incompleteReason: null,
    };
  }

  private note(events: Decoded['events']): void {
    for (const event of events) if (event.type === 'usage') this.reported = event;
  }

  private edited(response: JsonObject, isFinal: boolean): JsonObject {
    const { facts } = this;
    const { raw, usage } = this.reported;
    // What an older or thinner upstream leaves out, or says null for, has the value that the request, or its default, gave it.
    const stored: JsonObject = spelledLike(responseObject(this.startState(), this.request, facts), response);
    for (const [name, member] of Object.entries(spared(response))) {
      const isUnset = member === null && Object.hasOwn(stored, name);
      if (!OWN_MEMBERS.has(name) && !isUnset) stored[name] = member;
    }
    const id = textOf(response.id);
    const { previous_response_id: previous, conversation } = this.request.body.value;
    const shownId = id.startsWith('resp_') ? id : facts.answerId();
    // The gateway expands what a request goes on from: the provider does not know of it.
    const links = {
      previous_response_id: previous ?? null,
      ...(conversation == null
        ? {}
        : { conversation: isObject(conversation) ? conversation : { id: conversation } }),
    };
    if (isFinal) this.stored = { ...stored, usage: withoutMoney(stored.usage), id: shownId, ...links };
    const counts = isFinal ? responsesUsage(facts.believed(usage), raw, facts, true) : null;
    return {
      ...stored,
      id: shownId,
      ...links,
      model: facts.model,
      usage: counts,
    };
  }
}

/** Names of what the caller or the model wrote as objects: schemas, metadata, variables, commands. They may name money. */
const WRITTEN = new Set([
  'metadata',
  'tools',
  'tool_choice',
  'text',
  'prompt',
  'instructions',
  'attributes',
  'action',
  'arguments',
  'input',
]);

function spared(raw: JsonObject): JsonObject {
  return withoutMoney(raw, WRITTEN) as JsonObject;
}

/** The event in one spelling, with its data line by line; the event line that a provider forgot is added. */
function frameText({ event, data }: { event: string; data: string }, type: string): string {
  return `event: ${event === '' ? type : event}\ndata: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}
