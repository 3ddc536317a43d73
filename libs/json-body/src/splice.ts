import type { ParsedBody } from './parsed-body.js';
import { spellBody } from './spelling.js';
import { writeJson } from './write-json.js';

const COMMA = Buffer.from(',');
const OPEN = Buffer.from('{');

/** Changed top-level members: a value is sent in place of the caller's, undefined leaves the member out. */
export type MemberChanges = Readonly<Record<string, unknown>>;

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
  for (const [name, value] of Object.entries(changes)) {
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
  const names = Object.keys(changes);
  return (
    names.some((name) => isContainer(changes[name])) && names.some((name) => isContainer(body.value[name]))
  );
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
