import { isObject, type JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import { jsonBody } from '../../translation/upstream-body.js';
import { unsentReasoning } from '../earlier-reasoning.js';
import type { Capability, ModelRequest, Part } from '../model-request.js';
import { shortId } from '../bounds.js';
import { markerNames } from '../ignored-hints.js';
import type { EncodedRequest } from '../text-dialect.js';
import { renamed, ToolNames } from '../upstream-names.js';
import { limitMarkers } from './cache-markers.js';
import { isOwnFormat } from './answer-writer.js';
import { encodeThinking, isLoopWithoutThinking } from './encode-thinking.js';
import { encodeTools } from './encode-tools.js';
import { encodeTurns } from './encode-turns.js';
import { outputSchema } from './output-schema.js';
import { placeOf } from './place.js';
import { MESSAGES } from './read-request.js';
import { ACCEPT, spliceRequest } from './splice-request.js';

const TOOL_NAME = /^[A-Za-z0-9_-]{1,128}$/;
const TOOL_NAME_MAX = 128;
const END_USER_MAX = 256;

/** Capabilities that this format cannot express. */
const LACKS: ReadonlySet<Capability> = new Set<Capability>([
  'custom_tools',
  'audio_input',
  'choices',
  'logprobs',
  'logit_bias',
  'audio_output',
  'prediction',
]);

export function unsupported({ requires }: ModelRequest, { quirks }: RouteTarget): string | null {
  const hasNoTools = quirks.refuses?.includes('tools') ?? false;
  const lacking = requires.find(
    ({ capability }) =>
      LACKS.has(capability) || (hasNoTools && (capability === 'tools' || capability === 'web_search')),
  );
  return lacking?.param ?? null;
}

/** This dialect has no JSON mode; a schema that allows any object is refused, so the prompt asks for it. */
const JSON_INSTRUCTION = 'Answer with one JSON object and nothing else: no explanation, no code fence.';

/** Hints that the encoded request honours in its own words, or that ask for what happens anyway. */
const HONOURED = new Set(['cache_control', 'prompt_cache_breakpoint', 'user', 'safety_identifier']);

/** Members of the body that sampling makes, and the caller's parameters that found no place. */
function encodeSampling(
  { sampling }: ModelRequest,
  isFixed: boolean,
): { members: JsonObject; ignored: string[] } {
  const members: JsonObject = {};
  const ignored: string[] = [];
  const place = (name: string, value: number | null, isTaken: boolean): void => {
    if (value === null) return;
    if (isTaken) members[name] = value;
    else ignored.push(name);
  };
  const { temperature, topP } = sampling;
  // Its scale ends at 1, and the values up to there mean the same: rescaling would change every one of them.
  place('temperature', temperature === null ? null : Math.min(temperature, 1), !isFixed);
  // The newer of the models that take sampling refuse the two together.
  place('top_p', topP, !isFixed && temperature === null);
  place('top_k', sampling.topK, !isFixed);
  place('seed', sampling.seed, false);
  place('frequency_penalty', sampling.frequencyPenalty, false);
  place('presence_penalty', sampling.presencePenalty, false);
  return { members, ignored };
}

function outputFormat({ responseFormat }: ModelRequest): JsonObject | null {
  if (responseFormat?.kind !== 'json_schema') return null;
  const { schema, description } = responseFormat;
  const sanitised = outputSchema(schema ?? { type: 'object' });
  const described =
    isObject(sanitised) && sanitised.description === undefined && description !== undefined
      ? { ...sanitised, description }
      : sanitised;
  return { type: 'json_schema', schema: described };
}

/** Thinking goes back to the family that signed it. */
function isReturned(part: Part): boolean {
  if (part.type === 'reasoning') return isOwnFormat(part.format) && Boolean(part.signature);
  return part.type === 'opaque_reasoning' && isOwnFormat(part.format);
}

function ignoredHints(request: ModelRequest): string[] {
  const names = Object.keys(request.hints).filter((name) => !HONOURED.has(name));
  // Parallel calls are this dialect's default.
  return names.filter((name) => name !== 'parallel_tool_calls' || request.hints[name] !== true);
}

const TIERS = { auto: 'auto', default: 'standard_only' } as const;

function translated(
  request: ModelRequest,
  target: RouteTarget,
  place: JsonObject,
): { body: JsonObject; ignored: string[] } {
  const maxTokens = request.maxOutputTokens ?? target.maxOutputTokens ?? target.contextLength;
  const { thinking, effort, isDropped } = encodeThinking(request, target, maxTokens);
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  const sampling = encodeSampling(request, target.fixesSampling || isThinking);
  const { system, messages } = encodeTurns(request);
  if (request.responseFormat?.kind === 'json_object') system.push({ type: 'text', text: JSON_INSTRUCTION });
  const format = outputFormat(request);
  const stop = request.stop.filter((one) => one.trim() !== '');
  const tier = request.serviceTier === 'flex' ? null : request.serviceTier;
  const body: JsonObject = {
    ...place,
    max_tokens: maxTokens,
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...encodeTools(request),
    ...sampling.members,
    ...(thinking ? { thinking } : {}),
    ...(effort !== undefined || format
      ? { output_config: { ...(effort === undefined ? {} : { effort }), ...(format ? { format } : {}) } }
      : {}),
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
    ...(request.endUser === null ? {} : { metadata: { user_id: shortId(request.endUser, END_USER_MAX) } }),
    ...(tier === null ? {} : { service_tier: TIERS[tier] }),
    ...(request.stream ? { stream: true } : {}),
  };
  const ignored = [...sampling.ignored, ...ignoredHints(request), ...unsentReasoning(request, isReturned)];
  // A loop that began without its thinking goes on without it, though the model thinks on.
  if (isThinking && isLoopWithoutThinking(request.turns, isOwnFormat))
    ignored.push(request.callerNames.thoughts);
  if (isDropped) ignored.push(request.callerNames.reasoning);
  if (stop.length < request.stop.length) ignored.push(request.callerNames.stop);
  if (limitMarkers(body)) ignored.push(...markerNames(request));
  for (const [name, value] of Object.entries(request.unknown)) {
    if (!target.quirks.passthroughParams) ignored.push(name);
    else if (!Object.hasOwn(body, name)) body[name] = value;
  }
  for (const name of target.quirks.refuses ?? []) {
    if (!(name in body)) continue;
    delete body[name];
    ignored.push(name);
  }
  return { body, ignored };
}

/**
 * The request for an upstream of this dialect: the caller's own bytes where it speaks the dialect too, else encoded from
 * the middle form. Throws ApiError where a part of the request has no meaning here.
 */
export function encodeRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  if (request.dialect === MESSAGES) return spliceRequest(request, target);
  const { path, headers, members } = placeOf(request, target);
  const names = new ToolNames(TOOL_NAME, TOOL_NAME_MAX);
  const { body, ignored } = translated(renamed(request, names), target, members);
  return {
    request: { ...jsonBody(path, ACCEPT, body), headers },
    ignored: [...new Set(ignored)],
    ...(names.hasShortened ? { toolNames: names.originals } : {}),
  };
}
