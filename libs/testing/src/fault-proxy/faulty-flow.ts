import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Faults of the bytes of one direction. Changes act at once, on open connections too. */
export interface FlowFaults {
  /** Every byte arrives this much later; several may be under way at once. */
  latencyMs?: number;
  /** Upper bound of the speed, in bytes per second. */
  bytesPerSecond?: number;
  /** Largest piece that is written at once; 1 gives one byte at a time. Each piece is a write of its own. */
  pieceBytes?: number;
  /** Pause after each piece. */
  pieceIntervalMs?: number;
  /** Half-open: nothing arrives any more, neither bytes nor an end or a reset, while the connection stays. */
  isStalled?: boolean;
  /**
   * Number of bytes of one connection after which it ends: a reset of both sides, or an orderly end of this direction.
   */
  cutAfterBytes?: number;
  cutBy?: 'reset' | 'end';
}

/** Bytes that one direction keeps before it stops reading, as a full socket would. */
const BUFFERED_BYTES_MAX = 1024 * 1024;

type Held = { dueMs: number; bytes: Buffer } | { dueMs: number; close: 'end' | 'reset' };

/** One direction of one proxied connection. */
export class FaultyFlow {
  private readonly held: Held[] = [];
  private bufferedBytes = 0;
  private passedBytes = 0;
  private isRunning = false;
  private wake: () => void = () => undefined;
  private readonly abort = new AbortController();

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
    private readonly faults: () => FlowFaults,
  ) {
    from.on('data', (bytes: Buffer) => {
      this.bufferedBytes += bytes.length;
      if (this.bufferedBytes > BUFFERED_BYTES_MAX) from.pause();
      this.hold({ dueMs: this.dueMs(), bytes });
    });
    from.once('end', () => this.hold({ dueMs: this.dueMs(), close: 'end' }));
    from.once('error', () => this.hold({ dueMs: this.dueMs(), close: 'reset' }));
    to.once('close', () => this.abort.abort());
  }

  /** The faults have changed. */
  changed(): void {
    this.wake();
  }

  private dueMs(): number {
    return performance.now() + (this.faults().latencyMs ?? 0);
  }

  private hold(next: Held): void {
    this.held.push(next);
    if (!this.isRunning) void this.run();
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    try {
      for (let next = this.held[0]; next && !this.to.destroyed; next = this.held[0]) {
        await this.pauseFor(next.dueMs - performance.now());
        if ('close' in next) await this.close(next.close);
        else await this.pass(next.bytes);
        this.held.shift();
      }
    } catch (gone) {
      // The receiver went away while bytes waited for it: there is nobody to give them to.
      if (!this.to.destroyed) throw gone;
    } finally {
      this.isRunning = false;
    }
  }

  private async pass(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      await this.whileStalled();
      const { pieceBytes = bytes.length, pieceIntervalMs = 0, bytesPerSecond, cutAfterBytes } = this.faults();
      const left = cutAfterBytes === undefined ? Infinity : cutAfterBytes - this.passedBytes;
      if (left <= 0) return this.cut();
      const piece = bytes.subarray(at, at + Math.min(pieceBytes, pieceOf(bytesPerSecond), left));
      at += piece.length;
      this.passedBytes += piece.length;
      this.bufferedBytes -= piece.length;
      if (!this.to.write(piece)) await once(this.to, 'drain', { signal: this.abort.signal });
      if (this.bufferedBytes <= BUFFERED_BYTES_MAX) this.from.resume();
      await this.pauseFor(pieceIntervalMs);
      if (bytesPerSecond !== undefined) await this.pauseFor((piece.length * 1_000) / bytesPerSecond);
      if (left <= piece.length) return this.cut();
    }
  }

  private cut(): void {
    if (this.faults().cutBy === 'end') {
      this.to.end();
      return;
    }
    this.from.resetAndDestroy();
    this.to.resetAndDestroy();
  }

  private async close(how: 'end' | 'reset'): Promise<void> {
    await this.whileStalled();
    if (how === 'end') this.to.end();
    else this.to.resetAndDestroy();
  }

  private async whileStalled(): Promise<void> {
    while (this.faults().isStalled && !this.to.destroyed) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        this.abort.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  private async pauseFor(ms: number): Promise<void> {
    if (ms > 0) await pause(ms, undefined, { signal: this.abort.signal });
  }
}

/** About 20 pieces a second: a slow line trickles, it does not send a second's worth at once. */
function pieceOf(bytesPerSecond: number | undefined): number {
  return bytesPerSecond === undefined ? Infinity : Math.max(1, Math.floor(bytesPerSecond / 20));
}
