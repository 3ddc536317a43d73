import type { ServerResponse } from 'node:http';
import type { Clock } from '@gateway/contracts';
import { LATE_USAGE_MS } from '@gateway/money';
import type { Deadlines } from '@gateway/platform';

/** Written at once; a client that takes less than this within the stall timeout counts as one that reads nothing. */
const PIECE_BYTES = 65_536;
/** One for all: a reason of its own costs each caller that leaves a stack, and they may leave by the thousand. */
const LEFT = new Error('The caller has left.');

/** The caller's connection: whether it is still there, and writing to it with back-pressure. */
export class Client {
  /** Aborts the upstream. */
  readonly upstream = new AbortController();
  goneAtMs: number | null = null;
  /** Set once the upstream has said how the answer ends: its usage may still come for two seconds. */
  finishSeen = false;
  private drained: (() => void) | null = null;

  constructor(
    readonly raw: ServerResponse,
    private readonly clock: Clock,
    private readonly deadlines: Deadlines,
    private readonly stallMs: number,
  ) {
    // Not as fields of this object: V8 then carried nearly every finished request through its young collections.
    raw.once('close', () => this.onClose());
    raw.on('drain', () => this.onDrain());
    if (raw.destroyed) this.onClose();
  }

  get isGone(): boolean {
    return this.goneAtMs !== null;
  }

  /** Writes, and waits while the client reads slower than it is written to. A client that reads nothing is closed. */
  async write(text: string): Promise<void> {
    if (text === '') return;
    if (text.length <= PIECE_BYTES) return this.writePiece(text);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length && !this.isGone; at += PIECE_BYTES)
      await this.writePiece(bytes.subarray(at, at + PIECE_BYTES));
  }

  /** Ends the answer with what is left of it. A client that takes none of it for the stall timeout is closed. */
  end(text?: string): void {
    const { socket } = this.raw;
    if (text === undefined) this.raw.end();
    else this.raw.end(text);
    // Where the kernel took everything there is nothing to wait for; a finished answer sets the time of an idle connection.
    if (socket !== null && socket.writableLength > 0) socket.setTimeout(this.stallMs);
  }

  private async writePiece(piece: string | Buffer): Promise<void> {
    if (this.isGone || this.raw.write(piece)) return;
    const stalled = this.deadlines.set(this.stallMs, () => this.raw.destroy());
    await new Promise<void>((resolve) => (this.drained = resolve));
    stalled.cancel();
  }

  private onDrain(): void {
    this.drained?.();
    this.drained = null;
  }

  private onClose(): void {
    if (!this.raw.writableFinished && !this.isGone) {
      this.goneAtMs = this.clock.monotonic();
      if (this.finishSeen) this.deadlines.set(LATE_USAGE_MS, () => this.upstream.abort(LEFT));
      else this.upstream.abort(LEFT);
    }
    this.onDrain();
  }
}
