import type { ParsedBody } from './parsed-body.js';
import { spellBody, spellingOf, type Spelling } from './spelling.js';

export type JsonObject = Record<string, unknown>;

/** True for a JSON object: no array, no null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const { isRawJSON } = JSON as unknown as { isRawJSON: (value: unknown) => boolean };

/**
 * JSON.stringify that writes numbers, the order of members and repeated names as `rememberSpelling` saw them. What has
 * been replaced since is written anew, in its place; new members follow.
 */
export function writeJson(value: unknown): string {
  return isSpelled(value) ? (written(value) ?? 'null') : JSON.stringify(value);
}

/** True if JSON.stringify might write a part of the value in another way than it was read. */
export function isSpelled(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (spellingOf(value) !== undefined) return true;
  if (Array.isArray(value)) return value.some(isSpelled);
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (typeof member === 'object' && member !== null && isSpelled(member)) return true;
  }
  return false;
}

/** The text; undefined for what JSON.stringify leaves out. */
function written(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || isRawJSON(value)) return JSON.stringify(value);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return JSON.stringify(value);
  const spelling = spellingOf(value);
  if (Array.isArray(value)) return writtenArray(value, spelling);
  const object = value as Record<string, unknown>;
  if (spelling?.names) return spelledObject(object, spelling.names, spelling);
  const pieces: string[] = [];
  for (const name of Object.keys(object)) addMember(pieces, name, written(object[name]));
  return `{${pieces.join(',')}}`;
}

function writtenArray(items: readonly unknown[], spelling: Spelling | undefined): string {
  const texts = Array.from(items, (item, at) => spelledValue(item, at, spelling) ?? 'null');
  return `[${texts.join(',')}]`;
}

function spelledValue(value: unknown, at: number, spelling: Spelling | undefined): string | undefined {
  const text = spelling?.texts[at];
  return text != null && Object.is(value, spelling?.values[at]) ? text : written(value);
}

function spelledObject(
  object: Record<string, unknown>,
  names: readonly string[],
  spelling: Spelling,
): string {
  const { hidden, values } = spelling;
  const last = hidden && new Map(names.map((name, at) => [name, at]));
  const pieces: string[] = [];
  const seen = new Set<string>();
  for (const [at, name] of names.entries()) {
    if (!Object.hasOwn(object, name)) continue;
    const text = hidden?.[at];
    if (text != null) {
      // What stands in place of the last is meant to stand in place of all.
      if (Object.is(values[last?.get(name) ?? at], object[name]))
        pieces.push(`${JSON.stringify(name)}:${text}`);
    } else if (!seen.has(name)) {
      seen.add(name);
      addMember(pieces, name, spelledValue(object[name], at, spelling));
    }
  }
  for (const name of Object.keys(object)) if (!seen.has(name)) addMember(pieces, name, written(object[name]));
  return `{${pieces.join(',')}}`;
}

function addMember(pieces: string[], name: string, text: string | undefined): void {
  if (text !== undefined) pieces.push(`${JSON.stringify(name)}:${text}`);
}

const COMMA = Buffer.from(',');
const OPEN = Buffer.from('{');

/** Returns JSON with sorted members, so that equal values have equal text, whatever order their members came in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** Changed top-level members: a value is sent in place of the caller's, undefined leaves the member out. */
type MemberChanges = Readonly<Record<string, unknown>>;

/**
 * The caller's own bytes with only the changed top-level members replaced, removed or added: unknown members, number
 * spellings and megabytes of base64 go on untouched and uncopied. The pieces share memory with `body.bytes`.
 */
export function spliceMembers(
  body: ParsedBody,
  changes: MemberChanges,
): { pieces: Uint8Array[]; byteLength: number } {
  const pieces: Uint8Array[] = [OPEN];
  const { bytes, members } = body;
  for (let at = 0; at < members.length; at += 1) {
    if (Object.hasOwn(changes, members[at].key)) continue;
    const { start } = members[at];
    // Neighbours that both stay are one piece, with the comma between them.
    while (at + 1 < members.length && !Object.hasOwn(changes, members[at + 1].key)) at += 1;
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(bytes.subarray(start, members[at].end));
  }
  if (rewrites(body, changes)) spellBody(body);
  let added = '';
  for (const name in changes) {
    const value = changes[name];
    if (value === undefined) continue;
    if (added !== '' || pieces.length > 1) added += ',';
    added += `${JSON.stringify(name)}:${writeJson(value)}`;
  }
  pieces.push(Buffer.from(`${added}}`));
  let byteLength = 0;
  for (const piece of pieces) byteLength += piece.byteLength;
  return { pieces, byteLength };
}

/** True where a list or an object of the caller's is changed: parts of it may stand in what replaces it. */
function rewrites(body: ParsedBody, changes: MemberChanges): boolean {
  let isContained = false;
  let isReplaced = false;
  for (const name in changes) {
    isContained ||= isContainer(changes[name]);
    isReplaced ||= isContainer(body.value[name]);
  }
  return isContained && isReplaced;
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
