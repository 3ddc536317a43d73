import type { Exchange } from './http-server.js';

/** Stands in prebuilt bytes where each answer's own id goes: twelve bytes, as ids have. */
export const ID_PLACE = 'sim~~id~~sim';
const ID_LENGTH = ID_PLACE.length;
const PLACE = Buffer.from(ID_PLACE);
const MAX_ENTRIES = 256;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
const MAX_KEY_BYTES = 16 * 1024;

interface Entry {
  readonly bytes: Buffer;
  readonly places: readonly number[];
}

/**
 * Whole answers, head included, by the bytes of the request. A load generator repeats itself: its second request
 * costs one map look-up and one copy. Only answers that depend on nothing but those bytes are kept.
 */
export class PrebuiltAnswers {
  private readonly entries = new Map<string, Entry>();
  private totalBytes = 0;

  keyOf(path: string, body: Buffer): string | undefined {
    return body.length > MAX_KEY_BYTES ? undefined : path + body.toString('latin1');
  }

  /** Sends the kept answer with a new id; false where there is none. */
  send(key: string, exchange: Exchange, id: string): boolean {
    const entry = this.entries.get(key);
    if (entry === undefined) return false;
    const bytes = Buffer.allocUnsafe(entry.bytes.length);
    bytes.set(entry.bytes);
    for (const place of entry.places) bytes.write(id, place, 'latin1');
    exchange.write(bytes);
    exchange.finish();
    return true;
  }

  keep(key: string, text: string): void {
    const bytes = Buffer.from(text);
    const places: number[] = [];
    for (let at = bytes.indexOf(PLACE); at >= 0; at = bytes.indexOf(PLACE, at + ID_LENGTH)) places.push(at);
    this.totalBytes += bytes.length + key.length;
    if (this.entries.size >= MAX_ENTRIES || this.totalBytes > MAX_TOTAL_BYTES) {
      this.entries.clear();
      this.totalBytes = bytes.length + key.length;
    }
    this.entries.set(key, { bytes, places });
  }
}
