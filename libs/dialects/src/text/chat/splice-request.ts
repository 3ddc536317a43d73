import { spliceMembers } from '@gateway/json-body';
import type { RouteTarget } from '../../translation/translation.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { unsentReasoning } from '../earlier-reasoning.js';
import type { ModelRequest } from '../model-request.js';
import type { EncodedRequest } from '../text-dialect.js';
import {
  endUserParam,
  maxTokensParam,
  refusedMembers,
  streamOptions,
  takenTemperature,
} from './encode-params.js';
import { objectOf, objectsOf, type JsonObject } from '../../body/json-object.js';
import { toolsForFunctions } from './legacy-functions.js';
import { reasoningMembers } from '../reasoning-effort.js';
import { isReturned } from './returned-reasoning.js';
import { repairedMessages } from './repair-messages.js';

export const PATH = '/chat/completions';
export const ACCEPT = 'application/json, text/event-stream';

/** Members that are the gateway's business: no provider sees them. */
const GATEWAY_OWNED = ['template', 'variables', 'template_version', 'memory'];
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

/**
 * The caller's own bytes for an upstream that speaks the caller's dialect: only what the route needs otherwise is
 * changed. Always starts from the untouched original, so no attempt sees what another one was sent.
 */
export function spliceRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  const { quirks } = target;
  const { value } = request.body;
  const ignored = unsentReasoning(request, isReturned(quirks, true));
  const changes: JsonObject = {};
  for (const name of [...GATEWAY_OWNED, ...REWRITTEN])
    if (Object.hasOwn(value, name)) changes[name] = undefined;
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
    const dropped = Object.keys(request.unknown).filter((name) => !GATEWAY_OWNED.includes(name));
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
    changes[quirks.seedParam] = value.seed;
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
