import { spellBody, spliceMembers } from '@gateway/json-body';
import type { Quirks, RouteTarget } from '../../translation/translation.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { hasCalls, unsentReasoning } from '../earlier-reasoning.js';
import { GATEWAY_OWNED } from '../gateway-owned.js';
import type { ModelRequest, Part, Turn } from '../model-request.js';
import type { EncodedRequest } from '../text-dialect.js';
import {
  filled,
  isObject,
  objectOf,
  objectsOf,
  textOf,
  without,
  type JsonObject,
} from '../../body/json-object.js';
import { toolsForFunctions } from './read-request.js';
import { reasoningMembers } from '../reasoning-effort.js';
import { seedAsWritten, within } from '../bounds.js';
import { upstreamCallId } from '../upstream-names.js';

export const PATH = '/chat/completions';
export const ACCEPT = 'application/json, text/event-stream';

/** Members that this page writes anew, under whatever name the route wants. */
const REWRITTEN = [
  'model',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'reasoning_effort',
  'stream_options',
  'safety_identifier',
  'user',
  'functions',
  'function_call',
];
const REPLACED = new Set([...GATEWAY_OWNED, ...REWRITTEN]);

/**
 * The caller's own bytes for an upstream that speaks the caller's dialect: only what the route needs otherwise is
 * changed. Always starts from the untouched original, so no attempt sees what another one was sent.
 */
export function spliceRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  const { quirks } = target;
  const { value } = request.body;
  const ignored = unsentReasoning(request, isReturned(quirks, true));
  const changes: JsonObject = {};
  for (const name in value) if (REPLACED.has(name)) changes[name] = undefined;
  if (request.legacyFunctions) Object.assign(changes, toolsForFunctions(value));
  const messages = repairedMessages(changes.messages ?? value.messages, quirks);
  if (messages) changes.messages = messages;
  changes.model = target.upstreamModel;
  if (request.maxOutputTokens !== null) changes[maxTokensParam(quirks)] = request.maxOutputTokens;
  if (request.reasoning) {
    const reasoning = reasoningMembers(request.reasoning, request.maxOutputTokens, target);
    Object.assign(changes, reasoning.members);
    if (reasoning.isIgnored) ignored.push(request.callerNames.reasoning);
  }
  const { temperature } = request.sampling;
  const taken = takenTemperature(temperature, quirks);
  if (taken !== temperature) changes.temperature = taken;
  const options = request.stream ? streamOptions(objectOf(value.stream_options), quirks) : undefined;
  if (options) {
    // As the caller wrote them, where they ask for usage already.
    if (objectOf(value.stream_options).include_usage === true) delete changes.stream_options;
    else changes.stream_options = options;
  }
  if (request.endUser !== null) spliceEndUser(request.endUser, request, target, changes, ignored);
  const tools = typedTools(changes.tools ?? value.tools);
  if (tools) changes.tools = tools;
  const choice = changes.tool_choice ?? value.tool_choice;
  if (choice === 'required' && quirks.requiredToolChoice !== undefined)
    changes.tool_choice = quirks.requiredToolChoice;
  if (!quirks.passthroughParams) {
    const dropped = Object.keys(request.unknown);
    if (value.top_k != null && !target.fixesSampling) dropped.push('top_k');
    for (const name of dropped) changes[name] = undefined;
    ignored.push(...dropped);
  }
  // OpenAI takes metadata of stored answers only; the gateway keeps it as the request's tags either way.
  if (value.metadata != null && (value.store !== true || quirks.refuses?.includes('store'))) {
    changes.metadata = undefined;
    ignored.push('metadata');
  }
  if (quirks.refuses || target.fixesSampling) {
    const { refused, ignored: unheard } = refusedMembers({ ...value, ...changes }, target);
    for (const name of refused) changes[name] = undefined;
    ignored.push(...unheard.filter((name) => !ignored.includes(name)));
  }
  if (quirks.seedParam !== undefined && typeof value.seed === 'number') {
    changes.seed = undefined;
    spellBody(request.body);
    changes[quirks.seedParam] = seedAsWritten(request);
  }
  const { pieces, byteLength } = spliceMembers(request.body, changes);
  return { request: { path: PATH, contentType: JSON_TYPE, accept: ACCEPT, pieces, byteLength }, ignored };
}

