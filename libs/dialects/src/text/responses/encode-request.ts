import { objectOf, type JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import { jsonBody } from '../../translation/upstream-body.js';
import { shortId, within } from '../bounds.js';
import { unsentReasoning } from '../earlier-reasoning.js';
import type { Capability, ModelRequest, ResponseFormat, Turn } from '../model-request.js';
import { markerNames } from '../ignored-hints.js';
import { effortOf } from '../reasoning-effort.js';
import type { EncodedRequest } from '../text-dialect.js';
import { renamed, ToolNames } from '../upstream-names.js';
import { markedTurns } from './cache-breakpoints.js';
import { encodeItems } from './encode-items.js';
import { OWN_FORMAT } from './sealed-reasoning.js';
import { RESPONSES } from './read-request.js';
import { ACCEPT, PATH, spliceRequest } from './splice-request.js';
import { encodeTool, encodeToolChoice } from './tools.js';

const END_USER_MAX = 64;
/** Hints of OpenAI's other format that this one knows, too. */
const HINTS = [
  'verbosity',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'moderation',
];
/** Fewer are refused here, and every other format takes them. */
const LEAST_OUTPUT_TOKENS = 16;

/** Capabilities that this format cannot express. */
const LACKS: ReadonlySet<Capability> = new Set<Capability>([
  'audio_input',
  'choices',
  'logit_bias',
  'audio_output',
  'prediction',
  'web_search',
]);

export function unsupported(request: ModelRequest, { quirks }: RouteTarget): string | null {
  if (request.dialect === RESPONSES) return null;
  const hasNoTools = quirks.refuses?.includes('tools') ?? false;
  const lacking = request.requires.find(
    ({ capability }) => LACKS.has(capability) || (capability === 'tools' && hasNoTools),
  );
  if (lacking) return lacking.param;
  return request.stop.length > 0 ? request.callerNames.stop : null;
}

/**
 * The request for an upstream of this format: the caller's own bytes where it speaks the format too, else encoded from the
 * middle form, and then nothing is kept at the provider.
 */
export function encodeRequest(asked: ModelRequest, target: RouteTarget): EncodedRequest {
  if (asked.dialect === RESPONSES) return spliceRequest(asked, target);
  const names = new ToolNames();
  const request = renamed(asked, names);
  const ignored = new Set([...Object.keys(request.hints), ...Object.keys(request.unknown)]);
  for (const name of unsentReasoning(request, isReturned)) ignored.add(name);
  const { tools } = request;
  const thinks = target.reasoning.style !== 'none';
  const logprobs = request.requires.some(({ capability }) => capability === 'logprobs');
  const takesMarkers = target.quirks.cacheBreakpoints === true;
  const marked = markedTurns(request, takesMarkers);
  // One of the whole request asks for what OpenAI does by itself: it keeps what ends with the last part.
  if (takesMarkers && !marked.isCut) for (const name of markerNames(request)) ignored.delete(name);
  const include = [
    ...(thinks ? ['reasoning.encrypted_content'] : []),
    ...(logprobs ? ['message.output_text.logprobs'] : []),
  ];
  const body: JsonObject = {
    model: target.upstreamModel,
    input: encodeItems(marked.turns),
    store: false,
    max_output_tokens: within(request.maxOutputTokens, LEAST_OUTPUT_TOKENS, Infinity),
    ...sampling(request, target, ignored),
    tools: tools.length === 0 ? null : tools.map(encodeTool),
    tool_choice: tools.length === 0 ? null : encodeToolChoice(request.toolChoice, tools),
    parallel_tool_calls: tools.length === 0 ? null : request.parallelToolCalls,
    text: textOptions(request),
    reasoning: reasoningOf(request, target, ignored),
    include: include.length === 0 ? null : include,
    top_logprobs: logprobs ? topLogprobs(request) : null,
    service_tier: request.serviceTier,
    safety_identifier: request.endUser === null ? null : shortId(request.endUser, END_USER_MAX),
    stream: request.stream ? true : null,
  };
  for (const name of HINTS) {
    if (request.hints[name] === undefined) continue;
    if (name !== 'verbosity') body[name] = request.hints[name];
    ignored.delete(name);
  }
  for (const name of target.quirks.refuses ?? []) {
    if (body[name] == null) continue;
    body[name] = null;
    ignored.add(name);
  }
  const sent = Object.entries(body).filter(([, value]) => value !== null && value !== undefined);
  return {
    request: jsonBody(PATH, ACCEPT, Object.fromEntries(sent)),
    ignored: [...ignored],
    ...(names.hasShortened ? { toolNames: names.originals } : {}),
  };
}

/** Encrypted reasoning goes back to the family that made it, with what was shown of it. */
function isReturned({ format }: { format?: string }, { parts }: Turn): boolean {
  const isEncrypted = parts.some((part) => part.type === 'opaque_reasoning' && part.format === OWN_FORMAT);
  return format === OWN_FORMAT && isEncrypted;
}

function sampling({ sampling: given }: ModelRequest, target: RouteTarget, ignored: Set<string>): JsonObject {
  const members: JsonObject = {};
  const place = (name: string, value: number | null, isTaken: boolean): void => {
    if (value === null) return;
    if (isTaken) members[name] = value;
    else ignored.add(name);
  };
  place('temperature', given.temperature, !target.fixesSampling);
  place('top_p', given.topP, !target.fixesSampling);
  place('top_k', given.topK, false);
  place('seed', given.seed, false);
  place('frequency_penalty', given.frequencyPenalty, false);
  place('presence_penalty', given.presencePenalty, false);
  return members;
}

function reasoningOf(request: ModelRequest, target: RouteTarget, ignored: Set<string>): JsonObject | null {
  const { reasoning, callerNames } = request;
  if (!reasoning) return null;
  const effort = effortOf(reasoning, request.maxOutputTokens, target);
  if (target.reasoning.style === 'none') {
    if (effort !== null && effort !== 'none') ignored.add(callerNames.reasoning);
    return null;
  }
  // Who names reasoning by its object or as thinking wants to read it; a bare effort only makes the model think.
  const isShown = !reasoning.exclude && effort !== 'none' && callerNames.reasoning !== 'reasoning_effort';
  return { ...(effort === null ? {} : { effort }), ...(isShown ? { summary: 'auto' } : {}) };
}

function textOptions({ responseFormat, hints }: ModelRequest): JsonObject | null {
  const format = formatOf(responseFormat);
  const verbosity = hints.verbosity === undefined ? {} : { verbosity: hints.verbosity };
  const options = { ...(format === null ? {} : { format }), ...verbosity };
  return Object.keys(options).length === 0 ? null : options;
}

function formatOf(format: ResponseFormat | null): JsonObject | null {
  if (!format) return null;
  if (format.kind !== 'json_schema') return { type: format.kind };
  const { name, schema, strict, description } = format;
  return {
    type: 'json_schema',
    name,
    schema: schema ?? { type: 'object' },
    ...(description === undefined ? {} : { description }),
    ...(strict === null ? {} : { strict }),
  };
}

/** Both OpenAI formats name it alike. */
function topLogprobs({ body }: ModelRequest): number | null {
  const { top_logprobs: top } = objectOf(body.value);
  return typeof top === 'number' ? top : null;
}
