import type { ErrorDetail } from '@gateway/contracts';
import type { ParsedBody } from '@gateway/json-body';
import { invalidBody } from '../../body/read-json.js';
import {
  filled,
  isObject,
  objectOf,
  objectsOf,
  pick,
  textOf,
  type JsonObject,
} from '../../body/json-object.js';
import { isGatewayOwned } from '../gateway-owned.js';
import type {
  Capability,
  Effort,
  ModelRequest,
  ReasoningRequest,
  RequiredCapability,
  ResponseFormat,
  Tool,
} from '../model-request.js';
import { objectAtProvider } from './provider-objects.js';
import { ItemsReader } from './read-items.js';
import { KNOWN_PARAMS, requestFault } from './request-schema.js';
import {
  cachedSearch,
  clientTools,
  customTool,
  hostedElsewhere,
  hostedTool,
  readTool,
  readToolChoice,
  unpricedTool,
} from './tools.js';

/** Name of this dialect. */
export const RESPONSES = 'responses';

/** Hints with no field of their own in the middle form. */
const HINTS: ReadonlySet<string> = new Set([
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'metadata',
  'moderation',
  'max_tool_calls',
]);
/** Members whose bytes are input text for the estimate, counted as they stand in the body. */
const MEASURED = ['tools', 'text'];
const LOGPROBS = 'message.output_text.logprobs';
/**
 * Values of `include` that another format has anyway, or has no item for. Of another format it holds these, or has no
 * item that could.
 */
const INCLUDES: ReadonlySet<string> = new Set([
  LOGPROBS,
  'reasoning.encrypted_content',
  'message.input_image.image_url',
  'web_search_call.results',
  'web_search_call.action.sources',
  'file_search_call.results',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
]);

/** Checks and decodes the body of POST /v1/responses. Throws ApiError validation_error. */
export function readRequest(body: ParsedBody): ModelRequest {
  const { value } = body;
  refuse(requestFault(value));
  const items = new ItemsReader(isContinued(value));
  if (typeof value.input === 'string') items.userText(value.input);
  else items.read(objectsOf(value.input));
  refuse(items.fault);
  const { sizes, turns } = items;
  for (const { key, valueStart, end } of body.members)
    if (MEASURED.includes(key)) sizes.textBytes += end - valueStart;
  const instructions = filled(value.instructions);
  if (instructions !== null) {
    sizes.textBytes += Buffer.byteLength(instructions);
    turns.unshift({ role: 'system', parts: [{ type: 'text', text: instructions }] });
  }
  const tools = clientTools(value.tools).map(readTool);
  const atProvider = objectAtProvider(value);
  const unpriced = unpricedTool(value);
  return {
    dialect: RESPONSES,
    model: filled(value.model),
    stream: value.stream === true,
    turns,
    tools,
    toolChoice: readToolChoice(value.tool_choice),
    parallelToolCalls: typeof value.parallel_tool_calls === 'boolean' ? value.parallel_tool_calls : null,
    maxOutputTokens: numberOf(value.max_output_tokens),
    sampling: {
      temperature: numberOf(value.temperature),
      topP: numberOf(value.top_p),
      topK: null,
      seed: null,
      frequencyPenalty: null,
      presencePenalty: null,
    },
    stop: [],
    choices: 1,
    responseFormat: readFormat(objectOf(value.text).format),
    reasoning: readReasoning(value),
    serviceTier: readTier(value.service_tier),
    endUser: filled(value.safety_identifier) ?? filled(value.user),
    requires: [...itemsNeed(items), ...paramsNeed(value, tools)],
    files: items.files,
    ...(atProvider !== null && { atProvider }),
    ...(unpriced !== null && { unpriced }),
    hints: { ...hintsOf(value), ...(items.hasMarkers && { prompt_cache_breakpoint: true }) },
    includeUsage: false,
    legacyFunctions: false,
    unknown: pick(value, (name) => !KNOWN_PARAMS.has(name) && !isGatewayOwned(name)),
    sizes,
    callerNames: {
      stop: 'stop',
      endUser: 'safety_identifier',
      reasoning: 'reasoning',
      thoughts: 'input.reasoning',
    },
    nativeHeaders: {},
    body,
  };
}

