import { EventStreamCodec } from '@smithy/core/event-streams';
import { STREAM_EVENT_MAX } from '../../sse/sse-parser.js';

/** Lengths, their checksum, and the checksum of the whole. */
const FRAME_MIN = 16;

export interface EventFrame {
  messageType: string;
  /** Name of the event or of the exception. */
  name: string;
  payload: string;
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

/** Frames of application/vnd.amazon.eventstream, however the network cut them. */
export class EventFrames {
  /** Reason why nothing more is read; null while all is well. */
  fault: string | null = null;
  private parts: Uint8Array[] = [];
  private length = 0;
  private needed = FRAME_MIN;

  /** Bytes of a frame that has not come whole. */
  get isMidFrame(): boolean {
    return this.length > 0;
  }

  push(chunk: Uint8Array): EventFrame[] {
    const frames: EventFrame[] = [];
    if (this.fault !== null) return frames;
    this.parts.push(chunk);
    this.length += chunk.byteLength;
    if (this.length < this.needed) return frames;
    let bytes = Buffer.concat(this.parts, this.length);
    while (bytes.length >= FRAME_MIN) {
      const size = bytes.readUInt32BE(0);
      if (size < FRAME_MIN || size > STREAM_EVENT_MAX) {
        this.fault = 'A frame of the stream has no acceptable length.';
        break;
      }
      this.needed = size;
      if (bytes.length < size) break;
      const frame = this.frame(bytes.subarray(0, size));
      if (frame === null) break;
      frames.push(frame);
      bytes = bytes.subarray(size);
      this.needed = FRAME_MIN;
    }
    this.parts = bytes.length > 0 ? [bytes] : [];
    this.length = bytes.length;
    return frames;
  }

  private frame(bytes: Buffer): EventFrame | null {
    try {
      const { headers, body } = codec.decode(bytes);
      const text = (name: string): string => {
        const value = headers[name]?.value;
        return typeof value === 'string' ? value : '';
      };
      const name = text(':event-type') || text(':exception-type') || text(':error-code');
      const payload = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
      return { messageType: text(':message-type'), name, payload: payload || text(':error-message') };
    } catch {
      this.fault = 'A frame of the stream is damaged.';
      return null;
    }
  }
}
