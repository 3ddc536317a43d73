import { FRAME_HEADER_BYTES, frameBytes, writeFrame } from './frame.js';

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

  /** Throws RangeError above MAX_FRAME_BYTES, and has then changed nothing. */
  append(json: string): void {
    const { used, bytes } = this.chunk;
    const atMost = used + FRAME_HEADER_BYTES + UTF8_BYTES_MAX * json.length;
    if (atMost > bytes.length) this.makeRoom(frameBytes(json));
    const { chunk } = this;
    chunk.used = writeFrame(json, chunk.bytes, chunk.used);
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
  private makeRoom(bytes: number): void {
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
