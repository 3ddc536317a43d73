import type { Deadline, Deadlines } from '@gateway/platform';
import type { Client } from '../request/client.js';

/** Sends a frame that says nothing into a silence. One per stream, before its first event and after. */
export class KeepAlive {
  private deadline: Deadline | null = null;
  private isStopped = false;

  /** `open` sends the head where nothing has been sent yet. */
  constructor(
    private readonly client: Client,
    private readonly deps: { deadlines: Deadlines; keepAliveMs: number },
    private readonly frame: string,
    private readonly open: () => void,
  ) {
    this.arm();
  }

  /** Bytes went out: the silence starts anew. */
  arm(): void {
    this.deadline?.cancel();
    if (this.isStopped) return;
    this.deadline = this.deps.deadlines.set(this.deps.keepAliveMs, () => {
      if (!this.client.isGone && !this.client.raw.writableNeedDrain) {
        this.open();
        this.client.raw.write(this.frame);
      }
      this.arm();
    });
  }

  stop(): void {
    this.isStopped = true;
    this.deadline?.cancel();
  }
}
