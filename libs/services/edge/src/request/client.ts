import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { LATE_USAGE_MS } from '@gateway/money';
import { CLOCK, Deadlines } from '@gateway/platform';
import { EdgeConfig } from '../config/edge.config.js';

/** Written at once; a client that takes less than this within the stall timeout counts as one that reads nothing. */
const PIECE_BYTES = 65_536;
/** One for all: a reason of its own costs each caller that leaves a stack, and they may leave by the thousand. */
const LEFT = new Error('The caller has left.');

/** The destination of an answer: the used part of node's ServerResponse. */
export interface AnswerSink {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly writableNeedDrain: boolean;
  readonly socket: { readonly writableLength: number; setTimeout(ms: number): unknown } | null;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'drain', listener: () => void): unknown;
  writeHead(status: number, head: Record<string, string>): unknown;
  write(out: string | Uint8Array): boolean;
  end(out?: string | Uint8Array): unknown;
  destroy(): unknown;
}

/** The caller's side of an answer: whether it is still there, the head, and writing with back-pressure. */
export class Client {
  /** True once 200 was sent. */
  isOpen = false;
  /** Rate headers of every later answer, a rejection or a failure too. */
  rateHeaders: Readonly<Record<string, string>> = {};
  /** Aborts the upstream. */
  readonly upstream = new AbortController();
  isGone = false;
  goneAtMs: number | null = null;
  /** Sees what is written, where contents are logged. */
  tee: ((out: string | Uint8Array) => void) | null = null;
  /**
   * True after a finish reason, or after the first visible output of a reasoning model: on a disconnect its usage may
   * still come for two seconds.
   */
  usageMayCome = false;
  private drained: (() => void) | null = null;

  /** `headOf` is asked once, when the answer begins, for an object of its own: headers of every answer of the request. */
  constructor(
    readonly raw: AnswerSink,
    private readonly headOf: () => Record<string, string>,
    private readonly clock: Clock,
    private readonly deadlines: Deadlines,
    private readonly stallMs: number,
  ) {
    // Not as fields of this object: V8 then carried nearly every finished request through its young collections.
    raw.on('close', () => this.onClose());
    if (raw.destroyed) this.onClose();
  }

  /** Calls back once, when the answer is closed; at once where it is. */
  whenClosed(listener: () => void): void {
    if (this.raw.destroyed) listener();
    else this.raw.on('close', listener);
  }

  /** Sends 200 and the head; a second call does nothing. */
  open(headers: Readonly<Record<string, string>>, byteLength?: number): void {
    if (this.isOpen || this.isGone) return;
    const head = Object.assign(this.headOf(), this.rateHeaders, headers);
    if (byteLength !== undefined) head['content-length'] = String(byteLength);
    // It throws for a value that no header may have: then nothing was sent, and the failure has an answer of its own.
    this.raw.writeHead(200, head);
    this.isOpen = true;
  }

  /**
   * Writes. Returns a promise where the client reads slower than it is written to, and nothing where there is nothing to
   * wait for: most frames of a stream. A client that reads nothing is closed.
   */
  write(out: string | Uint8Array): Promise<void> | undefined {
    if (out.length === 0) return undefined;
    if (this.tee !== null) this.tee(out);
    if (out.length > PIECE_BYTES) return this.writeLong(out);
    return this.isGone || this.raw.write(out) ? undefined : this.drain();
  }

  private async writeLong(out: string | Uint8Array): Promise<void> {
    const bytes = typeof out === 'string' ? Buffer.from(out) : out;
    for (let at = 0; at < bytes.length && !this.isGone; at += PIECE_BYTES)
      if (!this.raw.write(bytes.subarray(at, at + PIECE_BYTES))) await this.drain();
  }

  /** A whole answer, with its length. A client that takes none of it for the stall timeout is closed. */
  answer(out: string | Uint8Array, headers: Readonly<Record<string, string>>): void {
    if (this.tee !== null) this.tee(out);
    if (this.isGone) return;
    this.open(headers, Buffer.byteLength(out));
    this.raw.end(out);
    this.watchStall();
  }

  /** Ends a stream; what is left of it has the stall timeout. */
  end(): void {
    this.raw.end();
    this.watchStall();
  }

  /** The answer broke off and has no words for it: the connection ends, so that it is not taken for whole. */
  cut(): void {
    this.raw.destroy();
  }

  private watchStall(): void {
    const { socket } = this.raw;
    // Where the kernel took everything there is nothing to wait for; a finished answer sets the time of an idle connection.
    if (socket !== null && socket.writableLength > 0) socket.setTimeout(this.stallMs);
  }

  /** Waits until the client has read what is written, or has been closed because it reads nothing. */
  private async drain(): Promise<void> {
    const stalled = this.deadlines.set(this.stallMs, () => this.raw.destroy());
    await new Promise<void>((resolve) => {
      this.drained = resolve;
      this.raw.once('drain', resolve);
    });
    this.drained = null;
    stalled.cancel();
  }

  private onClose(): void {
    if (!this.raw.writableFinished && !this.isGone) {
      this.isGone = true;
      this.goneAtMs = this.clock.monotonic();
      if (this.usageMayCome) this.deadlines.set(LATE_USAGE_MS, () => this.upstream.abort(LEFT));
      else this.upstream.abort(LEFT);
    }
    this.drained?.();
  }
}

/** Returns the head of an answer that has none: part of another answer, or messages of a socket. */
const noHead = (): Record<string, string> => ({});

/** Callers' sides of answers, which are closed where they are not read for the stall timeout. */
@Injectable()
export class Clients {
  constructor(
    private readonly deadlines: Deadlines,
    private readonly config: EdgeConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  of(raw: AnswerSink, headOf = noHead): Client {
    return new Client(raw, headOf, this.clock, this.deadlines, this.config.CLIENT_STALL_TIMEOUT_MS);
  }
}
