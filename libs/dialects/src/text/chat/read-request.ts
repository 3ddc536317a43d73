import type { ErrorDetail } from '@gateway/contracts';
import type { ParsedBody } from '@gateway/json-body';
import { invalidBody } from '../../body/read-json.js';
import { isGatewayOwned } from '../gateway-owned.js';
import type {
  Capability,
  Effort,
  ModelRequest,
  ReasoningRequest,
  RequiredCapability,
  ResponseFormat,
  Tool,
  ToolChoice,
} from '../model-request.js';
import {
  filled,
  isObject,
  objectOf,
  objectsOf,
  pick,
  textOf,
  without,
  type JsonObject,
} from '../../body/json-object.js';
import { MessagesReader } from './read-messages.js';
import { KNOWN_PARAMS, requestFault } from './request-schema.js';

/** Name of this dialect. */
export const CHAT = 'chat';

/** Hints with no field of their own in the middle form. */
const HINTS: ReadonlySet<string> = new Set([
  'verbosity',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'metadata',
  'store',
  'moderation',
]);
const LEGACY = ['functions', 'function_call'];
/** Members whose bytes are input text for the estimate, counted as they stand in the body. */
const MEASURED = ['tools', 'functions', 'response_format'];

/** Checks and decodes the body of POST /v1/chat/completions. Throws ApiError validation_error. */
export function readRequest(body: ParsedBody): ModelRequest {
  const legacyFunctions = usesLegacyFunctions(body.value);
  const value = legacyFunctions ? { ...body.value, ...toolsForFunctions(body.value) } : body.value;
  const fault = requestFault(value);
  refuse(fault && legacyFunctions ? inFunctions(fault, body.value) : fault);
  const messages = new MessagesReader();
  messages.read(objectsOf(value.messages));
  refuse(messages.fault);
  const { sizes } = messages;
  for (const { key, valueStart, end } of body.members)
    if (MEASURED.includes(key)) sizes.textBytes += end - valueStart;
  const tools = objectsOf(value.tools).map((tool) => readTool(tool, messages));
  const reasoning = readReasoning(value);
  return {
    dialect: CHAT,
    model: filled(value.model),
    stream: value.stream === true,
    turns: messages.turns,
    tools,
    toolChoice: readToolChoice(value.tool_choice),
    parallelToolCalls: booleanOf(value.parallel_tool_calls),
    maxOutputTokens: numberOf(value.max_completion_tokens) ?? numberOf(value.max_tokens),
    sampling: {
      temperature: numberOf(value.temperature),
      topP: numberOf(value.top_p),
      topK: numberOf(value.top_k),
      seed: numberOf(value.seed),
      frequencyPenalty: numberOf(value.frequency_penalty),
      presencePenalty: numberOf(value.presence_penalty),
    },
    stop: typeof value.stop === 'string' ? [value.stop] : stringsOf(value.stop),
    choices: numberOf(value.n) ?? 1,
    responseFormat: readResponseFormat(value.response_format),
    reasoning,
    serviceTier: readTier(value.service_tier),
    endUser: filled(value.safety_identifier) ?? filled(value.user),
    requires: [...messages.needs, ...paramsNeed(value, tools, reasoning)],
    files: messages.files,
    hints: {
      ...pick(value, (name) => HINTS.has(name) && isPresent(value[name]) && value[name] !== false),
      ...messages.markers,
    },
    includeUsage: objectOf(value.stream_options).include_usage === true,
    legacyFunctions,
    unknown: pick(
      value,
      (name) => !KNOWN_PARAMS.has(name) && !isGatewayOwned(name) && !LEGACY.includes(name),
    ),
    sizes,
    callerNames: {
      stop: 'stop',
      endUser: filled(value.safety_identifier) === null ? 'user' : 'safety_identifier',
      reasoning: value.reasoning == null ? 'reasoning_effort' : 'reasoning',
      thoughts: `messages.${messages.thoughts}`,
    },
    nativeHeaders: {},
    body,
  };
}

/** Did the caller use the form that tools replaced: functions, function_call, role function? */
function usesLegacyFunctions(body: JsonObject): boolean {
  return (
    Array.isArray(body.functions) ||
    (body.function_call !== undefined && body.function_call !== null) ||
    objectsOf(body.messages).some((message) => message.role === 'function' || isObject(message.function_call))
  );
}

function refuse(detail: ErrorDetail | null): void {
  if (detail) throw invalidBody(detail);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function readTier(value: unknown): ModelRequest['serviceTier'] {
  return value === 'auto' || value === 'default' || value === 'flex' ? value : null;
}

function readTool(tool: JsonObject, messages: MessagesReader): Tool {
  const isCustom = tool.type === 'custom';
  const body = objectOf(isCustom ? tool.custom : tool.function);
  const description = filled(body.description);
  return {
    name: textOf(body.name),
    ...(description === null ? {} : { description }),
    ...(isObject(body.parameters) ? { parameters: body.parameters } : {}),
    ...(typeof body.strict === 'boolean' ? { strict: body.strict } : {}),
    ...(isCustom ? { custom: isPresent(body.format) ? { format: body.format } : {} } : {}),
    ...messages.cache(tool),
  };
}

function readToolChoice(choice: unknown): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  if (!isObject(choice)) return null;
  const allowed = objectOf(choice.allowed_tools);
  if (choice.type !== 'allowed_tools')
    return { mode: 'named', name: textOf(objectOf(choice.function ?? choice.custom).name) };
  const names = objectsOf(allowed.tools).map((tool) => textOf(objectOf(tool.function ?? tool.custom).name));
  return { mode: 'allowed', required: allowed.mode === 'required', names };
}

