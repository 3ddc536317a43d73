import type { ParsedBody } from './parsed-body.js';
import { rememberSpelling } from './spelling.js';

const seen = new WeakSet<ParsedBody>();

/** Remembers how the caller wrote the body, before values of it are written anew. Looks at each body once. */
export function spellBody(body: ParsedBody): void {
  if (seen.has(body)) return;
  seen.add(body);
  const { buffer, byteOffset, byteLength } = body.bytes;
  rememberSpelling(body.value, Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
}
