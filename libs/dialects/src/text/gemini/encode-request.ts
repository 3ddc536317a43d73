import { objectOf, without, type JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import { jsonBody } from '../../translation/upstream-body.js';
import { ToolNames } from '../upstream-names.js';
import { filledStops, smallSeed } from '../bounds.js';
import { inCallOrder } from '../call-order.js';
import { unsentReasoning } from '../earlier-reasoning.js';
import { ignoredHints } from '../ignored-hints.js';
import type { Capability, ModelRequest } from '../model-request.js';
import { isEmptySchema, plainTool } from '../plain-schema.js';
import type { EncodedRequest } from '../text-dialect.js';
import { SIGNATURE_FORMAT } from './candidate-decoder.js';
import { encodeThinking } from './encode-thinking.js';
import { encodeTurns } from './encode-turns.js';

export const STOP_MAX = 5;
const CHOICES_MAX = 8;
/** Its names begin with a letter. */
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const ACCEPT = 'application/json';
const ACCEPT_STREAM = 'text/event-stream';

/** Capabilities that this format cannot express. */
const LACKS: ReadonlySet<Capability> = new Set<Capability>([
  'custom_tools',
  'logit_bias',
  'prediction',
  'audio_output',
]);
const HONOURED: ReadonlySet<string> = new Set();

/** Models before the third generation combine neither a schema nor a search with functions, and sign no calls. */
function isThirdGeneration(model: string): boolean {
  const version = /gemini-(\d+)/.exec(model)?.[1];
  return version === undefined || Number(version) >= 3;
}

export function unsupported(
  { requires, stop, choices, callerNames }: ModelRequest,
  target: RouteTarget,
): string | null {
  if (filledStops(stop).length > STOP_MAX) return callerNames.stop;
  const asks = (wanted: Capability): string | null =>
    requires.find(({ capability }) => capability === wanted)?.param ?? null;
  const lacking = requires.find(({ capability }) => LACKS.has(capability));
  if (lacking) return lacking.param;
  if (choices > CHOICES_MAX) return asks('choices');
  if (asks('tools') === null || isThirdGeneration(target.upstreamModel)) return null;
  return asks('json_schema') ?? asks('web_search');
}

/** The request of generateContent, from the middle form. */
export function encodeRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  const names = new ToolNames(TOOL_NAME);
  const isThird = isThirdGeneration(target.upstreamModel);
  const { system, contents } = encodeTurns(inCallOrder(request.turns), {
    nameOf: (name) => names.upstream(name),
    needsSignatures: isThird,
    files: request.files,
  });
  const thinking = encodeThinking(request.reasoning, target);
  const { config, ignored } = generationConfig(request, target, thinking.thinkingConfig);
  const body: JsonObject = {
    contents,
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...encodeTools(request, names, isThird),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...(request.serviceTier === 'flex' ? { serviceTier: 'flex' } : {}),
  };
  ignored.push(...ignoredHints(request, HONOURED));
  // Its own thoughts stay behind: it reads their signatures alone.
  ignored.push(...unsentReasoning(request, ({ format }) => format === SIGNATURE_FORMAT));
  if (request.endUser !== null) ignored.push(request.callerNames.endUser);
  if (request.parallelToolCalls === false && request.tools.length > 0) ignored.push('parallel_tool_calls');
  if (thinking.isIgnored) ignored.push(request.callerNames.reasoning);
  ignored.push(...unsearchable(request), ...Object.keys(request.unknown));
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    request: jsonBody(
      `/models/${encodeURIComponent(target.upstreamModel)}:${method}`,
      request.stream ? ACCEPT_STREAM : ACCEPT,
      body,
    ),
    ignored: [...new Set(ignored)],
    ...(names.hasShortened ? { toolNames: names.originals } : {}),
  };
}

