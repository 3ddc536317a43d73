import type { JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import { jsonBody } from '../../translation/upstream-body.js';
import { ToolNames } from '../upstream-names.js';
import { filledStops, seedAsWritten } from '../bounds.js';
import { inCallOrder } from '../call-order.js';
import { documentText } from '../document-words.js';
import { hasCalls, unsentReasoning } from '../earlier-reasoning.js';
import { ignoredHints } from '../ignored-hints.js';
import type {
  Capability,
  ModelRequest,
  Part,
  ReasoningRequest,
  ResponseFormat,
  Turn,
} from '../model-request.js';
import { plainTool } from '../plain-schema.js';
import { shownParts } from '../shown-parts.js';
import type { EncodedRequest } from '../text-dialect.js';
import { toolInput } from '../tool-input.js';

export const STREAM_TYPE = 'application/x-ndjson';

/** Capabilities that this format cannot express. */
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
const NOTHING: ReadonlySet<string> = new Set();
/** Members of a caller's body that are options of the server. */
const OPTIONS: readonly string[] = ['num_ctx', 'min_p', 'repeat_penalty', 'repeat_last_n', 'typical_p'];

export function unsupported({ requires, turns, toolChoice }: ModelRequest): string | null {
  const lacking = requires.find(({ capability }) => LACKS.has(capability));
  if (lacking) return lacking.param;
  // The server lets the model choose: it cannot be made to call a tool.
  if (toolChoice?.mode === 'required' || toolChoice?.mode === 'named') return 'tool_choice';
  if (toolChoice?.mode === 'allowed' && toolChoice.required) return 'tool_choice';
  const isLinked = shownParts(turns).some((part) => part.type === 'image' && part.source.kind !== 'base64');
  return isLinked
    ? (requires.find(({ capability }) => capability === 'image_input')?.param ?? 'messages')
    : null;
}

/** The request of /api/chat, from the middle form. */
export function encodeRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  const { sampling, unknown } = request;
  const stop = filledStops(request.stop);
  const names = new ToolNames();
  // A result names its tool, and no call.
  const turns = inCallOrder(request.turns);
  const thinking = think(request.reasoning, target);
  const passed = target.quirks.passthroughParams ? OPTIONS.filter((name) => name in unknown) : [];
  const options = given({
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    seed: seedAsWritten(request),
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    num_predict: request.maxOutputTokens,
    stop: stop.length === 0 ? null : stop,
    ...Object.fromEntries(passed.map((name) => [name, unknown[name]])),
  });
  const offered =
    request.toolChoice?.mode === 'none'
      ? []
      : request.tools.filter(
          ({ name }) => request.toolChoice?.mode !== 'allowed' || request.toolChoice.names.includes(name),
        );
  const body = given({
    model: target.upstreamModel,
    messages: turns.flatMap((turn, index) => encodeTurn(turn, index, turns, names)),
    stream: request.stream,
    options: Object.keys(options).length === 0 ? null : options,
    tools:
      offered.length === 0
        ? null
        : offered.map(plainTool).map(({ name, description, parameters }) => ({
            type: 'function',
            function: given({
              name: names.upstream(name),
              description: description ?? null,
              parameters,
            }),
          })),
    format: encodeFormat(request.responseFormat),
    think: thinking.think,
  });
  const ignored = [
    ...ignoredHints(request, NOTHING),
    ...unsentReasoning(request, ({ type }, turn) => type === 'reasoning' && hasCalls(turn)),
    ...Object.keys(unknown).filter((name) => !passed.includes(name)),
  ];
  if (stop.length < request.stop.length) ignored.push(request.callerNames.stop);
  if (request.endUser !== null) ignored.push(request.callerNames.endUser);
  if (thinking.isIgnored) ignored.push(request.callerNames.reasoning);
  if (request.parallelToolCalls === false && offered.length > 0) ignored.push('parallel_tool_calls');
  return {
    request: jsonBody('/api/chat', request.stream ? STREAM_TYPE : 'application/json', body),
    ignored: [...new Set(ignored)],
    ...(names.hasShortened ? { toolNames: names.originals } : {}),
  };
}

function given(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** Most models think or do not; some take a level. */
function think(
  reasoning: ReasoningRequest | null,
  { reasoning: { style, efforts } }: RouteTarget,
): { think: boolean | string | null; isIgnored: boolean } {
  const effort = reasoning?.effort ?? (reasoning?.maxTokens == null ? null : 'medium');
  if (effort === null) return { think: null, isIgnored: false };
  if (style === 'none') return { think: null, isIgnored: effort !== 'none' };
  if (effort === 'none') return { think: false, isIgnored: false };
  if (!efforts || efforts.length === 0) return { think: true, isIgnored: false };
  const level = effort === 'minimal' ? 'low' : effort === 'xhigh' || effort === 'max' ? 'high' : effort;
  return { think: level, isIgnored: false };
}

function encodeFormat(format: ResponseFormat | null): unknown {
  if (format === null || format.kind === 'text') return null;
  return format.kind === 'json_schema' && format.schema !== null ? format.schema : 'json';
}

function encodeTurn(turn: Turn, index: number, turns: readonly Turn[], names: ToolNames): JsonObject[] {
  const { role, parts } = turn;
  const content = textOf(parts);
  switch (role) {
    case 'system':
    case 'developer':
      return [{ role: 'system', content }];
    case 'user':
      return [{ role, content, ...imagesOf(parts) }];
    case 'assistant': {
      let calls = -1;
      const tool_calls = parts.flatMap((part) => {
        if (part.type !== 'tool_call') return [];
        calls += 1;
        return [{ function: { name: names.upstream(part.name), arguments: toolInput(part, index, calls) } }];
      });
      const thinking = parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('');
      return [
        {
          role,
          content,
          ...(thinking === '' || tool_calls.length === 0 ? {} : { thinking }),
          ...(tool_calls.length === 0 ? {} : { tool_calls }),
        },
      ];
    }
    case 'tool':
      return parts.flatMap((part) => {
        if (part.type !== 'tool_result') return [];
        const text = textOf(part.parts);
        const name = nameOfCall(part.toolCallId, turns);
        return [
          {
            role,
            content: part.isError ? `Error: ${text}` : text,
            ...(name === null ? {} : { tool_name: names.upstream(name) }),
            ...imagesOf(part.parts),
          },
        ];
      });
  }
}

function textOf(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => {
      if (part.type === 'text' || part.type === 'refusal') return [part.text];
      return part.type === 'document' && part.source.kind === 'text'
        ? [documentText(part.source.text, part)]
        : [];
    })
    .join('\n');
}

function imagesOf(parts: readonly Part[]): JsonObject {
  const images = parts.flatMap((part) =>
    part.type === 'image' && part.source.kind === 'base64' ? [part.source.data] : [],
  );
  return images.length === 0 ? {} : { images };
}

function nameOfCall(id: string, turns: readonly Turn[]): string | null {
  for (const { parts } of turns)
    for (const part of parts) if (part.type === 'tool_call' && part.id === id) return part.name;
  return null;
}
