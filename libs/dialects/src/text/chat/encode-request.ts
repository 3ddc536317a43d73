import type { Quirks, RouteTarget } from '../../translation/translation.js';
import { jsonBody } from '../../translation/upstream-body.js';
import { seedAsWritten, shortId } from '../bounds.js';
import { unsentReasoning } from '../earlier-reasoning.js';
import { ignoredHints } from '../ignored-hints.js';
import type {
  MediaSource,
  ModelRequest,
  Part,
  ResponseFormat,
  Tool,
  ToolResultPart,
  Turn,
} from '../model-request.js';
import { plainTool } from '../plain-schema.js';
import type { EncodedRequest } from '../text-dialect.js';
import {
  ACCEPT,
  PATH,
  endUserParam,
  isReturned,
  maxTokensParam,
  refusedMembers,
  requiredWord,
  returnedText,
  streamOptions,
  takenTemperature,
} from './splice-request.js';
import type { JsonObject } from '../../body/json-object.js';
import { reasoningMembers } from '../reasoning-effort.js';
import { ToolNames, upstreamCallId } from '../upstream-names.js';
import { documentText, documentWords } from '../document-words.js';

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

/** A request of another dialect for an OpenAI-compatible upstream, from the middle form. */
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
    [quirks.seedParam ?? 'seed']: seedAsWritten(request),
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

type PartOf<T extends Part['type']> = Extract<Part, { type: T }>;

/** Turns of the middle form as chat messages: results of tools directly after the turn that asked. */
function encodeMessages(turns: readonly Turn[], quirks: Quirks, names: ToolNames): JsonObject[] {
  return turns.flatMap((turn) => {
    const named = turn.name === undefined ? {} : { name: turn.name };
    switch (turn.role) {
      case 'system':
      case 'developer':
        return [{ role: quirks.systemRole ?? turn.role, content: joinedText(turn.parts, '\n\n'), ...named }];
      case 'user':
        return [{ role: 'user', content: userContent(turn.parts), ...named }];
      case 'assistant':
        return [{ ...assistant(turn.parts, quirks, names), ...named }];
      case 'tool':
        return toolResults(turn.parts, quirks);
    }
  });
}

function joinedText(parts: readonly Part[], between: string): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(between);
}

/** A single text goes as a string: every server takes that. */
function userContent(parts: readonly Part[]): string | JsonObject[] {
  const [first] = parts;
  if (parts.length === 1 && first.type === 'text') return first.text;
  return parts.flatMap((part) => userPart(part));
}

function userPart(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image': {
      const url = addressOf(part.source);
      const detail = part.detail === undefined ? {} : { detail: part.detail };
      return url === null ? [] : [{ type: 'image_url', image_url: { url, ...detail } }];
    }
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.format } }];
    case 'document':
      return documentParts(part);
    case 'refusal':
    case 'reasoning':
    case 'opaque_reasoning':
    case 'tool_call':
    case 'tool_result':
      return [];
  }
}

function addressOf(source: MediaSource): string | null {
  if (source.kind === 'file') return null;
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/** A file has a name; its context stands before it. */
function documentParts({ source, title, context }: PartOf<'document'>): JsonObject[] {
  if (source.kind === 'text') return [{ type: 'text', text: documentText(source.text, { title, context }) }];
  const words = documentWords({ context });
  const before = words === '' ? [] : [{ type: 'text', text: words }];
  const filename = title === undefined ? {} : { filename: title };
  // A file by its data needs a name. By an address it has no place here, which is a misfit.
  const file =
    source.kind === 'file'
      ? { file_id: source.fileId, ...filename }
      : { filename: 'document.pdf', ...filename, file_data: addressOf(source) };
  return [...before, { type: 'file', file }];
}

function assistant(parts: readonly Part[], quirks: Quirks, names: ToolNames): JsonObject {
  const text = joinedText(parts, '');
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [encodeCall(part, quirks, names)] : []));
  const content = text === '' && (calls.length > 0 || refusal !== '') ? null : text;
  return {
    role: 'assistant',
    content,
    ...(refusal === '' ? {} : { refusal }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...returnedReasoning(parts, calls.length > 0, quirks),
  };
}

function encodeCall(call: PartOf<'tool_call'>, quirks: Quirks, names: ToolNames): JsonObject {
  const id = upstreamCallId(call.id, quirks.toolCallIdPattern);
  const name = names.upstream(call.name);
  if (call.custom) return { id, type: 'custom', custom: { name, input: call.arguments } };
  const text = call.arguments.trim() === '' ? '{}' : call.arguments;
  return { id, type: 'function', function: { name, arguments: text } };
}

/** Reasoning is dropped for a provider that does not want it: its signature is of no use elsewhere. */
function returnedReasoning(parts: readonly Part[], hasCalls: boolean, quirks: Quirks): JsonObject {
  const text = parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('');
  return text === '' ? {} : (returnedText(text, hasCalls, quirks) ?? {});
}

/** A tool message holds text only: images and documents of results follow in a user message, after all results. */
function toolResults(parts: readonly Part[], quirks: Quirks): JsonObject[] {
  const messages: JsonObject[] = [];
  const attached: JsonObject[] = [];
  for (const part of parts) {
    if (part.type !== 'tool_result') continue;
    const media = part.parts.filter(({ type }) => type !== 'text').flatMap(userPart);
    messages.push(toolMessage(part, media.length > 0, quirks));
    if (media.length > 0)
      attached.push(
        { type: 'text', text: `Content of the result of tool call ${part.toolCallId}:` },
        ...media,
      );
  }
  return attached.length === 0 ? messages : [...messages, { role: 'user', content: attached }];
}

function toolMessage(result: ToolResultPart, hasMedia: boolean, quirks: Quirks): JsonObject {
  const text = joinedText(result.parts, '\n\n');
  const content = text === '' && hasMedia ? '(The content follows in the next message.)' : text;
  return {
    role: 'tool',
    tool_call_id: upstreamCallId(result.toolCallId, quirks.toolCallIdPattern),
    content: result.isError ? `Error: ${content}` : content,
  };
}
