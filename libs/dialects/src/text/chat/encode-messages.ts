import type { Quirks } from '../../translation/translation.js';
import type { MediaSource, Part, ToolResultPart, Turn } from '../model-request.js';
import { returnedText } from './returned-reasoning.js';
import type { JsonObject } from '../../body/json-object.js';
import { documentText, documentWords } from '../document-words.js';
import { upstreamCallId, type ToolNames } from '../upstream-names.js';

type PartOf<T extends Part['type']> = Extract<Part, { type: T }>;

/** Turns of the middle form as chat messages (wire-formats 5.4): results of tools directly after the turn that asked. */
export function encodeMessages(turns: readonly Turn[], quirks: Quirks, names: ToolNames): JsonObject[] {
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
