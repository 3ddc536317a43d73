import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Random } from '@gateway/contracts';

const BASE64_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;

/**
 * The key-encryption key of a file {kek}, base64 of 32 bytes; made where the file is absent and may be. Throws Error with a
 * sentence that shows nothing of the file.
 */
export function kekFromFile(
  path: string,
  { mayCreate, random }: { mayCreate: boolean; random: Random },
): string {
  if (!existsSync(path)) {
    if (!mayCreate) throw new Error(`${path} does not exist`);
    const made = { kek: Buffer.from(random.bytes(32)).toString('base64') };
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // `wx`: two processes that start at once must not each believe in their own secrets.
    writeFileSync(path, JSON.stringify(made), { mode: 0o600, flag: 'wx' });
    return made.kek;
  }
  const held = parsed(readFileSync(path, 'utf8'));
  if (held === undefined) throw new Error(`${path}: holds no JSON`);
  const { kek } = (held ?? {}) as { kek?: unknown };
  if (typeof kek !== 'string' || !BASE64_32_BYTES.test(kek))
    throw new Error(`${path} holds no kek of 32 bytes in base64`);
  return kek;
}

/** Undefined for what is no JSON: what the parser says of it would show a part of the file. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
