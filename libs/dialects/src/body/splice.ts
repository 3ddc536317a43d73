import type { ParsedBody } from './parsed-body.js';

const COMMA = Buffer.from(',');
const OPEN = Buffer.from('{');
const CLOSE = Buffer.from('}');

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
  const pending = new Set(Object.keys(changes).filter((key) => changes[key] !== undefined));
  let keepFrom = -1;
  let keepTo = -1;
  let isFirst = true;
  const flush = (): void => {
    if (keepFrom < 0) return;
    if (!isFirst) pieces.push(COMMA);
    pieces.push(body.bytes.subarray(keepFrom, keepTo));
    isFirst = false;
    keepFrom = -1;
  };
  for (const member of body.members) {
    if (!Object.hasOwn(changes, member.key)) {
      if (keepFrom < 0) keepFrom = member.start;
      keepTo = member.end;
      continue;
    }
    flush();
  }
  flush();
  for (const key of pending) {
    if (!isFirst) pieces.push(COMMA);
    pieces.push(Buffer.from(`${JSON.stringify(key)}:${JSON.stringify(changes[key])}`));
    isFirst = false;
  }
  pieces.push(CLOSE);
  let byteLength = 0;
  for (const piece of pieces) byteLength += piece.byteLength;
  return { pieces, byteLength };
}
