import { StringDecoder } from 'node:string_decoder';
import { STREAM_EVENT_MAX } from '../../sse/sse-parser.js';

/** Number of pieces of one line at which they are joined: a piece costs more memory than its characters. */
const PIECES_MAX = 1_024;

/** Lines of application/x-ndjson, however the network cut them; empty ones are nothing. */
export class JsonLines {
  overflowed = false;
  private readonly decoder = new StringDecoder('utf8');
  /** Pieces of a line whose end has not come: joined once it has, so that each character is looked at once. */
  private rest: string[] = [];
  /** Joined pieces before them of the same line. */
  private joined: string[] = [];
  private restLength = 0;

  push(bytes: Uint8Array): string[] {
    if (this.overflowed) return [];
    return this.lines(this.decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
  }

  /** The stream closed: a last line needs no line feed. */
  end(): string[] {
    return this.overflowed ? [] : this.lines(`${this.decoder.end()}\n`);
  }

  private lines(text: string): string[] {
    const [first = '', ...others] = text.split('\n');
    this.rest.push(first);
    this.restLength += first.length;
    if (this.restLength > STREAM_EVENT_MAX) this.overflowed = true;
    if (this.rest.length >= PIECES_MAX) this.joined.push(this.rest.splice(0).join(''));
    if (others.length === 0) return [];
    const all = [[...this.joined, ...this.rest].join(''), ...others];
    const last = all.pop() ?? '';
    this.rest = [last];
    this.joined = [];
    this.restLength = last.length;
    return all.map((line) => line.trim()).filter((line) => line !== '');
  }
}
