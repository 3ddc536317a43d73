import type { JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import { jsonBody } from '../../translation/upstream-body.js';
import { ToolNames } from '../upstream-names.js';
import { filledStops, smallSeed, within } from '../bounds.js';
import { documentText } from '../document-words.js';
import { unsentReasoning } from '../earlier-reasoning.js';
import { ignoredHints } from '../ignored-hints.js';
import type {
  Capability,
  FileReference,
  ModelRequest,
  Part,
  ResponseFormat,
  Turn,
} from '../model-request.js';
import { plainTool } from '../plain-schema.js';
import { refusedFile } from '../refused-part.js';
import { shownParts } from '../shown-parts.js';
import type { EncodedRequest } from '../text-dialect.js';
import { plainToolId } from '../tool-signature.js';

/** Capabilities that this format cannot express. Its logprobs are of pieces of text, not of tokens. */
const LACKS: ReadonlySet<Capability> = new Set<Capability>([
  'custom_tools',
  'audio_input',
  'document_input',
  'choices',
  'logprobs',
  'logit_bias',
  'audio_output',
  'prediction',
  'web_search',
]);
export const STOP_MAX = 5;
const TOP_P = [0.01, 0.99] as const;
const TOP_K_MAX = 500;
const NOTHING: ReadonlySet<string> = new Set();

export function unsupported({ requires, stop, turns, callerNames }: ModelRequest): string | null {
  if (filledStops(stop).length > STOP_MAX) return callerNames.stop;
  const lacking = requires.find(({ capability }) => LACKS.has(capability));
  if (lacking) return lacking.param;
  // Its results of tools are words alone.
  const results = turns.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool_result'));
  if (!shownParts([{ parts: results }]).some(({ type }) => type === 'image')) return null;
  return requires.find(({ capability }) => capability === 'image_input')?.param ?? 'messages';
}

/** The request of /v2/chat, from the middle form. */
export function encodeRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  const { sampling } = request;
  const stop = filledStops(request.stop);
  const names = new ToolNames();
  const thinking = encodeThinking(request, target);
  const members: JsonObject = {
    model: target.upstreamModel,
    messages: request.turns.flatMap((turn) => encodeTurn(turn, names, request.files)),
    stream: request.stream,
    max_tokens: request.maxOutputTokens,
    // Its scale ends at 1, and the values up to there mean the same.
    temperature: within(sampling.temperature, 0, 1),
    p: within(sampling.topP, ...TOP_P),
    k: within(sampling.topK, 0, TOP_K_MAX),
    seed: smallSeed(sampling.seed),
    frequency_penalty: within(sampling.frequencyPenalty, 0, 1),
    presence_penalty: within(sampling.presencePenalty, 0, 1),
    stop_sequences: stop.length === 0 ? null : stop,
    ...encodeTools(request, names),
    response_format: encodeFormat(request.responseFormat),
    thinking: thinking.thinking,
  };
  const ignored = [...ignoredHints(request, NOTHING), ...Object.keys(request.unknown)];
  ignored.push(...unsentReasoning(request, () => false));
  if (stop.length < request.stop.length) ignored.push(request.callerNames.stop);
  // It knows no reward for what was said before.
  if ((sampling.frequencyPenalty ?? 0) < 0) ignored.push('frequency_penalty');
  if ((sampling.presencePenalty ?? 0) < 0) ignored.push('presence_penalty');
  if (request.endUser !== null) ignored.push(request.callerNames.endUser);
  if (thinking.isIgnored) ignored.push(request.callerNames.reasoning);
  if (request.parallelToolCalls === false && request.tools.length > 0) ignored.push('parallel_tool_calls');
  const sent = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return {
    request: jsonBody(
      '/chat',
      request.stream ? 'text/event-stream' : 'application/json',
      Object.fromEntries(sent),
    ),
    ignored: [...new Set(ignored)],
    ...(names.hasShortened ? { toolNames: names.originals } : {}),
  };
}

const LARGEST_BUDGET = 32_768;
const SHARE = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.95, max: 0.95 } as const;