/** Tools of which one came without its type, which only some servers take; null where none did. */
function typedTools(tools: unknown): JsonObject[] | null {
  const list = objectsOf(tools);
  if (list.every(({ type }) => type !== undefined)) return null;
  return list.map((tool) => (tool.type === undefined ? { type: 'function', ...tool } : tool));
}

function spliceEndUser(
  endUser: string,
  { body }: ModelRequest,
  { quirks }: RouteTarget,
  changes: JsonObject,
  ignored: string[],
): void {
  const preferred = body.value.safety_identifier == null ? 'user' : 'safety_identifier';
  const name = endUserParam(preferred, quirks);
  if (name === null) ignored.push(preferred);
  else changes[name] = endUser;
}

/** A value that asks for what happens anyway: it can be left out without a report. */
const NO_OP: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['n', 1],
  ['logprobs', false],
  ['store', false],
  ['stream', false],
  ['parallel_tool_calls', true],
]);

/** Parameters that a model with fixed sampling refuses. */
const SAMPLING = ['temperature', 'top_p', 'top_k', 'frequency_penalty', 'presence_penalty'];

/** Name of the output limit on this route. */
export function maxTokensParam({ maxTokensParam: name }: Quirks): string {
  return name ?? 'max_completion_tokens';
}

/** Top-level members that this route takes out of a request; those the caller should know of go to `ignored`. */
export function refusedMembers(
  members: JsonObject,
  target: RouteTarget,
): { refused: string[]; ignored: string[] } {
  const { refuses = [] } = target.quirks;
  const refused = [...new Set([...refuses, ...(target.fixesSampling ? SAMPLING : [])])].filter((name) =>
    Object.hasOwn(members, name),
  );
  const ignored = refused.filter((name) => {
    const value = members[name];
    const isNoOp = NO_OP.has(name) && NO_OP.get(name) === value;
    return value !== undefined && value !== null && !isNoOp && name !== 'stream_options';
  });
  return { refused, ignored };
}

/** Mistral's word for `required`. */
export function requiredWord({ requiredToolChoice }: Quirks): string {
  return requiredToolChoice ?? 'required';
}

/** OpenAI's bound of a stop list. */
const STOP_MAX = 4;

/** Returns the most stop sequences that the provider takes: OpenAI's bound, where it names no other. */
export function stopMaxOf({ stopMax = STOP_MAX }: Quirks): number {
  return stopMax;
}

/** The temperature on the provider's own scale, which ends earlier than OpenAI's. */
export function takenTemperature(temperature: number | null, { temperatures }: Quirks): number | null {
  return temperatures === undefined ? temperature : within(temperature, ...temperatures);
}

/** stream_options of a stream, undefined for none: usage is always asked for where the provider knows how. */
export function streamOptions(callers: JsonObject, quirks: Quirks): JsonObject | undefined {
  if (quirks.includeUsageOption === false || quirks.refuses?.includes('stream_options')) return undefined;
  return { ...callers, include_usage: true };
}

/** The end user's id under a name that the provider takes, the caller's own name first. */
export function endUserParam(
  preferred: 'safety_identifier' | 'user',
  { refuses = [] }: Quirks,
): string | null {
  return [preferred, 'safety_identifier', 'user'].find((name) => !refuses.includes(name)) ?? null;
}

const REASONING = ['reasoning', 'reasoning_content', 'reasoning_details'];
/** Members that answers and SDK helpers add to a reply. Callers send the reply back whole, and providers refuse them. */
const READ_ONLY = ['annotations', 'parsed'];
const READ_ONLY_OF_CALL = ['parsed_arguments'];

/**
 * The caller's messages as this provider takes them, null where they can go as they are: then megabytes of them are
 * not written again.
 */
function repairedMessages(messages: unknown, quirks: Quirks): JsonObject[] | null {
  const before = objectsOf(messages);
  let after: JsonObject[] | null = null;
  for (let at = 0; at < before.length; at += 1) {
    const message = repaired(before[at], quirks);
    if (message !== before[at]) after ??= [...before];
    if (after !== null) after[at] = message;
  }
  return after;
}

