import { crc32 } from 'node:zlib';

/** u32 length and u32 CRC-32 of the JSON that follows, both big-endian. */
export const FRAME_HEADER_BYTES = 8;

/**
 * Largest JSON of one frame. It is below a broker's usual limit of 1 MiB with room for the envelope. So no record is
 * journaled that the event log would refuse for ever. Also below 2^24: a header begins with a zero byte.
 */
export const MAX_FRAME_BYTES = 960 * 1024;

/** End of a run of frames: at a boundary, in a frame that was never finished, at bytes that are wrong. */
export type FrameEnd = 'more' | 'clean' | 'torn' | 'bad';

/** Returns the bytes of the frame that holds the text of `pieces`. Throws RangeError above MAX_FRAME_BYTES. */
function frameBytes(pieces: readonly string[]): number {
  let length = 0;
  for (const piece of pieces) length += Buffer.byteLength(piece);
  checkLength(length);
  return FRAME_HEADER_BYTES + length;
}

/**
 * Writes the frame into `bytes` from `at` on and returns the offset behind it. `bytes` needs room for three bytes a
 * character, or for `frameBytes(pieces)`. Throws RangeError above MAX_FRAME_BYTES.
 */
function writeFrame(pieces: readonly string[], bytes: Buffer, at: number): number {
  const start = at + FRAME_HEADER_BYTES;
  let end = start;
  for (let piece = 0; piece < pieces.length; piece += 1) end += bytes.write(pieces[piece], end, 'utf8');
  const length = end - start;
  checkLength(length);
  bytes.writeUInt32BE(length, at);
  bytes.writeUInt32BE(crc32(bytes.subarray(start, start + length)), at + 4);
  return end;
}

/** A frame in a buffer of its own. Throws RangeError above MAX_FRAME_BYTES. */
export function encodeFrame(json: string): Buffer {
  const frame = Buffer.allocUnsafe(frameBytes([json]));
  writeFrame([json], frame, 0);
  return frame;
}

function checkLength(length: number): void {
  if (length === 0 || length > MAX_FRAME_BYTES) {
    throw new RangeError(`A journal frame of ${length} bytes is outside 1 to ${MAX_FRAME_BYTES}.`);
  }
}

/**
 * Reads frames from the start of `bytes` until `take` answers false, the bytes are used up or a frame is wrong.
 * `take` gets the JSON's bytes and the offset behind the frame. `isEnd` says that no byte follows `bytes`.
 * `more`: stopped by `take`, or the next frame is not whole yet and bytes may follow.
 */
export function decodeFrames(
  bytes: Buffer,
  isEnd: boolean,
  take: (json: Buffer, end: number) => boolean,
): { consumed: number; end: FrameEnd } {
  let consumed = 0;
  while (consumed < bytes.length) {
    const fault = frameFault(bytes.subarray(consumed), isEnd);
    if (fault !== null) return { consumed, end: fault };
    const start = consumed + FRAME_HEADER_BYTES;
    const end = start + bytes.readUInt32BE(consumed);
    if (!take(bytes.subarray(start, end), end)) return { consumed: end, end: 'more' };
    consumed = end;
  }
  return { consumed, end: isEnd ? 'clean' : 'more' };
}

/** Bytes that were skipped because no frame in them holds. */
export interface BadRange {
  offset: number;
  bytes: number;
}

/**
 * Finds the next whole and valid frame at or after `from`. No JSON holds a zero byte and every header begins with one,
 * so no text of a frame passes for a header. With `isFound` false, `at` is where the search goes on with more bytes:
 * their end where none follow.
 */
export function nextFrame(bytes: Buffer, from: number, isEnd: boolean): { at: number; isFound: boolean } {
  for (let at = bytes.indexOf(0, from); at >= 0; at = bytes.indexOf(0, at + 1)) {
    if (bytes.length - at < FRAME_HEADER_BYTES) return { at: isEnd ? bytes.length : at, isFound: false };
    const length = bytes.readUInt32BE(at);
    if (length === 0 || length > MAX_FRAME_BYTES) continue;
    const start = at + FRAME_HEADER_BYTES;
    if (start + length > bytes.length) {
      if (isEnd) continue;
      return { at, isFound: false };
    }
    if (crc32(bytes.subarray(start, start + length)) === bytes.readUInt32BE(at + 4))
      return { at, isFound: true };
  }
  return { at: bytes.length, isFound: false };
}

/** Reads a whole segment, over bad ranges; answers those. A torn tail is none. */
export function readSegment(bytes: Buffer, take: (json: Buffer) => void): BadRange[] {
  const bad: BadRange[] = [];
  let offset = 0;
  for (;;) {
    const decoded = decodeFrames(bytes.subarray(offset), true, (json) => {
      take(json);
      return true;
    });
    offset += decoded.consumed;
    if (decoded.end !== 'bad') return bad;
    const next = nextFrame(bytes, offset + 1, true);
    bad.push({ offset, bytes: next.at - offset });
    offset = next.at;
  }
}

