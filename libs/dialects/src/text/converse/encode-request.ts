import { writeJson } from '@gateway/json-body';
import { isObject, type JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import { jsonBody } from '../../translation/upstream-body.js';
import { ToolNames } from '../upstream-names.js';
import { ignoredHints, markerNames } from '../ignored-hints.js';
import { encodeThinking, isLoopWithoutThinking, type Thinking } from '../messages/encode-thinking.js';
import { outputSchema } from '../messages/output-schema.js';
import { unsentReasoning } from '../earlier-reasoning.js';
import type { Capability, ModelRequest, Part, Tool } from '../model-request.js';
import { plainTool } from '../plain-schema.js';
import { refusedPart } from '../refused-part.js';
import { shownParts } from '../shown-parts.js';
import type { EncodedRequest } from '../text-dialect.js';
import { limitCachePoints } from './cache-points.js';
import { cachePoint, ContentEncoder, SIGNATURE_FORMAT } from './encode-content.js';
import { calledTools, encodeTurns, type Message } from './encode-turns.js';
import { familyOf, type Family } from './families.js';

export const STREAM_TYPE = 'application/vnd.amazon.eventstream';

/** Capabilities that this format cannot express. */
const LACKS: ReadonlySet<Capability> = new Set<Capability>([
  'custom_tools',
  'choices',
  'logprobs',
  'logit_bias',
  'audio_output',
  'prediction',
  'web_search',
]);
const HONOURED: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint']);
const JSON_INSTRUCTION = 'Answer with one JSON object and nothing else: no explanation, no code fence.';

export function unsupported({ requires, turns }: ModelRequest): string | null {
  const lacking = requires.find(({ capability }) => LACKS.has(capability));
  if (lacking) return lacking.param;
  const media = requires.find(
    ({ capability }) => capability === 'image_input' || capability === 'document_input',
  );
  // It fetches nothing: what has no data here goes to a provider that does.
  const isLinked = shownParts(turns).some(
    (part) =>
      (part.type === 'image' || part.type === 'document') &&
      (part.source.kind === 'url' || part.source.kind === 'file'),
  );
  return media && isLinked ? media.param : null;
}

/** The request of Converse, from the middle form. */
export function encodeRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  const family = familyOf(target.upstreamModel);
  const names = new ToolNames();
  const encoder = new ContentEncoder(
    family,
    (name) => names.upstream(name),
    (capability, message) => refusedPart(request, capability, message),
  );
  const { system, messages } = encodeTurns(request.turns, encoder);
  if (request.responseFormat?.kind === 'json_object') system.push({ text: JSON_INSTRUCTION });
  const thinking = thinkingOf(request, target, family);
  const { inference, extras, ignored } = parameters(request, target, family, { thinking, names });
  const config = toolConfig(request, messages, names);
  markWhole(request, messages);
  const lists = [config?.tools ?? [], system, ...messages.map(({ content }) => content)];
  if (limitCachePoints(lists, target.upstreamModel)) ignored.push(...markerNames(request));
  const body: JsonObject = {
    messages,
    ...(system.length > 0 ? { system } : {}),
    ...(Object.keys(inference).length > 0 ? { inferenceConfig: inference } : {}),
    ...(config === null ? {} : { toolConfig: config }),
    ...(Object.keys(extras).length > 0 ? { additionalModelRequestFields: extras } : {}),
    ...outputConfig(request),
    // Which one matched is told to who asks.
    ...(family === 'claude' && inference.stopSequences !== undefined
      ? { additionalModelResponseFieldPaths: ['/stop_sequence'] }
      : {}),
    ...(request.serviceTier === 'flex' ? { serviceTier: { type: 'flex' } } : {}),
  };
  ignored.push(...ignoredHints(request, HONOURED), ...unsentReasoning(request, isReturned));
  const isThinking = thinking.thinking !== undefined && thinking.thinking.type !== 'disabled';
  if (isThinking && isLoopWithoutThinking(request.turns, isOwn)) ignored.push(request.callerNames.thoughts);
  if (request.endUser !== null) ignored.push(request.callerNames.endUser);
  if (thinking.isDropped) ignored.push(request.callerNames.reasoning);
  if (request.parallelToolCalls === false && request.tools.length > 0 && family !== 'claude')
    ignored.push('parallel_tool_calls');
  ignored.push(...Object.keys(request.unknown));
  const method = request.stream ? 'converse-stream' : 'converse';
  return {
    request: jsonBody(
      `/model/${encodeURIComponent(target.upstreamModel)}/${method}`,
      request.stream ? STREAM_TYPE : 'application/json',
      body,
    ),
    ignored: [...new Set(ignored)],
    ...(names.hasShortened ? { toolNames: names.originals } : {}),
  };
}

