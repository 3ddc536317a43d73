import { isObject, textChat, textMessages, textResponses, type TextCaller } from '@gateway/dialects';
import type { FileContent } from '../endpoint.js';

type Json = Record<string, unknown>;
type Files = ReadonlyMap<string, FileContent>;
type Place = (body: Json, files: Files) => Json;

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

/** Where each caller's format may name files, and how it holds them instead. */
const PLACES: ReadonlyMap<TextCaller, Place> = new Map<TextCaller, Place>([
  [textChat.caller, (body, files) => within(body, 'messages', chatPart(files))],
  [textMessages.caller, (body, files) => within(body, 'messages', messagesBlock(files))],
  [textResponses.caller, (body, files) => within(body, 'input', responsesPart(files))],
]);

/** The body with the bytes of the files that it names in their places. */
export function withFileParts(caller: TextCaller, body: Readonly<Json>, files: Files): Uint8Array {
  const place = PLACES.get(caller);
  if (place === undefined) throw new TypeError('a text endpoint without places of files');
  return Buffer.from(JSON.stringify(place(body, files)));
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
    const found = fileOf(files, id);
    if (found === null) return part;
    return { ...part, file: { filename: found.filename, ...others, file_data: dataUrl(found) } };
  };
}

function responsesPart(files: Files): (part: Json) => Json {
  return (part) => {
    const { file_id: id, ...others } = part;
    const found = fileOf(files, id);
    if (found === null) return part;
    if (part.type === 'input_image') return { ...others, image_url: dataUrl(found) };
    if (part.type !== 'input_file') return part;
    return { filename: found.filename, ...others, file_data: dataUrl(found) };
  };
}

function messagesBlock(files: Files): (block: Json) => Json {
  return function change(block) {
    if (block.type === 'tool_result') return mapped(block, 'content', change);
    const { source } = block;
    if (!isObject(source) || source.type !== 'file') return block;
    const found = fileOf(files, source.file_id);
    if (found === null) return block;
    const media_type = mediaTypeOf(found);
    const text = { type: 'text', media_type: 'text/plain', data: Buffer.from(found.bytes).toString('utf8') };
    const isText = block.type === 'document' && /^text\/|json|xml$/.test(media_type);
    const bytes = { type: 'base64', media_type, data: Buffer.from(found.bytes).toString('base64') };
    const title = block.type === 'document' ? { title: found.filename } : {};
    return { ...title, ...block, source: isText ? text : bytes };
  };
}

function fileOf(files: Files, id: unknown): FileContent | null {
  return typeof id === 'string' ? (files.get(id) ?? null) : null;
}

function dataUrl(file: FileContent): string {
  return `data:${mediaTypeOf(file)};base64,${Buffer.from(file.bytes).toString('base64')}`;
}

/** What the bytes are, else what the name says. */
function mediaTypeOf({ filename, bytes }: FileContent): string {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const known = MAGIC.find(([, magic]) => magic.test(head));
  if (known) return known[0];
  const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : 'application/octet-stream';
}