function readResponseFormat(format: unknown): ResponseFormat | null {
  if (!isObject(format)) return null;
  if (format.type === 'text' || format.type === 'json_object') return { kind: format.type };
  const { name, schema, strict, description } = objectOf(format.json_schema);
  return {
    kind: 'json_schema',
    name: textOf(name),
    schema: isObject(schema) ? schema : null,
    strict: booleanOf(strict),
    ...(typeof description === 'string' ? { description } : {}),
  };
}

const EFFORTS: ReadonlySet<unknown> = new Set<Effort>([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
]);

function isEffort(value: unknown): value is Effort {
  return EFFORTS.has(value);
}

/** `reasoning` wins over the deprecated `reasoning_effort`. */
function readReasoning(value: JsonObject): ReasoningRequest | null {
  const { reasoning, reasoning_effort } = value;
  if (isObject(reasoning))
    return {
      effort: isEffort(reasoning.effort) ? reasoning.effort : null,
      maxTokens: numberOf(reasoning.max_tokens),
      exclude: reasoning.exclude === true,
    };
  return isEffort(reasoning_effort) ? { effort: reasoning_effort, maxTokens: null, exclude: false } : null;
}

/** Parameters that change what the caller does with the answer: never dropped. */
function paramsNeed(
  value: JsonObject,
  tools: Tool[],
  reasoning: ReasoningRequest | null,
): RequiredCapability[] {
  const modalities = stringsOf(value.modalities);
  const asksToReason = reasoning?.effort != null && reasoning.effort !== 'none';
  const needs: RequiredCapability[] = [];
  const need = (isNeeded: boolean, capability: Capability, param: string, value?: string): void => {
    if (isNeeded) needs.push({ capability, param, ...(value !== undefined && { value }) });
  };
  need(tools.length > 0, 'tools', 'tools');
  const custom = tools.findIndex((tool) => tool.custom !== undefined);
  need(custom >= 0, 'custom_tools', `tools[${custom}].type`, 'custom');
  const isSchema = objectOf(value.response_format).type === 'json_schema';
  need(isSchema, 'json_schema', 'response_format', 'json_schema');
  need((numberOf(value.n) ?? 1) > 1, 'choices', 'n');
  need(value.logprobs === true, 'logprobs', 'logprobs');
  const { logit_bias: bias } = value;
  need(isObject(bias) && Object.keys(bias).length > 0, 'logit_bias', 'logit_bias');
  need(modalities.includes('audio'), 'audio_output', 'modalities');
  need(modalities.includes('image'), 'same_dialect', 'modalities');
  need(isPresent(value.prediction), 'prediction', 'prediction');
  need(isPresent(value.web_search_options), 'web_search', 'web_search_options');
  need(reasoning?.maxTokens != null, 'reasoning_budget', 'reasoning.max_tokens');
  need(asksToReason, 'reasoning', isObject(value.reasoning) ? 'reasoning.effort' : 'reasoning_effort');
  return needs;
}

/**
 * The members that replace the legacy ones: every upstream is asked with tools. Legacy calls have no ids: each is
 * answered by the next function message of its name. So an id made of the position distinguishes them. Such a caller
 * reads one call per answer: parallel calls are turned off.
 */
export function toolsForFunctions(body: JsonObject): JsonObject {
  const members: JsonObject = {};
  if (Array.isArray(body.messages)) members.messages = rewrittenMessages(body.messages);
  if (Array.isArray(body.functions)) {
    const functions: unknown[] = body.functions;
    const tools: unknown[] = Array.isArray(body.tools) ? body.tools : [];
    members.tools = [...tools, ...functions.map((declared) => ({ type: 'function', function: declared }))];
    members.parallel_tool_calls = body.parallel_tool_calls ?? false;
  }
  const choice = body.function_call;
  if (isObject(choice)) members.tool_choice = { type: 'function', function: { name: choice.name } };
  else if (choice !== undefined && choice !== null) members.tool_choice = choice;
  return members;
}

function rewrittenMessages(messages: unknown[]): unknown[] {
  let lastId = '';
  return messages.map((message, position) => {
    if (!isObject(message)) return message;
    if (message.role === 'assistant' && isObject(message.function_call)) {
      lastId = `call_function_${position}`;
      const call = { id: lastId, type: 'function', function: message.function_call };
      return { ...without(message, ['function_call']), tool_calls: [call] };
    }
    if (message.role === 'function') {
      return { role: 'tool', tool_call_id: lastId, content: message.content ?? '' };
    }
    return message;
  });
}

/** The fault with its place as the caller wrote it. */
function inFunctions(detail: ErrorDetail, body: JsonObject): ErrorDetail {
  const [member, position, ...rest] = detail.loc;
  const ahead = Array.isArray(body.tools) ? body.tools.length : 0;
  if (member === 'tools' && typeof position === 'number' && position >= ahead)
    return { ...detail, loc: ['functions', position - ahead, ...rest.slice(1)] };
  if (member === 'tool_choice' && body.function_call != null)
    return { ...detail, loc: ['function_call', ...rest.slice(1)] };
  if (member !== 'messages' || rest[0] !== 'tool_calls') return detail;
  const message: unknown = Array.isArray(body.messages) ? body.messages[Number(position)] : null;
  if (!isObject(message) || !isObject(message.function_call)) return detail;
  return { ...detail, loc: [member, position, 'function_call', ...rest.slice(3)] };
}
