import type { RouteTarget } from '../../translation/translation.js';
import { jsonBody } from '../../translation/upstream-body.js';
import { shortId } from '../bounds.js';
import { unsentReasoning } from '../earlier-reasoning.js';
import { ignoredHints } from '../ignored-hints.js';
import type { ModelRequest, ResponseFormat, Tool } from '../model-request.js';
import { plainTool } from '../plain-schema.js';
import type { EncodedRequest } from '../text-dialect.js';
import { encodeMessages } from './encode-messages.js';
import {
  endUserParam,
  maxTokensParam,
  refusedMembers,
  requiredWord,
  streamOptions,
  takenTemperature,
} from './encode-params.js';
import { isReturned } from './returned-reasoning.js';
import type { JsonObject } from '../../body/json-object.js';
import { reasoningMembers } from '../reasoning-effort.js';
import { ACCEPT, PATH } from './splice-request.js';
import { ToolNames } from '../upstream-names.js';

const END_USER_MAX = 64;
/** Hints of OpenAI's other format that this one knows, too, by its names. */
const HINTS: Readonly<Record<string, string>> = {
  prompt_cache_key: 'prompt_cache_key',
  prompt_cache_retention: 'prompt_cache_retention',
  prompt_cache_options: 'prompt_cache_options',
  moderation: 'moderation',
  'text.verbosity': 'verbosity',
};
const CALLERS: Readonly<Record<string, string>> = { verbosity: 'text.verbosity' };

/** A request of another dialect for an OpenAI-compatible upstream, from the middle form (wire-formats 5.4). */
export function encodeRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  const { quirks } = target;
  const { sampling } = request;
  const names = new ToolNames();
  const reasoning = reasoningMembers(request.reasoning, request.maxOutputTokens, target);
  const members: JsonObject = {
    model: target.upstreamModel,
    messages: encodeMessages(request.turns, quirks, names),
    [maxTokensParam(quirks)]: request.maxOutputTokens,
    temperature: takenTemperature(sampling.temperature, quirks),
    top_p: sampling.topP,
    top_k: sampling.topK,
    [quirks.seedParam ?? 'seed']: sampling.seed,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    stop: request.stop.length === 0 ? null : request.stop,
    n: request.choices === 1 ? null : request.choices,
    ...logprobs(request),
    tools: request.tools.length === 0 ? null : request.tools.map((tool) => encodeTool(tool, names)),
    // OpenAI refuses both in a request without tools.
    tool_choice: encodeToolChoice(request, requiredWord(quirks), names),
    parallel_tool_calls: request.tools.length === 0 ? null : request.parallelToolCalls,
    response_format: encodeResponseFormat(request.responseFormat),
    service_tier: request.serviceTier,
    ...Object.fromEntries(Object.entries(HINTS).map(([name, as]) => [as, request.hints[name]])),
    ...reasoning.members,
    ...(request.stream ? { stream: true } : {}),
    stream_options: request.stream ? streamOptions({}, quirks) : undefined,
  };
  const ignored = [...ignoredHints(request, new Set(Object.keys(HINTS))), ...Object.keys(request.unknown)];
  ignored.push(...unsentReasoning(request, isReturned(quirks, false)));
  if (request.endUser !== null) {
    const name = endUserParam('safety_identifier', quirks);
    if (name !== null) members[name] = shortId(request.endUser, END_USER_MAX);
    else ignored.push(request.callerNames.endUser);
  }
  if (reasoning.isIgnored) ignored.push(request.callerNames.reasoning);
  if (!quirks.passthroughParams && members.top_k !== null) {
    members.top_k = null;
    ignored.push('top_k');
  }
  const { refused, ignored: unheard } = refusedMembers(members, target);
  for (const name of refused) members[name] = null;
  ignored.push(...unheard.map((name) => CALLERS[name] ?? name));
  const sent = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return {
    request: jsonBody(PATH, ACCEPT, Object.fromEntries(sent)),
    ignored: [...new Set(ignored)],
    ...(names.hasShortened ? { toolNames: names.originals } : {}),
  };
}

/** Both OpenAI formats name how many alternatives are wanted alike; only chat has a switch beside it. */
function logprobs({ requires, body }: ModelRequest): JsonObject {
  if (!requires.some(({ capability }) => capability === 'logprobs')) return {};
  return { logprobs: true, top_logprobs: body.value.top_logprobs };
}

function encodeTool(given: Tool, names: ToolNames): JsonObject {
  const tool = plainTool(given);
  const name = names.upstream(tool.name);
  const description = tool.description === undefined ? {} : { description: tool.description };
  if (tool.custom) {
    const format = tool.custom.format === undefined ? {} : { format: tool.custom.format };
    return { type: 'custom', custom: { name, ...description, ...format } };
  }
  const strict = tool.strict === undefined ? {} : { strict: tool.strict };
  return { type: 'function', function: { name, ...description, parameters: tool.parameters, ...strict } };
}

function encodeToolChoice(
  { toolChoice: choice, tools }: ModelRequest,
  required: string,
  names: ToolNames,
): unknown {
  if (!choice || tools.length === 0) return null;
  switch (choice.mode) {
    case 'required':
      return required;
    case 'auto':
    case 'none':
      return choice.mode;
    case 'named':
      return toolNamed(choice.name, tools, names);
    case 'allowed': {
      const allowed = choice.names.map((name) => toolNamed(name, tools, names));
      const mode = choice.required ? 'required' : 'auto';
      return { type: 'allowed_tools', allowed_tools: { mode, tools: allowed } };
    }
  }
}

function toolNamed(name: string, tools: readonly Tool[], names: ToolNames): JsonObject {
  const isCustom = tools.some((tool) => tool.name === name && tool.custom !== undefined);
  const type = isCustom ? 'custom' : 'function';
  return { type, [type]: { name: names.upstream(name) } };
}

function encodeResponseFormat(format: ResponseFormat | null): JsonObject | null {
  if (!format) return null;
  if (format.kind !== 'json_schema') return { type: format.kind };
  const { name, schema, strict, description } = format;
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(schema === null ? {} : { schema }),
      ...(strict === null ? {} : { strict }),
    },
  };
}
