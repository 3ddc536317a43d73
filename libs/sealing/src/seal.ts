import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '@gateway/contracts';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM: iv, tag, ciphertext. `context` binds the text to its row. */
export function seal(
  plain: Uint8Array,
  key: Uint8Array,
  context: string,
  random: Random,
): Uint8Array<ArrayBuffer> {
  const iv = random.bytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return new Uint8Array(Buffer.concat([iv, cipher.getAuthTag(), body]));
}

/** Throws where the key, the context or a byte differs. */
export function unseal(sealed: Uint8Array, key: Uint8Array, context: string): Buffer {
  const iv = sealed.subarray(0, IV_BYTES);
  // Without authTagLength Node accepts a tag that was cut short.
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
}

/** Opens with the first key that fits. Throws where none does. */
export function unsealWithAny(sealed: Uint8Array, keys: readonly Uint8Array[], context: string): Buffer {
  let failure: unknown;
  for (const key of keys) {
    try {
      return unseal(sealed, key, context);
    } catch (cause) {
      failure = cause;
    }
  }
  throw new Error('None of the keys opens it.', { cause: failure });
}
