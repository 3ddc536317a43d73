/** `<kind>/<account>/<name>`, all of our own making: no part of it is ever a caller's text. */
export type ObjectKey = `${string}/${string}/${string}`;

/** An object with its content, which has to be read to its end or destroyed. */
export interface StoredObject {
  bytes: number;
  contentType: string;
  content: AsyncIterable<Uint8Array> & { destroy(): void };
}

const PART = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}\.[a-z0-9]{1,8}$/;

/** An object above the size bound; nothing of it is stored. */
export class ObjectTooLarge extends Error {
  constructor(readonly maxBytes: number) {
    super(`An object is larger than ${maxBytes} bytes.`);
    this.name = 'ObjectTooLarge';
  }
}

/**
 * Throws TypeError where a part is not one of ours: letters, digits, `-` and `_`, and a name with its extension, which
 * says what it holds.
 */
export function objectName(kind: string, accountId: string, name: string): ObjectKey {
  if (!PART.test(kind) || !PART.test(accountId) || !NAME.test(name))
    throw new TypeError('This is no name of an object.');
  return `${kind}/${accountId}/${name}`;
}

/**
 * Files of callers and results of models. Drivers: a folder of this machine; S3. No object is ever whole in memory.
 * Throws ApiError `service_unavailable` where the store cannot be reached.
 */
export abstract class ObjectStore {
  /**
   * Keeps what `content` gives, in place of what was there: whole or not at all. Throws ObjectTooLarge, and what
   * `content` throws.
   */
  abstract put(
    key: ObjectKey,
    content: AsyncIterable<Uint8Array>,
    options: { maxBytes: number; signal?: AbortSignal },
  ): Promise<{ bytes: number }>;
  /** Null where there is none. */
  abstract get(key: ObjectKey): Promise<StoredObject | null>;
  /** An address that gives the object to whoever has it, until `forMs` from now: at most seven days. */
  abstract link(key: ObjectKey, forMs: number): Promise<string>;
  /** Removes it; one that is not there is no fault. */
  abstract remove(key: ObjectKey): Promise<void>;
  /** Removes all objects of a kind, or those of one account; with `before` only what was put earlier. Returns how many. */
  abstract removeAll(of: { kind: string; accountId?: string; before?: Date }): Promise<number>;
}