/** null where `rest` begins with a whole, right frame. */
function frameFault(rest: Buffer, isEnd: boolean): Exclude<FrameEnd, 'clean'> | null {
  if (rest.length < FRAME_HEADER_BYTES) return isEnd ? 'torn' : 'more';
  const length = rest.readUInt32BE(0);
  if (length === 0 || length > MAX_FRAME_BYTES) return isEnd && isZero(rest) ? 'torn' : 'bad';
  const stored = rest.readUInt32BE(4);
  const end = FRAME_HEADER_BYTES + length;
  if (rest.length < end) {
    if (!isEnd) return 'more';
    return isUnfinished(rest.subarray(FRAME_HEADER_BYTES), stored) ? 'torn' : 'bad';
  }
  return crc32(rest.subarray(FRAME_HEADER_BYTES, end)) === stored ? null : 'bad';
}

// A flipped bit in a length can point past the end of the file and so look like a torn tail. But JSON holds no
// zero byte and every header begins with one, so a zero means that other frames follow; and where the last frame's
// own length is wrong, its checksum still fits all that is left.
function isUnfinished(payload: Buffer, stored: number): boolean {
  return !payload.includes(0) && crc32(payload) !== stored;
}

// After a power cut a file system may have lengthened the file without having written the bytes.
function isZero(rest: Buffer): boolean {
  return rest.every((byte) => byte === 0);
}

const CHUNK_BYTES = 1024 * 1024;
const UTF8_BYTES_MAX = 3;

interface Chunk {
  bytes: Buffer;
  /** Offset behind the last frame. */
  used: number;
  /** Runs taken from it that are not released yet. */
  runs: number;
}

/** Frames that one write takes. */
export interface FrameRun {
  bytes: Buffer;
  chunk: Chunk;
}

/**
 * Frames before their write and until the disk has confirmed them, in chunks that are used again: a buffer for each
 * frame, and another to join them for the write, cost five times what writing into memory at hand does.
 */
export class FrameBuffer {
  private chunk = newChunk(CHUNK_BYTES);
  private spare: Chunk | null = null;
  /** Start of the frames that no run has taken. */
  private start = 0;

  /** Bytes that no run has taken yet. */
  get length(): number {
    return this.chunk.used - this.start;
  }

  /**
   * Appends the frame of a text in pieces: joined first, V8 would copy them once more. Throws RangeError above
   * MAX_FRAME_BYTES, and has then changed nothing.
   */
  append(pieces: readonly string[]): void {
    const { used, bytes } = this.chunk;
    let atMost = used + FRAME_HEADER_BYTES;
    for (let piece = 0; piece < pieces.length; piece += 1) atMost += UTF8_BYTES_MAX * pieces[piece].length;
    if (atMost > bytes.length) this.grow(frameBytes(pieces));
    const { chunk } = this;
    chunk.used = writeFrame(pieces, chunk.bytes, chunk.used);
  }

  /** Everything appended since the last run. Its bytes stay as they are until `release`. */
  take(): FrameRun {
    const { chunk, start } = this;
    chunk.runs += 1;
    this.start = chunk.used;
    return { bytes: chunk.bytes.subarray(start, chunk.used), chunk };
  }

  release({ chunk }: FrameRun): void {
    chunk.runs -= 1;
    if (chunk.runs > 0) return;
    if (chunk !== this.chunk) return this.keep(chunk);
    if (this.length > 0) return;
    // One that had to grow while the disk failed does not stay.
    if (chunk.bytes.length > CHUNK_BYTES) this.chunk = newChunk(CHUNK_BYTES);
    this.start = this.chunk.used = 0;
  }

  /** Moves frames that no run has taken to another chunk, so that one run stays one piece. */
  private grow(bytes: number): void {
    const { chunk, start, length } = this;
    if (chunk.used + bytes <= chunk.bytes.length) return;
    const wanted = length + bytes;
    const next = wanted <= CHUNK_BYTES ? (this.spare ?? newChunk(CHUNK_BYTES)) : newChunk(2 * wanted);
    if (next === this.spare) this.spare = null;
    chunk.bytes.copy(next.bytes, 0, start, chunk.used);
    next.used = length;
    this.chunk = next;
    this.start = 0;
    if (chunk.runs === 0) this.keep(chunk);
  }

  private keep(chunk: Chunk): void {
    if (chunk.bytes.length !== CHUNK_BYTES) return;
    chunk.used = 0;
    this.spare ??= chunk;
  }
}

function newChunk(bytes: number): Chunk {
  return { bytes: Buffer.allocUnsafeSlow(bytes), used: 0, runs: 0 };
}
