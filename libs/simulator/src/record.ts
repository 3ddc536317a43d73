import type { Exchange } from './http-server.js';
import { wallTime } from './pace.js';

/** One request as the simulator saw it; times are Unix milliseconds. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly receivedAt: number;
  /** `open` while the answer is being sent; `aborted` where the caller left before its end. */
  readonly state: 'open' | 'finished' | 'aborted';
  readonly aborted: boolean;
  readonly abortedAt: number | undefined;
}

class Entry implements RecordedRequest {
  readonly receivedAt = wallTime();
  abortedAt: number | undefined;

  constructor(private readonly exchange: Exchange) {}

  get method(): string {
    return this.exchange.request.method;
  }
  get path(): string {
    return this.exchange.request.path;
  }
  get headers(): Readonly<Record<string, string>> {
    return this.exchange.request.headers;
  }
  get body(): string {
    return this.exchange.request.body.toString('utf8');
  }
  get bytes(): number {
    return this.exchange.request.body.length + 1_000;
  }
  get aborted(): boolean {
    return this.abortedAt !== undefined;
  }
  get state(): RecordedRequest['state'] {
    if (this.aborted) return 'aborted';
    return this.exchange.closed ? 'finished' : 'open';
  }
  snapshot(): RecordedRequest {
    const { method, path, headers, body, receivedAt, state, aborted, abortedAt } = this;
    return { method, path, headers, body, receivedAt, state, aborted, abortedAt };
  }
}

const MAX_BYTES = 256 * 1024 * 1024;

/** The last requests, bounded by number and by bytes of body; the oldest leaves first. */
export class Recorder {
  private entries: Entry[] = [];
  private bytes = 0;

  constructor(private readonly most: number) {}

  see(exchange: Exchange): void {
    if (this.most === 0) return;
    const entry = new Entry(exchange);
    this.entries.push(entry);
    this.bytes += entry.bytes;
    // Trimming in halves keeps the cost of a request constant.
    if (this.entries.length >= this.most * 2 || this.bytes > MAX_BYTES) this.trim();
    exchange.onClose(() => (entry.abortedAt = wallTime()));
  }

  private trim(): void {
    this.entries = this.entries.slice(-this.most);
    this.bytes = this.entries.reduce((sum, entry) => sum + entry.bytes, 0);
    while (this.bytes > MAX_BYTES && this.entries.length > 1) this.bytes -= this.entries.shift()?.bytes ?? 0;
  }

  list(): RecordedRequest[] {
    return this.entries.slice(-this.most).map((entry) => entry.snapshot());
  }

  reset(): void {
    this.entries = [];
    this.bytes = 0;
  }
}
