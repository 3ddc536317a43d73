import { StringDecoder } from 'node:string_decoder';

/** Longest line, in UTF-16 units. */
const LINE_MAX = 1_048_576;

/** Lines of application/x-ndjson, however the network cut them; empty ones are nothing. */
export class JsonLines {
  overflowed = false;
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';

  push(bytes: Uint8Array): string[] {
    if (this.overflowed) return [];
    return this.lines(this.decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
  }

  /** The stream closed: a last line needs no line feed. */
  end(): string[] {
    return this.overflowed ? [] : this.lines(`${this.decoder.end()}\n`);
  }

  private lines(text: string): string[] {
    const all = (this.rest + text).split('\n');
    this.rest = all.pop() ?? '';
    if (this.rest.length > LINE_MAX) this.overflowed = true;
    return all.map((line) => line.trim()).filter((line) => line !== '');
  }
}