function repaired(message: JsonObject, quirks: Quirks): JsonObject {
  switch (message.role) {
    case 'system':
    case 'developer': {
      const role = quirks.systemRole ?? message.role;
      return role === message.role ? message : { ...message, role };
    }
    case 'assistant':
      return withCalls(withReasoning(withoutAny(message, READ_ONLY), quirks), quirks);
    case 'tool': {
      const id = textOf(message.tool_call_id);
      const accepted = upstreamCallId(id, quirks.toolCallIdPattern);
      const clean = 'is_error' in message ? toolError(message) : message;
      return accepted === id ? clean : { ...clean, tool_call_id: accepted };
    }
    default:
      return message;
  }
}

/** `is_error` is an extension: the model reads it in the text. */
function toolError(message: JsonObject): JsonObject {
  const clean = without(message, ['is_error']);
  if (message.is_error !== true) return clean;
  const { content } = message;
  return {
    ...clean,
    content:
      typeof content === 'string'
        ? `Error: ${content}`
        : [{ type: 'text', text: 'Error: ' }, ...objectsOf(content)],
  };
}

/** Reasoning of earlier turns goes back only to a provider that wants it, in its spelling. */
function withReasoning(message: JsonObject, quirks: Quirks): JsonObject {
  const sent = REASONING.filter((name) => name in message);
  if (sent.length === 0) return message;
  const clean = without(message, REASONING);
  const member = returnedReasoning(message, quirks);
  const isAsSent = (name: string): boolean => member !== null && member[name] === message[name];
  if (member && sent.length === Object.keys(member).length && sent.every(isAsSent)) return message;
  return { ...clean, ...member };
}

function returnedReasoning(message: JsonObject, quirks: Quirks): JsonObject | null {
  const details = objectsOf(message.reasoning_details);
  const { returnsReasoning: name } = quirks;
  if (details.length > 0 && (name === 'reasoning_details' || name === 'text_details'))
    return { reasoning_details: message.reasoning_details };
  const text =
    filled(message.reasoning_content) ??
    filled(message.reasoning) ??
    filled(details.map((detail) => textOf(detail.text ?? detail.summary)).join(''));
  // DeepSeek wants its reasoning back while a tool loop runs, and refuses it otherwise.
  return text === null ? null : returnedText(text, objectsOf(message.tool_calls).length > 0, quirks);
}

function withCalls(message: JsonObject, { toolCallIdPattern }: Quirks): JsonObject {
  const calls = objectsOf(message.tool_calls);
  const repairedCalls = calls.map((call) => {
    const id = upstreamCallId(textOf(call.id), toolCallIdPattern);
    const sent = objectOf(call.function);
    const body = withoutAny(sent, READ_ONLY_OF_CALL);
    const isEmpty = isObject(call.function) && textOf(body.arguments).trim() === '';
    if (id === call.id && !isEmpty && body === sent) return call;
    if (!isObject(call.function)) return { ...call, id };
    return { ...call, id, function: isEmpty ? { ...body, arguments: '{}' } : body };
  });
  return repairedCalls.some((call, position) => call !== calls[position])
    ? { ...message, tool_calls: repairedCalls }
    : message;
}

/** The same object where it has none of them. */
function withoutAny(value: JsonObject, names: readonly string[]): JsonObject {
  return names.some((name) => name in value) ? without(value, names) : value;
}

/** The member in which the provider wants the reasoning of an earlier turn; null where it wants none of this turn. */
export function returnedText(
  text: string,
  hasCalls: boolean,
  { returnsReasoning, returnsAllReasoning = false }: Quirks,
): JsonObject | null {
  switch (returnsReasoning) {
    case undefined:
      return null;
    case 'reasoning_content':
      return hasCalls || returnsAllReasoning ? { reasoning_content: text } : null;
    case 'both':
      return { reasoning: text, reasoning_content: text };
    case 'text_details':
      return { reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] };
    case 'reasoning':
    case 'reasoning_details':
      return { reasoning: text };
  }
}

/**
 * Returns the test for reasoning of an earlier turn that this provider is sent; `isSpliced`: the caller's own details
 * go on as they came.
 */
export function isReturned(quirks: Quirks, isSpliced: boolean) {
  const takesDetails =
    quirks.returnsReasoning === 'reasoning_details' || quirks.returnsReasoning === 'text_details';
  return ({ type }: Part, turn: Turn): boolean => {
    if (isSpliced && takesDetails) return true;
    return type === 'reasoning' && returnedText('', hasCalls(turn), quirks) !== null;
  };
}
