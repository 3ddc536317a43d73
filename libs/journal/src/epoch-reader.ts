import { join } from 'node:path';
import { type Disk, segmentName, segmentsIn } from './disk.js';
import { decodeFrames, FRAME_HEADER_BYTES, MAX_FRAME_BYTES, nextFrame } from './frame.js';
import type { Position } from './segment-writer.js';

/** One read: holds the largest frame whole. */
export const WINDOW_BYTES = Math.max(1024 * 1024, FRAME_HEADER_BYTES + MAX_FRAME_BYTES);

/** Bytes of a segment in which no frame holds; the reading goes on behind them. */
export interface BadFrame {
  path: string;
  offset: number;
  lostBytes: number;
}

/** Reads the frames of one epoch in order, window by window, segment by segment. */
export class EpochReader {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly onBad: (bad: BadFrame) => void;
  private segment = 0;
  private offset = 0;
  private fd = -1;
  /** Start of the bad range that is being skipped. */
  private badFrom: number | null = null;
  /** Bytes of the window before the frame that was found. */
  private skipped = 0;

  constructor(disk: Disk, folder: string, onBad: (bad: BadFrame) => void) {
    this.disk = disk;
    this.folder = folder;
    this.onBad = onBad;
  }

  /** Back to the oldest segment. */
  async rewind(): Promise<void> {
    await this.close();
    this.segment = 0;
    this.offset = 0;
    this.badFrom = null;
  }

  /**
   * Hands on frames until `take` answers false or a window is used up. `limit` is how far a living epoch is synced;
   * null for a dead one, which is read whole. False where nothing is left to read now.
   */
  async read(window: Buffer, limit: Position | null, take: (json: Buffer) => boolean): Promise<boolean> {
    if (this.fd < 0 && !(await this.openNext(limit))) return false;
    const end = limit !== null && limit.segment === this.segment ? limit.offset : Number.POSITIVE_INFINITY;
    const wanted = Math.min(window.length, end - this.offset);
    const size = wanted > 0 ? await this.disk.read(this.fd, window, wanted, this.offset) : 0;
    // A short read is the end of the file: nothing but this lib writes it, and a living one only behind `end`.
    const isEnd = size < window.length;
    const bytes = window.subarray(0, size);
    if (this.badFrom !== null && !this.skip(bytes, isEnd)) {
      if (!isEnd) return true;
    } else {
      const begin = this.skipped;
      const decoded = decodeFrames(bytes.subarray(begin), isEnd, (json) => take(json));
      this.skipped = 0;
      this.offset += decoded.consumed;
      if (decoded.end === 'more') return true;
      if (decoded.end === 'bad') {
        this.badFrom = this.offset;
        this.offset += 1;
        return true;
      }
    }
    if (limit !== null && limit.segment <= this.segment) return false;
    // This segment is done: a torn tail is cut by not being read.
    await this.close();
    return true;
  }

  /** True where a frame holds again: the offset stands before it. Else everything is skipped that was looked at. */
  private skip(bytes: Buffer, isEnd: boolean): boolean {
    const { at, isFound } = nextFrame(bytes, 0, isEnd);
    this.offset += at;
    this.skipped = isFound ? at : 0;
    if (isFound || isEnd) this.reportBad();
    return isFound;
  }

  async close(): Promise<void> {
    if (this.fd >= 0) await this.disk.close(this.fd);
    this.fd = -1;
  }

  private async openNext(limit: Position | null): Promise<boolean> {
    const next = segmentsIn(this.disk, this.folder).find((index) => index > this.segment);
    if (next === undefined || (limit !== null && next > limit.segment)) return false;
    this.fd = await this.disk.openToRead(this.path(next));
    this.segment = next;
    this.offset = 0;
    return true;
  }

  private reportBad(): void {
    const offset = this.badFrom ?? this.offset;
    this.badFrom = null;
    this.onBad({ path: this.path(this.segment), offset, lostBytes: this.offset - offset });
  }

  private path(index: number): string {
    return join(this.folder, segmentName(index));
  }
}