/** Items that are kept elsewhere come before those of the body. */
function isContinued(value: JsonObject): boolean {
  return filled(value.previous_response_id) !== null || value.conversation != null;
}

function refuse(detail: ErrorDetail | null): void {
  if (detail) throw invalidBody(detail);
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function readTier(value: unknown): ModelRequest['serviceTier'] {
  return value === 'auto' || value === 'default' || value === 'flex' ? value : null;
}

function readFormat(format: unknown): ResponseFormat | null {
  if (!isObject(format)) return null;
  if (format.type !== 'json_schema') return { kind: format.type === 'json_object' ? 'json_object' : 'text' };
  const { name, schema, strict, description } = format;
  return {
    kind: 'json_schema',
    name: textOf(name),
    schema: isObject(schema) ? schema : null,
    strict: typeof strict === 'boolean' ? strict : null,
    ...(typeof description === 'string' ? { description } : {}),
  };
}

function readReasoning({ reasoning }: JsonObject): ReasoningRequest | null {
  const effort = filled(objectOf(reasoning).effort);
  // The schema has checked the word.
  return effort === null ? null : { effort: effort as Effort, maxTokens: null, exclude: false };
}

function hintsOf(value: JsonObject): Record<string, unknown> {
  const hints = pick(value, (name) => HINTS.has(name) && value[name] != null);
  const { verbosity } = objectOf(value.text);
  if (verbosity != null) hints['text.verbosity'] = verbosity;
  // It changes nothing for a request that fits; one that does not is refused as ever.
  if (value.truncation === 'auto') hints.truncation = 'auto';
  if (stringsOf(value.include).some((name) => !INCLUDES.has(name))) hints.include = true;
  const search = cachedSearch(value);
  if (search >= 0) hints[`tools[${search}]`] = true;
  return hints;
}

function itemsNeed({ needs }: ItemsReader): RequiredCapability[] {
  return [...needs].map(([capability, param]) => ({ capability, param }));
}

/** Parameters that change what the caller does with the answer: never dropped. */
function paramsNeed(value: JsonObject, tools: Tool[]): RequiredCapability[] {
  const needs: RequiredCapability[] = [];
  const need = (isNeeded: boolean, capability: Capability, param: string, value?: string): void => {
    if (isNeeded) needs.push({ capability, param, ...(value !== undefined && { value }) });
  };
  const hosted = hostedTool(value);
  const custom = customTool(value.tools);
  const { effort } = objectOf(value.reasoning);
  const include = stringsOf(value.include);
  if (hosted >= 0) {
    const { type } = objectsOf(value.tools)[hosted];
    need(true, 'same_dialect', `tools[${hosted}].type`, filled(type) ?? undefined);
  }
  const elsewhere = hostedElsewhere(value);
  need(elsewhere !== null, 'same_dialect', elsewhere ?? '');
  need(tools.length > 0, 'tools', 'tools');
  need(custom !== null, 'custom_tools', custom ?? '', 'custom');
  const isSchema = objectOf(objectOf(value.text).format).type === 'json_schema';
  need(isSchema, 'json_schema', 'text.format', 'json_schema');
  need(include.includes(LOGPROBS) || (numberOf(value.top_logprobs) ?? 0) > 0, 'logprobs', 'top_logprobs');
  need(typeof effort === 'string' && effort !== 'none', 'reasoning', 'reasoning.effort');
  need(value.prompt != null, 'same_dialect', 'prompt');
  need(objectsOf(value.context_management).length > 0, 'same_dialect', 'context_management');
  need(value.max_tool_calls != null && hosted >= 0, 'same_dialect', 'max_tool_calls');
  return needs;
}
