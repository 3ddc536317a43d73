import { ObjectTooLarge } from '@gateway/contracts';

/** Counts what passes through, and ends with ObjectTooLarge where it is more than it may be. */
export class Bounded {
  bytes = 0;
  /** The failure of the content itself, for its reader to judge; null while there is none. */
  failure: unknown = null;

  constructor(
    private readonly content: AsyncIterable<Uint8Array>,
    private readonly maxBytes: number,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.content) {
        this.bytes += piece.byteLength;
        if (this.bytes > this.maxBytes) throw new ObjectTooLarge(this.maxBytes);
        yield piece;
      }
    } catch (failure) {
      this.failure = failure;
      throw failure;
    }
  }
}
