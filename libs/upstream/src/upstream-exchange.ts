import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { withoutStack, type Clock } from '@gateway/contracts';
import {
  TransportFailure,
  type SendOptions,
  type TransportFault,
  type UpstreamResponse,
} from '@gateway/providers';
import type { Deadline, Deadlines, Later } from '@gateway/platform';

/** Bytes that may wait for a slow reader before the upstream is paused: with a read more, half of what a stream may hold. */
const BUFFER_BYTES = 65_536;

interface Waiter {
  resolve: (result: IteratorResult<Uint8Array>) => void;
  reject: (failure: Error) => void;
}

function flatHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

/** One request and its answer: undici's handler on one side, UpstreamResponse on the other. */
export class UpstreamExchange implements Dispatcher.DispatchHandler, UpstreamResponse {
  status = 0;
  headers: Record<string, string> = {};
  readonly response: Promise<UpstreamResponse>;
  private settle: { resolve(response: UpstreamResponse): void; reject(failure: Error): void } | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  private queue: Uint8Array[] = [];
  private queuedBytes = 0;
  private totalBytes = 0;
  private isPaused = false;
  private isDone = false;
  private failure: TransportFailure | null = null;
  private waiter: Waiter | null = null;
  private lastByteMs = 0;
  private phase: Deadline | null = null;
  private total: Deadline;

  constructor(
    private readonly options: SendOptions,
    private readonly deadlines: Deadlines,
    private readonly later: Later,
    private readonly clock: Clock,
  ) {
    this.response = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    this.total = deadlines.set(options.totalTimeoutMs, () => this.fail('timeout_total'));
    this.phase = deadlines.set(options.connectTimeoutMs + options.firstByteTimeoutMs, () =>
      this.fail('timeout_first_byte'),
    );
    options.signal.addEventListener('abort', this, { once: true });
  }

  /**
   * The signal's: whoever asked no longer wants the answer. Where many leave at once, the connections of all are closed
   * before any of them is told: an upstream that goes on costs the provider's tokens.
   */
  handleEvent(): void {
    const failure = withoutStack(() => this.close('aborted'));
    if (failure) this.later.add(() => this.tell(failure));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure) return controller.abort(this.failure);
    // Connected: from here on the answer alone is waited for.
    this.phase?.cancel();
    this.phase = this.deadlines.set(this.options.firstByteTimeoutMs, () => this.fail('timeout_first_byte'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (statusCode < 200) return;
    this.status = statusCode;
    this.headers = flatHeaders(headers);
    this.lastByteMs = this.clock.monotonic();
    this.phase?.cancel();
    this.watchIdle(this.options.idleTimeoutMs);
    this.settle?.resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.lastByteMs = this.clock.monotonic();
    this.totalBytes += chunk.length;
    if (this.totalBytes > this.options.maxBytes) return this.fail('too_large');
    if (this.waiter) {
      const { resolve } = this.waiter;
      this.waiter = null;
      return resolve({ done: false, value: chunk });
    }
    this.queue.push(chunk);
    this.queuedBytes += chunk.length;
    if (this.queuedBytes > BUFFER_BYTES && !this.isCollecting) {
      this.isPaused = true;
      controller.pause();
    }
  }

  onResponseEnd(): void {
    this.finish();
    this.waiter?.resolve({ done: true, value: undefined });
    this.waiter = null;
    this.collected?.resolve(this.takeAll());
    this.release();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.isDone) return;
    this.failure = new TransportFailure(this.faultOf(error), error);
    this.finish();
    this.tell(this.failure);
  }

  bytes(): Promise<Uint8Array> {
    if (this.failure) return Promise.reject(this.failure);
    if (this.isDone) return Promise.resolve(this.takeAll());
    this.isCollecting = true;
    return new Promise((resolve, reject) => (this.collected = { resolve, reject }));
  }

  chunks(): AsyncIterable<Uint8Array> {
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => this.next(),
        return: () => {
          this.cancel();
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
  }

  cancel(): void {
    if (!this.isDone) this.fail('aborted');
  }

  private isCollecting = false;
  private collected: { resolve(bytes: Uint8Array): void; reject(failure: Error): void } | null = null;

  private next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.queue.shift();
    if (chunk) {
      this.queuedBytes -= chunk.length;
      if (this.isPaused && this.queuedBytes < BUFFER_BYTES / 2) {
        this.isPaused = false;
        this.controller?.resume();
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.failure) return Promise.reject(this.failure);
    if (this.isDone) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => (this.waiter = { resolve, reject }));
  }

  private watchIdle(delayMs: number): void {
    this.phase = this.deadlines.set(delayMs, () => {
      // A reader that is slow is not an upstream that is silent.
      if (this.isPaused) return this.watchIdle(this.options.idleTimeoutMs);
      const silentMs = this.clock.monotonic() - this.lastByteMs;
      if (silentMs >= this.options.idleTimeoutMs) this.fail('timeout_idle');
      else this.watchIdle(this.options.idleTimeoutMs - silentMs);
    });
  }

  private faultOf(error: Error): TransportFault {
    const code = 'code' in error ? error.code : undefined;
    if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout_connect';
    return this.controller === null ? 'connect' : 'reset';
  }

  private fail(fault: TransportFault): void {
    const failure = this.close(fault);
    if (failure) this.tell(failure);
  }

  /** Null where it is over already. */
  private close(fault: TransportFault): TransportFailure | null {
    if (this.isDone) return null;
    this.failure = new TransportFailure(fault, this.options.signal.reason);
    this.finish();
    this.controller?.abort(this.failure);
    return this.failure;
  }

  private tell(failure: TransportFailure): void {
    this.settle?.reject(failure);
    this.waiter?.reject(failure);
    this.waiter = null;
    this.collected?.reject(failure);
    this.release();
  }

  private takeAll(): Buffer {
    const bytes = Buffer.concat(this.queue, this.queuedBytes);
    this.queue = [];
    this.queuedBytes = 0;
    return bytes;
  }

  /** undici's request holds this one for longer than the answer is of use, and all that waits for it behind these. */
  private release(): void {
    this.settle = null;
    this.collected = null;
    this.controller = null;
  }

  private finish(): void {
    this.isDone = true;
    this.phase?.cancel();
    this.total.cancel();
    this.options.signal.removeEventListener('abort', this);
  }
}