function encodeThinking(
  { reasoning, maxOutputTokens }: ModelRequest,
  target: RouteTarget,
): { thinking: JsonObject | null; isIgnored: boolean } {
  const nothing = { thinking: null, isIgnored: false };
  if (!reasoning) return nothing;
  const { effort, maxTokens } = reasoning;
  if (effort === null && maxTokens === null) return nothing;
  if (target.reasoning.style === 'none') return { thinking: null, isIgnored: effort !== 'none' };
  if (effort === 'none') return { thinking: { type: 'disabled' }, isIgnored: false };
  // Of what the caller wants at most: with more the answer would be all thought.
  const limit = maxOutputTokens ?? target.maxOutputTokens ?? LARGEST_BUDGET;
  const token_budget = maxTokens ?? Math.floor(SHARE[effort ?? 'medium'] * limit);
  return { thinking: { type: 'enabled', token_budget }, isIgnored: false };
}

/** A named tool is the only one that is offered, and one must be called. */
function encodeTools({ tools, toolChoice }: ModelRequest, names: ToolNames): JsonObject {
  if (tools.length === 0) return {};
  const wanted =
    toolChoice?.mode === 'named'
      ? [toolChoice.name]
      : toolChoice?.mode === 'allowed'
        ? toolChoice.names
        : tools.map(({ name }) => name);
  const offered = tools.filter(({ name }) => wanted.includes(name));
  const isRequired =
    toolChoice?.mode === 'required' ||
    toolChoice?.mode === 'named' ||
    (toolChoice?.mode === 'allowed' && toolChoice.required);
  const choice = isRequired ? 'REQUIRED' : toolChoice?.mode === 'none' ? 'NONE' : null;
  return {
    tools: offered.map(plainTool).map(({ name, description, parameters }) => ({
      type: 'function',
      function: {
        name: names.upstream(name),
        ...(description === undefined ? {} : { description }),
        parameters,
      },
    })),
    tool_choice: choice,
    strict_tools: offered.some(({ strict }) => strict === true) ? true : null,
  };
}

function encodeFormat(format: ResponseFormat | null): JsonObject | null {
  if (format === null || format.kind === 'text') return null;
  if (format.kind === 'json_object' || format.schema === null) return { type: 'json_object' };
  return { type: 'json_object', json_schema: format.schema };
}

function encodeTurn({ role, parts }: Turn, names: ToolNames, files: readonly FileReference[]): JsonObject[] {
  switch (role) {
    case 'system':
    case 'developer':
      return [{ role: 'system', content: textOf(parts, '\n\n') }];
    case 'user':
      return [{ role, content: userContent(parts, files) }];
    case 'assistant':
      return [assistant(parts, names)];
    case 'tool':
      return parts.flatMap((part) => {
        if (part.type !== 'tool_result') return [];
        const text = textOf(part.parts, '\n');
        return [
          {
            role,
            tool_call_id: plainToolId(part.toolCallId),
            content: part.isError ? `Error: ${text}` : text,
          },
        ];
      });
  }
}

function textOf(parts: readonly Part[], between: string): string {
  return parts
    .flatMap((part) => {
      if (part.type === 'text' || part.type === 'refusal') return [part.text];
      return part.type === 'document' && part.source.kind === 'text'
        ? [documentText(part.source.text, part)]
        : [];
    })
    .join(between);
}

function userContent(parts: readonly Part[], files: readonly FileReference[]): string | JsonObject[] {
  if (parts.every(({ type }) => type === 'text')) return textOf(parts, '\n');
  return parts.flatMap((part): JsonObject[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type === 'document' && part.source.kind === 'text')
      return [{ type: 'text', text: documentText(part.source.text, part) }];
    if (part.type !== 'image') return [];
    const { source } = part;
    if (source.kind === 'file') throw refusedFile(files, source.fileId);
    const url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
    return [{ type: 'image_url', image_url: { url } }];
  });
}

function assistant(parts: readonly Part[], names: ToolNames): JsonObject {
  const content = textOf(parts, '');
  const calls = parts.flatMap((part) =>
    part.type === 'tool_call'
      ? [
          {
            id: plainToolId(part.id),
            type: 'function',
            function: {
              name: names.upstream(part.name),
              arguments: part.arguments.trim() === '' ? '{}' : part.arguments,
            },
          },
        ]
      : [],
  );
  return {
    role: 'assistant',
    ...(content === '' && calls.length > 0 ? {} : { content }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}
