import { ApiError, type ErrorDetail } from '@gateway/contracts';
import type { BodyFault, ParsedBody } from '@gateway/json-body';
import { isGatewayOwned } from '../gateway-owned.js';
import type {
  Effort,
  ModelRequest,
  ReasoningRequest,
  RequiredCapability,
  ResponseFormat,
  Tool,
  ToolChoice,
  Turn,
} from '../model-request.js';
import { filled, isObject, pick, type JsonObject } from '../../body/json-object.js';
import { ContentFacts, markerOf, textPart, turnsOf } from './read-content.js';
import { ruleFault } from './request-rules.js';
import { schemaFault } from './request-schema.js';
import { numberOrNull, objectAt, objectsAt, textAt, textOrNull } from './json.js';

const BYTES_PER_TOKEN = 4;
/** Instructions that providers of this dialect put before tools: the most that Anthropic names for one of its models. */
const INSTRUCTIONS_TOKENS = 530;
/** Tokens that Anthropic adds for tools of its own, by the beginning of their type. */
const OWN_TOKENS: Readonly<Record<string, number>> = { bash_: 245, text_editor_: 700, computer_: 735 };

/** Bytes of an estimate that tools weigh at such a provider beside the text of the caller's own; nothing without tools. */
function addedByTools(
  tools: readonly JsonObject[],
  isClientTool: (tool: JsonObject) => boolean,
): { nativeBytes?: number } {
  if (tools.length === 0) return {};
  const own = tools.filter((tool) => !isClientTool(tool));
  return {
    nativeBytes: own.reduce((bytes, tool) => bytes + ownBytes(tool), INSTRUCTIONS_TOKENS * BYTES_PER_TOKEN),
  };
}

function ownBytes(tool: JsonObject): number {
  const type = textAt(tool, 'type');
  const [, tokens = 0] = Object.entries(OWN_TOKENS).find(([name]) => type.startsWith(name)) ?? [];
  return Buffer.byteLength(JSON.stringify(tool)) + tokens * BYTES_PER_TOKEN;
}

/** Name of this dialect. */
export const MESSAGES = 'messages';

/** Members of the dialect that the middle form carries. */
const CARRIED = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'metadata',
  'service_tier',
  'cache_control',
]);

/** Members that only a provider of this dialect understands, and that change the answer. */
const NATIVE_ONLY = ['container', 'mcp_servers', 'inference_geo', 'fallbacks'];
const NATIVE_HINTS = ['speed', 'diagnostics', 'context_management'];

/** Every member that the Messages API documents; others are accepted, but sent on only where the provider takes any. */
const KNOWN_MEMBERS: ReadonlySet<string> = new Set([...CARRIED, ...NATIVE_ONLY, ...NATIVE_HINTS]);

function refusal(detail: ErrorDetail): ApiError {
  const where = detail.loc.length > 0 ? `${detail.loc.join('.')}: ` : '';
  return new ApiError('invalid_request_error', {
    status: 400,
    message: where + detail.msg,
    details: [detail],
  });
}

/** The error for a body that is no acceptable JSON object. */
export function bodyError(fault: BodyFault): ApiError {
  return refusal(fault.detail);
}

function isClientTool({ type }: JsonObject): boolean {
  return type === undefined || type === null || type === 'custom';
}

/** A container that is there already, and skills that somebody put at the provider: nothing says whose they are. */
function objectAtProvider({ container }: JsonObject): string | null {
  if (filled(container) !== null) return 'container';
  if (!isObject(container)) return null;
  if (filled(container.id) !== null) return 'container.id';
  const at = objectsAt(container, 'skills').findIndex(({ type }) => type !== 'anthropic');
  return at < 0 ? null : `container.skills[${at}]`;
}

/** An id as providers of the dialect write it, within a member's JSON. */
const OBJECT_ID = /[a-z]_[A-Za-z0-9]{16}/;

/** The first unknown member with the id of an object in it. With the platform's credential it may be another tenant's. */
function unknownAtProvider(unknown: JsonObject): string | undefined {
  return Object.keys(unknown).find((name) => OBJECT_ID.test(JSON.stringify(unknown[name])));
}

function toolOf(tool: JsonObject, facts: ContentFacts): Tool {
  const parameters = objectAt(tool, 'input_schema');
  const description = textOrNull(tool, 'description');
  facts.addText(textAt(tool, 'name') + (description ?? '') + JSON.stringify(parameters));
  return {
    name: textAt(tool, 'name'),
    ...(description === null ? {} : { description }),
    parameters,
    ...(typeof tool.strict === 'boolean' ? { strict: tool.strict } : {}),
    ...markerOf(tool, facts),
  };
}

function toolChoiceOf(choice: JsonObject): ToolChoice | null {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { mode: choice.type };
    case 'any':
      return { mode: 'required' };
    case 'tool':
      return { mode: 'named', name: textAt(choice, 'name') };
    default:
      return null;
  }
}

function reasoningOf(body: JsonObject): ReasoningRequest | null {
  const thinking = objectAt(body, 'thinking');
  const effort = textOrNull(objectAt(body, 'output_config'), 'effort') as Effort | null;
  const exclude = thinking.display === 'omitted';
  switch (thinking.type) {
    case 'disabled':
      return { effort: 'none', maxTokens: null, exclude: true };
    case 'enabled':
      // The budget says more than the effort, and no dialect takes both.
      return { effort: null, maxTokens: numberOrNull(thinking, 'budget_tokens'), exclude };
    case 'adaptive':
      return { effort, maxTokens: null, exclude };
    default:
      return effort === null ? null : { effort, maxTokens: null, exclude };
  }
}

