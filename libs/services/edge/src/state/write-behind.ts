import type { Deadline, Deadlines } from '@gateway/platform';
import { AccountShare } from './account-share.js';

const BATCH_MAX = 64;
const RETRY_MS = 250;
const TRIES_MAX = 40;

interface Options<T> {
  write: (batch: T[]) => Promise<void>;
  accountOf: (one: T) => string;
  deadlines: Pick<Deadlines, 'set'>;
  /** Gets the number of things that will never be written. */
  onDropped: (count: number, cause: unknown) => void;
  /** Bounds of what may wait, half of it of one account, and go in one write; a single item may be larger than a write. */
  max: { waiting: number; bytes: number; batchBytes: number };
  /** Time that the first waits for others. At 0 those that come during a write make the next one. */
  lingerMs: number;
}

interface Waiting<T> {
  one: T;
  bytes: number;
  onEnd: (() => void) | undefined;
}

/** Writes behind answers: no answer waits for it, what waits is bounded, and what was not taken for ten seconds is dropped. */
export class WriteBehind<T> {
  private waiting: Waiting<T>[] = [];
  private readonly places: AccountShare;
  private readonly bytes: AccountShare;
  private timer: Deadline | null = null;
  private writing: Promise<void> | null = null;
  /** The last write failed, and is tried again. */
  isFailing = false;

  constructor(private readonly options: Options<T>) {
    this.places = new AccountShare(options.max.waiting);
    this.bytes = new AccountShare(options.max.bytes);
  }

  /** `onEnd` is called once it is written or dropped. */
  add(one: T, bytes: number, onEnd?: () => void): void {
    const { deadlines, lingerMs, onDropped } = this.options;
    if (!this.hasRoom(this.options.accountOf(one), bytes)) {
      onDropped(1, new Error('too much waits to be written'));
      return onEnd?.();
    }
    this.waiting.push({ one, bytes, onEnd });
    if (this.writing !== null) return;
    if (lingerMs === 0) this.start();
    else this.timer ??= deadlines.set(lingerMs, () => this.start());
  }

  private hasRoom(accountId: string, bytes: number): boolean {
    if (!this.places.take(accountId)) return false;
    if (this.bytes.take(accountId, bytes)) return true;
    this.places.release(accountId);
    return false;
  }

  /** Writes what waits; at the end of the process. */
  async flush(): Promise<void> {
    this.start();
    await this.writing;
  }

  private start(): void {
    this.timer?.cancel();
    this.timer = null;
    this.writing ??= this.run().finally(() => {
      this.writing = null;
    });
  }

  private async run(): Promise<void> {
    const { write, onDropped, deadlines } = this.options;
    for (let tries = 1; this.waiting.length > 0;) {
      const batch = this.next();
      try {
        await write(batch.map(({ one }) => one));
        this.drop(batch);
        this.isFailing = false;
        tries = 1;
      } catch (cause) {
        if (tries >= TRIES_MAX) {
          onDropped(batch.length, cause);
          this.drop(batch);
          tries = 1;
          continue;
        }
        tries += 1;
        this.isFailing = true;
        await new Promise<void>((resolve) => deadlines.set(RETRY_MS, resolve));
      }
    }
  }

  private next(): Waiting<T>[] {
    let bytes = 0;
    const batch: Waiting<T>[] = [];
    for (const one of this.waiting) {
      bytes += one.bytes;
      if (batch.length > 0 && (bytes > this.options.max.batchBytes || batch.length >= BATCH_MAX)) break;
      batch.push(one);
    }
    return batch;
  }

  private drop(batch: readonly Waiting<T>[]): void {
    this.waiting.splice(0, batch.length);
    for (const { one, bytes, onEnd } of batch) {
      const accountId = this.options.accountOf(one);
      this.places.release(accountId);
      this.bytes.release(accountId, bytes);
      onEnd?.();
    }
  }
}
