import { ObjectTooLarge } from '@gateway/contracts';

/** Counts what passes through, and ends with ObjectTooLarge where it is more than it may be. */
export class Bounded {
  bytes = 0;

  constructor(
    private readonly content: AsyncIterable<Uint8Array>,
    private readonly maxBytes: number,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const piece of this.content) {
      this.bytes += piece.byteLength;
      if (this.bytes > this.maxBytes) throw new ObjectTooLarge(this.maxBytes);
      yield piece;
    }
  }
}
