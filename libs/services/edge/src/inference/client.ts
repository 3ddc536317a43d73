import type { ServerResponse } from 'node:http';
import type { Clock } from '@gateway/contracts';
import { LATE_USAGE_MS } from '@gateway/money';
import type { Deadline, Deadlines } from '@gateway/platform';

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
    raw.once('close', this.onClose);
    raw.on('drain', this.onDrain);
    if (raw.destroyed) this.onClose();
  }

  get isGone(): boolean {
    return this.goneAtMs !== null;
  }

  /** Writes, and waits while the client reads slower than it is written to. A client that reads nothing is closed. */
  async write(text: string): Promise<void> {
    if (text === '' || this.isGone) return;
    if (this.raw.write(text)) return;
    let deadline: Deadline | null = null;
    await new Promise<void>((resolve) => {
      this.drained = resolve;
      deadline = this.deadlines.set(this.stallMs, () => this.raw.destroy());
    });
    (deadline as Deadline | null)?.cancel();
  }

  private readonly onDrain = (): void => {
    this.drained?.();
    this.drained = null;
  };

  private readonly onClose = (): void => {
    this.onDrain();
    if (this.raw.writableFinished || this.isGone) return;
    this.goneAtMs = this.clock.monotonic();
    if (this.finishSeen) this.deadlines.set(LATE_USAGE_MS, () => this.upstream.abort());
    else this.upstream.abort();
  };
}
