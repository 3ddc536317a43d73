import { filled, isObject, type JsonObject } from '../../body/json-object.js';
import type {
  DocumentPart,
  FileReference,
  MediaSource,
  Part,
  ToolResultPart,
  Turn,
} from '../model-request.js';
import { documentText, documentWords } from '../document-words.js';
import { imageType } from '../messages/media-type.js';
import { spelledJsonOf } from '../../body/upstream-json.js';
import { refusedFile } from '../refused-part.js';
import { toolInput } from '../tool-input.js';
import { plainToolId, toolSignature } from '../tool-signature.js';
import { SIGNATURE_FORMAT } from './candidate-decoder.js';

export interface Content {
  role: 'user' | 'model';
  parts: JsonObject[];
}

/** Google's own word for a call whose signature is lost. */
const LOST_SIGNATURE = 'skip_thought_signature_validator';
const PLACEHOLDER = { text: '(continued)' };

/** Media types by the end of an address: the provider fetches it and wants to know what it gets. */
const TYPE_BY_ENDING: ReadonlyMap<string, string> = new Map(
  Object.entries({
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    webp: 'image/webp',
    gif: 'image/gif',
    heic: 'image/heic',
    pdf: 'application/pdf',
    txt: 'text/plain',
    csv: 'text/csv',
    html: 'text/html',
  }),
);

export interface EncodeOptions {
  /** Names as the upstream may know them. */
  nameOf: (name: string) => string;
  /** The model refuses a turn whose first call has no signature. */
  needsSignatures: boolean;
  /** Files that the caller names by id. */
  files: Files;
}

type Files = readonly FileReference[];

/** Turns -> `systemInstruction` and `contents`: turns of one side become one content. */
export function encodeTurns(
  turns: readonly Turn[],
  options: EncodeOptions,
): { system: JsonObject[]; contents: Content[] } {
  const firstOther = turns.findIndex((turn) => !isSystem(turn));
  const leading = firstOther < 0 ? turns.length : firstOther;
  const system = turns
    .slice(0, leading)
    .flatMap(({ parts }) => parts.flatMap((part) => simplePart(part, options.files)));
  const names = callNames(turns);
  const contents: Content[] = [];
  for (let index = leading; index < turns.length; index += 1) {
    const turn = turns[index];
    const role = turn.role === 'assistant' ? 'model' : 'user';
    const parts = partsOf(turn, index, names, options);
    if (parts.length === 0) continue;
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts });
  }
  if (contents[0]?.role !== 'user') contents.unshift({ role: 'user', parts: [PLACEHOLDER] });
  return { system, contents };
}

function isSystem({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

/** Results name the tool that they come from: its name stands with the call. */
function callNames(turns: readonly Turn[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { parts } of turns)
    for (const part of parts) if (part.type === 'tool_call') names.set(part.id, part.name);
  return names;
}

function partsOf(
  turn: Turn,
  index: number,
  names: Map<string, string>,
  options: EncodeOptions,
): JsonObject[] {
  if (turn.role === 'assistant') return modelParts(turn, index, options);
  if (turn.role === 'tool')
    return turn.parts.flatMap((part) =>
      part.type === 'tool_result'
        ? resultParts(part, options.nameOf(names.get(part.toolCallId) ?? 'tool'), options.files)
        : [],
    );
  const parts = turn.parts.flatMap((part) => simplePart(part, options.files));
  // A system turn in mid-conversation stays in its place: hoisting it would break the cached prefix and the order.
  if (!isSystem(turn)) return parts;
  return parts.map((part) => ({ ...part, text: `<system>${String(part.text)}</system>` }));
}

function modelParts(
  { parts }: Turn,
  index: number,
  { nameOf, needsSignatures, files }: EncodeOptions,
): JsonObject[] {
  const encoded: JsonObject[] = [];
  let textSignature: string | null = null;
  let calls = 0;
  for (const part of parts) {
    if (part.type === 'reasoning' && part.format === SIGNATURE_FORMAT && part.signature !== undefined)
      textSignature = part.signature;
    else if (part.type === 'tool_call') {
      const signature = part.signature ?? toolSignature(part.id);
      const lost = needsSignatures && calls === 0 ? LOST_SIGNATURE : null;
      const sent = signature ?? lost;
      encoded.push({
        functionCall: {
          id: plainToolId(part.id),
          name: nameOf(part.name),
          args: toolInput(part, index, calls),
        },
        ...(sent === null ? {} : { thoughtSignature: sent }),
      });
      calls += 1;
    } else encoded.push(...simplePart(part, files));
  }
  const lastText = encoded.findLast(({ text }) => text !== undefined);
  // The signature of an answer without calls stands on its last text.
  if (textSignature !== null && calls === 0 && lastText) lastText.thoughtSignature = textSignature;
  return encoded;
}

/** A result is an object here: a JSON object as it is, a text under a name of its own; images follow it. */
function resultParts(
  { toolCallId, parts, isError }: ToolResultPart,
  name: string,
  files: Files,
): JsonObject[] {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const value = isError ? undefined : spelledJsonOf(text);
  const response = isObject(value) ? value : { [isError ? 'error' : 'output']: text };
  const media = parts.flatMap((part) => (part.type === 'text' ? [] : simplePart(part, files)));
  return [{ functionResponse: { id: plainToolId(toolCallId), name, response } }, ...media];
}

/** A part that is the same in every turn; nothing where another family owns it. */
function simplePart(part: Part, files: Files): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text.trim() === '' ? [] : [{ text: part.text }];
    case 'image':
      return [mediaPart(part.source, files)];
    case 'audio':
      return [{ inlineData: { mimeType: `audio/${part.format}`, data: part.data } }];
    case 'document':
      return documentParts(part, files);
    default:
      return [];
  }
}

function documentParts(document: DocumentPart, files: Files): JsonObject[] {
  const { source } = document;
  if (source.kind === 'text') return [{ text: documentText(source.text, document) }];
  const words = documentWords(document);
  return [...(words === '' ? [] : [{ text: words }]), mediaPart(source, files)];
}

function mediaPart(source: MediaSource, files: Files): JsonObject {
  switch (source.kind) {
    case 'base64':
      return { inlineData: { mimeType: imageType(source.data, source.mediaType), data: source.data } };
    case 'url': {
      const ending = filled(/\.(\w+)(?:[?#]|$)/.exec(source.url)?.[1])?.toLowerCase();
      const mimeType = ending === undefined ? undefined : TYPE_BY_ENDING.get(ending);
      return { fileData: { fileUri: source.url, ...(mimeType === undefined ? {} : { mimeType }) } };
    }
    case 'file':
      throw refusedFile(files, source.fileId);
  }
}
