import { spellBody, type ParsedBody, writeJson } from '@gateway/json-body';
import { ApiError } from '@gateway/contracts';
import { isObject, textChat, textMessages, textResponses, type TextCaller } from '@gateway/dialects';

/** A file that the caller has uploaded. */
export interface FileContent {
  readonly filename: string;
  readonly bytes: Uint8Array;
}

type Json = Record<string, unknown>;
type Place = (body: Json, files: Files) => Json;

/** Bound of a file's bytes: in base64 they are as large as any body may be. */
export const FILE_BYTES_MAX = 24 * 1_048_576;

/** Files by their ids, counted at each place that takes one: a small body may name a large file ten thousand times. */
class Files {
  private leftBytes = FILE_BYTES_MAX;

  constructor(private readonly files: ReadonlyMap<string, FileContent>) {}

  /** null where it is none of them. Throws invalid_input past the bound of all places together. */
  take(id: unknown): FileContent | null {
    const file = typeof id === 'string' ? this.files.get(id) : undefined;
    if (file === undefined) return null;
    this.leftBytes -= file.bytes.byteLength;
    if (this.leftBytes < 0)
      throw new ApiError('invalid_input', {
        message: `The files are larger than ${FILE_BYTES_MAX} bytes, in all places that name them.`,
      });
    return file;
  }
}

const MAGIC: readonly (readonly [string, RegExp])[] = [
  ['application/pdf', /^%PDF-/],
  ['image/png', /^\x89PNG/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
];
const BY_EXTENSION: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  htm: 'text/html',
  html: 'text/html',
  json: 'application/json',
  md: 'text/markdown',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  txt: 'text/plain',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
};

/** Places where each caller's format may name files, and the form in which it holds them instead. */
const PLACES: ReadonlyMap<TextCaller, Place> = new Map<TextCaller, Place>([
  [textChat.caller, (body, files) => within(body, 'messages', chatPart(files))],
  [textMessages.caller, (body, files) => within(body, 'messages', messagesBlock(files))],
  [textResponses.caller, (body, files) => within(body, 'input', responsesPart(files))],
]);

/** The body with the bytes of the files that it names in their places. Throws invalid_input past FILE_BYTES_MAX. */
export function withFileParts(
  caller: TextCaller,
  body: ParsedBody,
  files: ReadonlyMap<string, FileContent>,
): Uint8Array {
  const place = PLACES.get(caller);
  if (place === undefined) throw new TypeError('a text endpoint without places of files');
  spellBody(body);
  return Buffer.from(writeJson(place(body.value, new Files(files))));
}

/** Each part below the messages or items that `member` lists. */
function within(body: Json, member: string, part: (part: Json) => Json): Json {
  const turn = (one: Json): Json => mapped(mapped(one, 'content', part), 'output', part);
  return mapped(body, member, turn);
}

function mapped(holder: Json, member: string, change: (item: Json) => Json): Json {
  const list = holder[member];
  if (!Array.isArray(list)) return holder;
  return { ...holder, [member]: list.map((item: unknown) => (isObject(item) ? change(item) : item)) };
}

function chatPart(files: Files): (part: Json) => Json {
  return (part) => {
    const { file } = part;
    if (part.type !== 'file' || !isObject(file)) return part;
    const { file_id: id, ...others } = file;
    const found = files.take(id);
    if (found === null) return part;
    return { ...part, file: { filename: found.filename, ...others, file_data: dataUrl(found) } };
  };
}

function responsesPart(files: Files): (part: Json) => Json {
  return (part) => {
    const { file_id: id, ...others } = part;
    if (part.type !== 'input_image' && part.type !== 'input_file') return part;
    const found = files.take(id);
    if (found === null) return part;
    if (part.type === 'input_image') return { ...others, image_url: dataUrl(found) };
    return { filename: found.filename, ...others, file_data: dataUrl(found) };
  };
}

function messagesBlock(files: Files): (block: Json) => Json {
  return function change(block) {
    if (block.type === 'tool_result') return mapped(block, 'content', change);
    const { source } = block;
    if (!isObject(source) || source.type !== 'file') return block;
    const found = files.take(source.file_id);
    if (found === null) return block;
    const media_type = mediaTypeOf(found);
    const text = { type: 'text', media_type: 'text/plain', data: Buffer.from(found.bytes).toString('utf8') };
    const isText = block.type === 'document' && /^text\/|json|xml$/.test(media_type);
    const bytes = { type: 'base64', media_type, data: Buffer.from(found.bytes).toString('base64') };
    const title = block.type === 'document' ? { title: found.filename } : {};
    return { ...title, ...block, source: isText ? text : bytes };
  };
}

function dataUrl(file: FileContent): string {
  return `data:${mediaTypeOf(file)};base64,${Buffer.from(file.bytes).toString('base64')}`;
}

/** Returns the media type of the bytes, else of the name. */
function mediaTypeOf({ filename, bytes }: FileContent): string {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const known = MAGIC.find(([, magic]) => magic.test(head));
  if (known) return known[0];
  const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : 'application/octet-stream';
}