function responseFormatOf(body: JsonObject): ResponseFormat | null {
  const { format } = objectAt(body, 'output_config');
  if (!isObject(format)) return null;
  return { kind: 'json_schema', name: 'output', schema: objectAt(format, 'schema'), strict: true };
}

/** Edits that clear what is old make a request smaller; any other, as compaction, is seen in the answer. */
function managesAnswer(body: JsonObject): boolean {
  return objectsAt(objectAt(body, 'context_management'), 'edits').some(
    (edit) => !textAt(edit, 'type').startsWith('clear_'),
  );
}

function requirements(body: JsonObject, facts: ContentFacts): RequiredCapability[] {
  const list: RequiredCapability[] = [];
  const need = (isNeeded: boolean, capability: RequiredCapability['capability'], param: string): void => {
    if (isNeeded) list.push({ capability, param });
  };
  const tools = objectsAt(body, 'tools');
  const thinking = objectAt(body, 'thinking').type;
  need(tools.some(isClientTool), 'tools', 'tools');
  const server = tools.findIndex((tool) => !isClientTool(tool));
  if (server >= 0)
    list.push({
      capability: 'same_dialect',
      param: `tools[${server}].type`,
      value: textAt(tools[server], 'type'),
    });
  need(facts.imageAt !== null, 'image_input', facts.imageAt ?? '');
  need(facts.documentAt !== null, 'document_input', facts.documentAt ?? '');
  if (facts.native !== null) list.push({ capability: 'same_dialect', ...facts.native });
  need(isObject(objectAt(body, 'output_config').format), 'json_schema', 'output_config.format');
  need(thinking === 'between_tools', 'same_dialect', 'thinking');
  need(body.max_tokens === 0, 'same_dialect', 'max_tokens');
  need(managesAnswer(body), 'same_dialect', 'context_management');
  for (const name of NATIVE_ONLY) {
    const value = body[name];
    const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    need(!isEmpty, 'same_dialect', name);
  }
  return list;
}

function systemTurn(body: JsonObject, facts: ContentFacts): Turn[] {
  if (typeof body.system === 'string') {
    if (body.system.trim() === '') return [];
    return [{ role: 'system', parts: [{ type: 'text', text: facts.addText(body.system) }] }];
  }
  const parts = objectsAt(body, 'system').map((block) => textPart(block, facts));
  return parts.length > 0 ? [{ role: 'system', parts }] : [];
}

function hintsOf(body: JsonObject, facts: ContentFacts): Record<string, unknown> {
  const hints: Record<string, unknown> = {};
  for (const name of NATIVE_HINTS)
    if (body[name] !== undefined && body[name] !== null) hints[name] = body[name];
  if (facts.hasCacheMarkers || isObject(body.cache_control)) hints.cache_control = true;
  return hints;
}

/** Checks a body against the Messages API and decodes it. Throws invalid_request_error (400) that names the member. */
export function readRequest(body: ParsedBody): ModelRequest {
  const { value } = body;
  const found = schemaFault(value) ?? ruleFault(value);
  if (found) throw refusal(found);
  const facts = new ContentFacts(body);
  const turns = [
    ...systemTurn(value, facts),
    ...objectsAt(value, 'messages').flatMap((one, at) => turnsOf(one, at, facts)),
  ];
  const tools = objectsAt(value, 'tools')
    .filter(isClientTool)
    .map((tool) => toolOf(tool, facts));
  const choice = objectAt(value, 'tool_choice');
  const responseFormat = responseFormatOf(value);
  if (responseFormat?.kind === 'json_schema') facts.addText(JSON.stringify(responseFormat.schema));
  const tier = value.service_tier;
  const atProvider = objectAtProvider(value);
  const unknown = pick(value, (name) => !KNOWN_MEMBERS.has(name) && !isGatewayOwned(name));
  const newObject = unknownAtProvider(unknown);
  return {
    dialect: MESSAGES,
    model: textOrNull(value, 'model'),
    stream: value.stream === true,
    turns,
    tools,
    toolChoice: toolChoiceOf(choice),
    parallelToolCalls:
      typeof choice.disable_parallel_tool_use === 'boolean' ? !choice.disable_parallel_tool_use : null,
    maxOutputTokens: numberOrNull(value, 'max_tokens'),
    sampling: {
      temperature: numberOrNull(value, 'temperature'),
      topP: numberOrNull(value, 'top_p'),
      topK: numberOrNull(value, 'top_k'),
      seed: null,
      frequencyPenalty: null,
      presencePenalty: null,
    },
    stop: Array.isArray(value.stop_sequences)
      ? value.stop_sequences.filter((one): one is string => typeof one === 'string')
      : [],
    choices: 1,
    responseFormat,
    reasoning: reasoningOf(value),
    serviceTier: tier === 'standard_only' ? 'default' : tier === 'auto' ? 'auto' : null,
    endUser: textOrNull(objectAt(value, 'metadata'), 'user_id'),
    requires: requirements(value, facts),
    files: facts.files,
    ...(atProvider !== null && { atProvider }),
    ...(newObject !== undefined && { unknownAtProvider: newObject }),
    hints: hintsOf(value, facts),
    includeUsage: false,
    legacyFunctions: false,
    unknown,
    sizes: {
      textBytes: facts.textBytes,
      images: facts.images,
      audioSeconds: 0,
      documentBytes: facts.documentBytes,
      ...addedByTools(objectsAt(value, 'tools'), isClientTool),
    },
    callerNames: {
      stop: 'stop_sequences',
      endUser: 'metadata.user_id',
      reasoning: 'thinking',
      thoughts: 'messages.thinking',
    },
    nativeHeaders: {},
    body,
  };
}
