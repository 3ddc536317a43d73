import { isObject, type JsonObject } from '../../body/json-object.js';
import { spellBody, writeJson, type ParsedBody } from '@gateway/json-body';
import type {
  CacheMarker,
  DocumentPart,
  FileReference,
  ImagePart,
  MediaSource,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../model-request.js';
import { SIGNATURE_FORMAT } from './answer-reader.js';
import { providerToolId } from './tool-id.js';
import { objectAt, objectsAt, textAt, textOrNull } from './json.js';

/** Facts of the contents that a route needs, and their weight for the estimate. */
export class ContentFacts {
  textBytes = 0;
  images = 0;
  readonly documentBytes: number[] = [];
  hasCacheMarkers = false;
  /** Position of the first of each. */
  imageAt: string | null = null;
  documentAt: string | null = null;
  readonly files: FileReference[] = [];
  native: { param: string; value?: string } | null = null;
  private message = -1;
  private block = -1;

  constructor(readonly body: ParsedBody) {}

  /** The block that is read next; without one: the instructions. */
  enter(message: number, block: number): void {
    this.message = message;
    this.block = block;
  }

  /** Returns the place as the caller would find it. */
  get place(): string {
    return this.message < 0 ? 'system' : `messages[${this.message}].content[${this.block}]`;
  }

  /** A block that only the dialect's own upstreams know. */
  needsOwn(type: unknown, within = ''): void {
    const param = `${this.place}${within}.type`;
    this.native ??= typeof type === 'string' ? { param, value: type } : { param };
  }

  addFile(id: string): void {
    this.files.push({ id, param: `${this.place}.source.file_id` });
  }

  addText(text: string): string {
    this.textBytes += Buffer.byteLength(text);
    return text;
  }
}

export function markerOf(block: JsonObject, facts: ContentFacts): { cache?: CacheMarker } {
  if (!isObject(block.cache_control)) return {};
  facts.hasCacheMarkers = true;
  return { cache: { ttl: block.cache_control.ttl === '1h' ? '1h' : '5m' } };
}

function mediaOf(source: JsonObject): MediaSource {
  if (source.type === 'url') return { kind: 'url', url: textAt(source, 'url') };
  if (source.type === 'file') return { kind: 'file', fileId: textAt(source, 'file_id') };
  return { kind: 'base64', mediaType: textAt(source, 'media_type'), data: textAt(source, 'data') };
}

function imagePart(block: JsonObject, facts: ContentFacts): ImagePart {
  facts.images += 1;
  facts.imageAt ??= facts.place;
  const source = mediaOf(objectAt(block, 'source'));
  if (source.kind === 'file') facts.addFile(source.fileId);
  return { type: 'image', source, ...markerOf(block, facts) };
}

function documentPart(block: JsonObject, facts: ContentFacts): DocumentPart {
  const source = objectAt(block, 'source');
  const title = textOrNull(block, 'title');
  const context = textOrNull(block, 'context');
  const rest = {
    ...(title === null ? {} : { title: facts.addText(title) }),
    ...(context === null || context === '' ? {} : { context: facts.addText(context) }),
    ...markerOf(block, facts),
  };
  if (source.type === 'text') {
    return {
      type: 'document',
      source: { kind: 'text', text: facts.addText(textAt(source, 'data')) },
      ...rest,
    };
  }
  if (source.type === 'content') {
    const inner = source.content;
    const text =
      typeof inner === 'string'
        ? inner
        : objectsAt(source, 'content')
            .map((part) => textAt(part, 'text'))
            .join('\n');
    const parts = objectsAt(source, 'content');
    const other = parts.findIndex(({ type }) => type !== 'text');
    if (other >= 0) facts.needsOwn(parts[other].type, `.source.content[${other}]`);
    return { type: 'document', source: { kind: 'text', text: facts.addText(text) }, ...rest };
  }
  const media = mediaOf(source);
  if (media.kind === 'file') facts.addFile(media.fileId);
  facts.documentAt ??= facts.place;
  facts.documentBytes.push(media.kind === 'base64' ? Math.floor((media.data.length * 3) / 4) : 0);
  return { type: 'document', source: media, ...rest };
}

export function textPart(block: JsonObject, facts: ContentFacts): TextPart {
  return { type: 'text', text: facts.addText(textAt(block, 'text')), ...markerOf(block, facts) };
}

function toolResult(block: JsonObject, facts: ContentFacts): ToolResultPart {
  const parts: ToolResultPart['parts'] = [];
  if (typeof block.content === 'string' && block.content !== '')
    parts.push({ type: 'text', text: facts.addText(block.content) });
  for (const inner of objectsAt(block, 'content')) {
    if (inner.type === 'text') parts.push(textPart(inner, facts));
    else if (inner.type === 'image') parts.push(imagePart(inner, facts));
    else if (inner.type === 'document') parts.push(documentPart(inner, facts));
    else facts.needsOwn(inner.type);
  }
  return {
    type: 'tool_result',
    toolCallId: providerToolId(textAt(block, 'tool_use_id')),
    parts,
    isError: block.is_error === true,
    ...markerOf(block, facts),
  };
}

/** The input is written as text once a format needs it: the upstreams of this one are sent the caller's bytes. */
function toolCall(block: JsonObject, facts: ContentFacts): ToolCallPart {
  const { input } = block;
  const { body } = facts;
  facts.addText(JSON.stringify(input));
  return {
    type: 'tool_call',
    id: providerToolId(textAt(block, 'id')),
    name: textAt(block, 'name'),
    get arguments() {
      spellBody(body);
      return writeJson(input);
    },
    ...markerOf(block, facts),
  };
}

function partOf(block: JsonObject, facts: ContentFacts): Part | null {
  switch (block.type) {
    case 'text':
      return textPart(block, facts);
    case 'image':
      return imagePart(block, facts);
    case 'document':
      return documentPart(block, facts);
    case 'thinking': {
      const signature = textAt(block, 'signature');
      const text = facts.addText(textAt(block, 'thinking'));
      // Without a signature it came from a translated answer, and no family claims it.
      return {
        type: 'reasoning',
        text,
        ...(signature === '' ? {} : { signature, format: SIGNATURE_FORMAT }),
      };
    }
    case 'redacted_thinking':
      return { type: 'opaque_reasoning', data: textAt(block, 'data'), format: SIGNATURE_FORMAT };
    case 'tool_use':
      return toolCall(block, facts);
    case 'tool_result':
      return toolResult(block, facts);
    default:
      facts.needsOwn(block.type);
      return null;
  }
}

/** One message -> its turns: tool results stand in a `tool` turn before the rest of the user turn. */
export function turnsOf(message: JsonObject, at: number, facts: ContentFacts): Turn[] {
  const role = message.role === 'assistant' || message.role === 'system' ? message.role : 'user';
  if (typeof message.content === 'string')
    return [{ role, parts: [{ type: 'text', text: facts.addText(message.content) }] }];
  const parts = objectsAt(message, 'content')
    .map((block, index) => {
      facts.enter(at, index);
      return partOf(block, facts);
    })
    .filter((part) => part !== null);
  const results = parts.filter((part) => part.type === 'tool_result');
  const others = parts.filter((part) => part.type !== 'tool_result');
  const turns: Turn[] = results.length > 0 ? [{ role: 'tool', parts: results }] : [];
  return others.length > 0 ? [...turns, { role, parts: others }] : turns;
}
