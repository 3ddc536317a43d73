import type { JsonObject } from '../../body/json-object.js';
import type { DocumentPart, MediaSource, Part, ToolResultPart, Turn } from '../model-request.js';
import { documentText, documentWords } from '../document-words.js';
import { OWN_FORMAT } from './sealed-reasoning.js';
import { withBreakpoint } from './cache-breakpoints.js';
import { plainToolId } from '../tool-signature.js';

/** Turns of the middle form as input items. */
export function encodeItems(turns: readonly Turn[]): JsonObject[] {
  const custom = customCalls(turns);
  return turns.flatMap(({ role, parts }) => {
    switch (role) {
      case 'system':
      case 'developer':
      case 'user':
        return parts.length === 0 ? [] : [{ type: 'message', role, content: parts.flatMap(inputPart) }];
      case 'assistant':
        return assistantItems(parts);
      case 'tool':
        return parts.flatMap((part) => (part.type === 'tool_result' ? [resultItem(part, custom)] : []));
    }
  });
}

/** A result is an item of the same kind as its call. */
function customCalls(turns: readonly Turn[]): ReadonlySet<string> {
  const calls = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_call'));
  return new Set(calls.filter((call) => call.custom).map(({ id }) => id));
}

function inputPart(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [withBreakpoint({ type: 'input_text', text: part.text }, part.cache)];
    case 'image':
      return [
        withBreakpoint(
          { type: 'input_image', detail: part.detail ?? 'auto', ...imageOf(part.source) },
          part.cache,
        ),
      ];
    case 'document':
      return documentItems(part);
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.format } }];
    default:
      return [];
  }
}

function imageOf(source: MediaSource): JsonObject {
  if (source.kind === 'file') return { file_id: source.fileId };
  return { image_url: source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}` };
}

/** A file by its data has a name; what else a document says of itself stands before it. */
function documentItems({ source, title, context, cache }: DocumentPart): JsonObject[] {
  if (source.kind === 'text')
    return [
      withBreakpoint({ type: 'input_text', text: documentText(source.text, { title, context }) }, cache),
    ];
  const words = documentWords(source.kind === 'base64' ? { context } : { title, context });
  const before = words === '' ? [] : [{ type: 'input_text', text: words }];
  return [...before, withBreakpoint(fileOf(source, title), cache)];
}

function fileOf(source: MediaSource, title: string | undefined): JsonObject {
  switch (source.kind) {
    case 'file':
      return { type: 'input_file', file_id: source.fileId };
    case 'url':
      return { type: 'input_file', file_url: source.url };
    case 'base64': {
      const file_data = `data:${source.mediaType};base64,${source.data}`;
      // A file by its data needs a name.
      return { type: 'input_file', filename: title ?? 'document.pdf', file_data };
    }
  }
}

/** The parts of one turn, each kind as an item of its own, in their order. */
function assistantItems(parts: readonly Part[]): JsonObject[] {
  const items: JsonObject[] = [];
  let message: JsonObject[] | null = null;
  let shown: string[] = [];
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'refusal') {
      if (message === null) {
        message = [];
        items.push({ type: 'message', role: 'assistant', content: message });
      }
      message.push(
        part.type === 'text'
          ? { type: 'output_text', text: part.text }
          : { type: 'refusal', refusal: part.text },
      );
      continue;
    }
    message = null;
    if (part.type === 'reasoning' && part.format === OWN_FORMAT) shown.push(part.text);
    else if (part.type === 'opaque_reasoning' && part.format === OWN_FORMAT) {
      // Encrypted reasoning goes back with what was shown of it; shown text alone is of no use to the provider.
      const summary = shown.map((text) => ({ type: 'summary_text', text }));
      items.push({ type: 'reasoning', summary, encrypted_content: part.data });
      shown = [];
    } else if (part.type === 'tool_call') items.push(callItem(part));
  }
  return items;
}

function callItem({ id, name, arguments: text, custom }: Extract<Part, { type: 'tool_call' }>): JsonObject {
  if (custom) return { type: 'custom_tool_call', call_id: plainToolId(id), name, input: text };
  return {
    type: 'function_call',
    call_id: plainToolId(id),
    name,
    arguments: text.trim() === '' ? '{}' : text,
  };
}

/** A marked result is a list, because a text alone has no place for a breakpoint. */
function resultItem(
  { toolCallId, parts, isError, cache }: ToolResultPart,
  custom: ReadonlySet<string>,
): JsonObject {
  const type = custom.has(toolCallId) ? 'custom_tool_call_output' : 'function_call_output';
  const call_id = plainToolId(toolCallId);
  const isMarked = cache !== undefined || parts.some((part) => 'cache' in part && part.cache !== undefined);
  const isText = parts.length === 0 || (!isMarked && parts.every(({ type }) => type === 'text'));
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const prefix = isError ? 'Error: ' : '';
  if (isText) return { type, call_id, output: prefix + text };
  const output = [...(isError ? [{ type: 'input_text', text: prefix }] : []), ...parts.flatMap(inputPart)];
  const last = output.pop();
  if (last !== undefined) output.push(withBreakpoint(last, cache));
  return { type, call_id, output };
}