function isOwn(format: string | undefined): boolean {
  return format === SIGNATURE_FORMAT;
}

/** Thinking goes back to the family that signed it. */
function isReturned(part: Part): boolean {
  if (part.type === 'reasoning') return isOwn(part.format) && part.signature !== undefined;
  return part.type === 'opaque_reasoning' && isOwn(part.format);
}

/** A marker of a whole messages request stands behind its last block, unless one stands there already. */
function markWhole({ dialect, body }: ModelRequest, messages: readonly Message[]): void {
  const { cache_control: marker } = body.value;
  const content = messages.at(-1)?.content;
  const last = content?.at(-1);
  if (dialect !== 'messages' || !isObject(marker) || !content || !last || 'cachePoint' in last) return;
  content.push(...cachePoint({ ttl: marker.ttl === '1h' ? '1h' : '5m' }));
}

function maxTokensOf({ maxOutputTokens }: ModelRequest, target: RouteTarget): number {
  return maxOutputTokens ?? target.maxOutputTokens ?? target.contextLength;
}

function thinkingOf(request: ModelRequest, target: RouteTarget, family: Family): Thinking {
  const { reasoning } = request;
  if (family === 'claude') return encodeThinking(request, target, maxTokensOf(request, target), isOwn);
  const wanted = reasoning?.effort ?? null;
  if (wanted === null || wanted === 'none') return reasoning?.maxTokens == null ? {} : { isDropped: true };
  if (target.reasoning.style === 'none') return { isDropped: true };
  const effort = wanted === 'minimal' ? 'low' : wanted === 'xhigh' || wanted === 'max' ? 'high' : wanted;
  return { effort };
}

/** Returns the members that a family takes beside the common parameters. */
function familyFields({ thinking, effort }: Thinking, family: Family): JsonObject {
  if (family === 'claude')
    return {
      ...(thinking ? { thinking } : {}),
      ...(effort === undefined ? {} : { output_config: { effort } }),
    };
  if (effort === undefined) return {};
  if (family === 'nova') return { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } };
  return { reasoning_effort: effort };
}

function parameters(
  request: ModelRequest,
  target: RouteTarget,
  family: Family,
  { thinking, names }: { thinking: Thinking; names: ToolNames },
): { inference: JsonObject; extras: JsonObject; ignored: string[] } {
  const { sampling, stop } = request;
  const ignored: string[] = [];
  const inference: JsonObject = {};
  const extras = familyFields(thinking, family);
  const isThinking = thinking.thinking !== undefined && thinking.thinking.type !== 'disabled';
  const isFixed = target.fixesSampling || isThinking;
  const place = (into: JsonObject | null, name: string, param: string, value: number | null): void => {
    if (value === null) return;
    if (into === null || isFixed) ignored.push(param);
    else into[name] = value;
  };
  if (request.maxOutputTokens !== null || isThinking) inference.maxTokens = maxTokensOf(request, target);
  const { temperature, topP, topK } = sampling;
  place(inference, 'temperature', 'temperature', temperature === null ? null : Math.min(temperature, 1));
  // Claude refuses the two together.
  place(family === 'claude' && temperature !== null ? null : inference, 'topP', 'top_p', topP);
  if (family === 'nova' && topK !== null && !isFixed) extras.inferenceConfig = { topK };
  else place(family === 'claude' ? extras : null, 'top_k', 'top_k', topK);
  place(null, 'seed', 'seed', sampling.seed);
  place(null, 'frequencyPenalty', 'frequency_penalty', sampling.frequencyPenalty);
  place(null, 'presencePenalty', 'presence_penalty', sampling.presencePenalty);
  const stopSequences = stop.filter((one) => one.trim() !== '');
  if (stopSequences.length > 0) inference.stopSequences = stopSequences;
  if (stopSequences.length < stop.length) ignored.push(request.callerNames.stop);
  const choice =
    request.parallelToolCalls === false && family === 'claude' ? claudeChoice(request, names) : null;
  if (choice !== null) extras.tool_choice = { ...choice, disable_parallel_tool_use: true };
  return { inference, extras, ignored };
}

