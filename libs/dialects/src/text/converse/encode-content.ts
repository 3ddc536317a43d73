import type { ApiError } from '@gateway/contracts';
import { isObject, type JsonObject } from '../../body/json-object.js';
import { imageType } from '../messages/media-type.js';
import type { CacheMarker, DocumentPart, ImagePart, Part, ToolResultPart } from '../model-request.js';
import { spelledJsonOf } from '../../body/upstream-json.js';
import { documentWords } from '../document-words.js';
import { toolInput } from '../tool-input.js';
import { toolUseId, type Family } from './families.js';

/** Family that mints the signatures of this format: not assumed to be good at Anthropic's own API. */
export const SIGNATURE_FORMAT = 'bedrock-converse-v1';

const IMAGE_FORMATS: ReadonlySet<string> = new Set(['png', 'jpeg', 'gif', 'webp']);
const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'application/pdf': 'pdf',
    'text/csv': 'csv',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'text/html': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
  }),
);
const NAME_MAX = 200;
const NAME_OF_NONE = 'document';

export function cachePoint(cache: CacheMarker | undefined): JsonObject[] {
  if (!cache) return [];
  return [{ cachePoint: { type: 'default', ...(cache.ttl === '1h' ? { ttl: '1h' } : {}) } }];
}

/** Blocks of one request: each of its documents gets a name of its own. */
export class ContentEncoder {
  private readonly names = new Set<string>();

  constructor(
    private readonly family: Family,
    private readonly nameOf: (name: string) => string,
    /** Returns the error for a part that this format cannot carry. */
    private readonly refused: (capability: 'image_input' | 'document_input', message: string) => ApiError,
  ) {}

  /** One part as its blocks; none where this format would refuse it or another family owns it. */
  blocks(part: Part, turn: number, call: number): JsonObject[] {
    switch (part.type) {
      case 'text':
        return part.text.trim() === '' ? [] : [{ text: part.text }, ...cachePoint(part.cache)];
      case 'refusal':
        return part.text.trim() === '' ? [] : [{ text: part.text }];
      case 'image':
        return [this.image(part), ...cachePoint(part.cache)];
      case 'document':
        return [...this.document(part), ...cachePoint(part.cache)];
      case 'audio':
        return [{ audio: { format: part.format, source: { bytes: part.data } } }];
      case 'reasoning':
        if (part.format !== SIGNATURE_FORMAT || part.signature === undefined) return [];
        return [{ reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } }];
      case 'opaque_reasoning':
        return part.format === SIGNATURE_FORMAT ? [{ reasoningContent: { redactedContent: part.data } }] : [];
      case 'tool_call':
        return [
          {
            toolUse: {
              toolUseId: toolUseId(part.id, this.family),
              name: this.nameOf(part.name),
              input: toolInput(part, turn, call),
            },
          },
          ...cachePoint(part.cache),
        ];
      case 'tool_result':
        return this.result(part);
    }
  }

  /** A marker inside a result would lose its TTL: it stands beside the block. */
  private result({ toolCallId, parts, isError, cache }: ToolResultPart): JsonObject[] {
    let marker = cache;
    const content = parts.flatMap((part): JsonObject[] => {
      if (part.cache && marker?.ttl !== '1h') marker = part.cache;
      if (part.type === 'image') return [this.image(part)];
      if (part.type === 'document') return this.document(part);
      if (part.text.trim() === '') return [];
      const value = spelledJsonOf(part.text);
      return [isObject(value) ? { json: value } : { text: part.text }];
    });
    const toolResult = {
      toolUseId: toolUseId(toolCallId, this.family),
      // It must not be empty, and neither must its text.
      content: content.length > 0 ? content : [{ json: {} }],
      ...(isError ? { status: 'error' } : {}),
    };
    return [{ toolResult }, ...cachePoint(marker)];
  }

  private image({ source }: ImagePart): JsonObject {
    if (source.kind !== 'base64')
      throw this.refused('image_input', 'this provider takes images by their data only.');
    const format = imageType(source.data, source.mediaType).replace('image/', '');
    if (!IMAGE_FORMATS.has(format))
      throw this.refused('image_input', `this provider takes images as ${[...IMAGE_FORMATS].join(', ')}.`);
    return { image: { format, source: { bytes: source.data } } };
  }

  private document(part: DocumentPart): JsonObject[] {
    const { source, title } = part;
    if (source.kind === 'text')
      return this.documentBlock('txt', part, Buffer.from(source.text).toString('base64'));
    if (source.kind !== 'base64')
      throw this.refused('document_input', 'this provider takes documents by their data only.');
    const format = DOCUMENT_FORMATS.get(source.mediaType) ?? endingOf(title);
    if (format === null)
      throw this.refused('document_input', `this provider takes no documents of type ${source.mediaType}.`);
    return this.documentBlock(format, part, source.data);
  }

  /** Claude alone takes a context beside the name: others read it in words before the document. */
  private documentBlock(format: string, { title, context }: DocumentPart, bytes: string): JsonObject[] {
    const isMember = context !== undefined && this.family === 'claude';
    const words = isMember ? '' : documentWords({ context });
    const more = isMember ? { context } : {};
    return [
      ...(words === '' ? [] : [{ text: words }]),
      { document: { format, name: this.uniqueName(title), source: { bytes }, ...more } },
    ];
  }

  /** Letters, digits, single spaces, hyphens and brackets only, and no name twice. */
  private uniqueName(title: string | undefined): string {
    const clean = (title ?? NAME_OF_NONE)
      .replace(/\.\w{1,5}$/, '')
      .replace(/[^A-Za-z0-9\s()[\]-]/g, '-')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, NAME_MAX);
    const base = clean === '' ? NAME_OF_NONE : clean;
    let name = base;
    for (let again = 2; this.names.has(name); again += 1) name = `${base} (${again})`;
    this.names.add(name);
    return name;
  }
}

function endingOf(title: string | undefined): string | null {
  const ending = /\.(\w+)$/.exec(title ?? '')?.[1]?.toLowerCase();
  return ending !== undefined && [...DOCUMENT_FORMATS.values()].includes(ending) ? ending : null;
}
