import { isObject, type JsonObject } from '../../body/json-object.js';
import { ApiError } from '@gateway/contracts';
import type {
  DocumentPart,
  FileReference,
  ImagePart,
  Part,
  ToolCallPart,
  ToolResultPart,
} from '../model-request.js';
import { refusedFile } from '../refused-part.js';
import { isOwnFormat } from './answer-writer.js';
import { cacheControl } from './cache-markers.js';
import { spelledJsonOf } from '../../body/upstream-json.js';
import { imageType } from './media-type.js';
import { upstreamToolId } from './tool-id.js';

/**
 * Returns the error for a part that a route of this dialect cannot be sent, though the plan let the request through.
 */
export function unsupported(param: string, message: string): ApiError {
  return new ApiError('unsupported_operation', { status: 400, message, param });
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function imageBlock({ source, cache }: ImagePart, files: readonly FileReference[]): JsonObject {
  if (source.kind === 'file') throw refusedFile(files, source.fileId);
  const encoded =
    source.kind === 'url'
      ? { type: 'url', url: source.url }
      : { type: 'base64', media_type: imageType(source.data, source.mediaType), data: source.data };
  return { type: 'image', source: encoded, ...cacheControl(cache) };
}

function documentSource(source: DocumentPart['source'], files: readonly FileReference[]): JsonObject {
  switch (source.kind) {
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text };
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      throw refusedFile(files, source.fileId);
    case 'base64':
      if (source.mediaType.startsWith('text/')) {
        const data = Buffer.from(source.data, 'base64').toString('utf8');
        return { type: 'text', media_type: 'text/plain', data };
      }
      return { type: 'base64', media_type: source.mediaType, data: source.data };
  }
}

function documentBlock({ source, title, cache }: DocumentPart, files: readonly FileReference[]): JsonObject {
  return {
    type: 'document',
    source: documentSource(source, files),
    ...(title === undefined ? {} : { title }),
    ...cacheControl(cache),
  };
}

/** Arguments as the object that this dialect wants. Half or broken JSON is the caller's fault: {} would be another call. */
function inputOf(part: ToolCallPart, turn: number, call: number): JsonObject {
  if (part.custom) return { input: part.arguments };
  const text = isBlank(part.arguments) ? '{}' : part.arguments;
  const input = text.trim() === 'null' ? {} : spelledJsonOf(text);
  if (isObject(input)) return input;
  const loc = ['messages', part.message ?? turn, 'tool_calls', call, 'function', 'arguments'];
  const msg = 'the arguments of a tool call must be a JSON object';
  throw new ApiError('validation_error', { status: 422, details: [{ type: 'json_invalid', loc, msg }] });
}

function toolResultBlock(
  { toolCallId, parts, isError, cache }: ToolResultPart,
  files: readonly FileReference[],
): JsonObject {
  const content: JsonObject[] = [];
  let marker = cache;
  for (const part of parts) {
    // A marker inside a result marks the same prefix as one on the result, where every provider keeps its TTL.
    if (part.cache && marker?.ttl !== '1h') marker = part.cache;
    const { cache: _cache, ...bare } = part;
    if (bare.type === 'text') {
      if (!isBlank(bare.text)) content.push({ type: 'text', text: bare.text });
    } else content.push(bare.type === 'image' ? imageBlock(bare, files) : documentBlock(bare, files));
  }
  return {
    type: 'tool_result',
    tool_use_id: upstreamToolId(toolCallId),
    ...(content.length > 0 ? { content } : {}),
    ...(isError ? { is_error: true } : {}),
    ...cacheControl(marker),
  };
}

/** One part as its block, null where this dialect would refuse it or another family owns it. */
export function blockOf(
  part: Part,
  turn: number,
  call: number,
  files: readonly FileReference[],
): JsonObject | null {
  switch (part.type) {
    case 'text':
      return isBlank(part.text) ? null : { type: 'text', text: part.text, ...cacheControl(part.cache) };
    case 'refusal':
      return isBlank(part.text) ? null : { type: 'text', text: part.text };
    case 'image':
      return imageBlock(part, files);
    case 'document':
      return documentBlock(part, files);
    case 'audio':
      throw unsupported('messages', 'audio input cannot be sent to this provider');
    case 'reasoning':
      if (!isOwnFormat(part.format) || !part.signature) return null;
      return { type: 'thinking', thinking: part.text, signature: part.signature };
    case 'opaque_reasoning':
      return isOwnFormat(part.format) ? { type: 'redacted_thinking', data: part.data } : null;
    case 'tool_call':
      return {
        type: 'tool_use',
        id: upstreamToolId(part.id),
        name: part.name,
        input: inputOf(part, turn, call),
        ...cacheControl(part.cache),
      };
    case 'tool_result':
      return toolResultBlock(part, files);
  }
}