/** The choice of `toolConfig` in the model's own words, which take its place where they are sent. */
function claudeChoice({ tools, toolChoice: choice }: ModelRequest, names: ToolNames): JsonObject | null {
  if (tools.length === 0 || choice?.mode === 'none') return null;
  if (choice?.mode === 'named') return { type: 'tool', name: names.upstream(choice.name) };
  const isForced = choice?.mode === 'required' || (choice?.mode === 'allowed' && choice.required);
  return { type: isForced ? 'any' : 'auto' };
}

function outputConfig({ responseFormat }: ModelRequest): JsonObject {
  if (responseFormat?.kind !== 'json_schema') return {};
  const { name, description, schema } = responseFormat;
  const jsonSchema = {
    schema: writeJson(outputSchema(schema ?? { type: 'object' })),
    name,
    ...(description === undefined ? {} : { description }),
  };
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
}

function toolSpec(tool: Tool, names: ToolNames): JsonObject {
  const { name, description, parameters, strict } = plainTool(tool);
  return {
    toolSpec: {
      name: names.upstream(name),
      ...(description === undefined || description === '' ? {} : { description }),
      inputSchema: { json: strict === true ? outputSchema(parameters) : parameters },
      ...(strict === true ? { strict } : {}),
    },
  };
}

/** A history with calls needs the tools, also where the caller sends none any more: they get an empty schema. */
function toolConfig(
  request: ModelRequest,
  messages: readonly Message[],
  names: ToolNames,
): { tools: JsonObject[]; toolChoice?: JsonObject } | null {
  const { toolChoice } = request;
  const called = calledTools(messages);
  const allowed = toolChoice?.mode === 'allowed' ? new Set(toolChoice.names) : null;
  const isNone = toolChoice?.mode === 'none';
  const offered = isNone && called.length === 0 ? [] : request.tools;
  const tools = offered
    .filter(({ name }) => allowed?.has(name) ?? true)
    .flatMap((tool) => [toolSpec(tool, names), ...cachePoint(tool.cache)]);
  if (tools.length === 0) {
    if (called.length === 0) return null;
    const empty = { json: { type: 'object', properties: {} } };
    return { tools: called.map((name) => ({ toolSpec: { name, inputSchema: empty } })) };
  }
  const choice = choiceOf(request, names);
  return { tools, ...(choice === null ? {} : { toolChoice: choice }) };
}

/** This format has no word for `none`: then there is no choice, and no tools where the history allows it. */
function choiceOf({ toolChoice }: ModelRequest, names: ToolNames): JsonObject | null {
  switch (toolChoice?.mode) {
    case undefined:
    case 'none':
      return null;
    case 'auto':
      return { auto: {} };
    case 'required':
      return { any: {} };
    case 'named':
      return { tool: { name: names.upstream(toolChoice.name) } };
    case 'allowed':
      return toolChoice.required ? { any: {} } : { auto: {} };
  }
}