/** Its search takes no options. */
function unsearchable({ requires, body }: ModelRequest): string[] {
  const param = requires.find(({ capability }) => capability === 'web_search')?.param;
  if (param === undefined) return [];
  const options = objectOf(body.value[param]);
  return ['search_context_size', 'user_location']
    .filter((name) => options[name] != null)
    .map((name) => `${param}.${name}`);
}

function generationConfig(
  request: ModelRequest,
  target: RouteTarget,
  thinkingConfig: JsonObject | undefined,
): { config: JsonObject; ignored: string[] } {
  const { sampling, responseFormat } = request;
  const ignored: string[] = [];
  const config: JsonObject = {};
  const place = (name: string, value: unknown): void => {
    if (value !== null && value !== undefined) config[name] = value;
  };
  const sampled = (name: string, param: string, value: number | null): void => {
    if (value === null) return;
    if (target.fixesSampling || target.quirks.refuses?.includes(param)) ignored.push(param);
    else config[name] = value;
  };
  sampled('temperature', 'temperature', sampling.temperature);
  sampled('topP', 'top_p', sampling.topP);
  sampled('topK', 'top_k', sampling.topK);
  sampled('presencePenalty', 'presence_penalty', sampling.presencePenalty);
  sampled('frequencyPenalty', 'frequency_penalty', sampling.frequencyPenalty);
  place('seed', smallSeed(sampling.seed));
  place('maxOutputTokens', request.maxOutputTokens);
  const stop = filledStops(request.stop);
  if (stop.length > 0) config.stopSequences = stop;
  if (stop.length < request.stop.length) ignored.push(request.callerNames.stop);
  if (request.choices > 1) config.candidateCount = request.choices;
  if (request.requires.some(({ capability }) => capability === 'logprobs')) {
    config.responseLogprobs = true;
    place('logprobs', request.body.value.top_logprobs);
  }
  if (responseFormat?.kind === 'json_object' || responseFormat?.kind === 'json_schema')
    config.responseMimeType = 'application/json';
  if (responseFormat?.kind === 'json_schema' && responseFormat.schema !== null)
    config.responseJsonSchema = without(responseFormat.schema, ['$schema']);
  if (thinkingConfig) config.thinkingConfig = thinkingConfig;
  return { config, ignored };
}

function encodeTools(request: ModelRequest, names: ToolNames, isThird: boolean): JsonObject {
  const { toolChoice, requires } = request;
  // AUTO cannot carry names: the others are not declared.
  const allowed = toolChoice?.mode === 'allowed' && !toolChoice.required ? new Set(toolChoice.names) : null;
  const declared = request.tools.filter(({ name }) => allowed?.has(name) ?? true);
  const functionDeclarations = declared.map(plainTool).map(({ name, description, parameters = {} }) => ({
    name: names.upstream(name),
    ...(description === undefined ? {} : { description }),
    ...(isEmptySchema(parameters) ? {} : { parametersJsonSchema: without(parameters, ['$schema']) }),
  }));
  const tools: JsonObject[] = functionDeclarations.length > 0 ? [{ functionDeclarations }] : [];
  if (requires.some(({ capability }) => capability === 'web_search')) tools.push({ googleSearch: {} });
  if (tools.length === 0) return {};
  const isStrict = isThird && declared.some(({ strict }) => strict === true);
  const config = functionDeclarations.length > 0 ? callingConfig(request, names, isStrict) : null;
  return { tools, ...(config ? { toolConfig: { functionCallingConfig: config } } : {}) };
}

function callingConfig({ toolChoice }: ModelRequest, names: ToolNames, isStrict: boolean): JsonObject | null {
  const auto = { mode: isStrict ? 'VALIDATED' : 'AUTO' };
  switch (toolChoice?.mode) {
    case undefined:
      return isStrict ? auto : null;
    case 'auto':
      return auto;
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'named':
      return { mode: 'ANY', allowedFunctionNames: [names.upstream(toolChoice.name)] };
    case 'allowed':
      return toolChoice.required
        ? { mode: 'ANY', allowedFunctionNames: toolChoice.names.map((name) => names.upstream(name)) }
        : auto;
  }
}
