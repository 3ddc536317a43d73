import type { IncomingHttpHeaders } from 'node:http';
import { Pool, type Dispatcher, type EnvHttpProxyAgent } from 'undici';
import { withoutStack, type Clock } from '@gateway/contracts';
import { Deadlines, Later, type Deadline } from '@gateway/platform';
import {
  TransportFailure,
  UpstreamTransport,
  type SendOptions,
  type TransportFault,
  type UpstreamRequest,
  type UpstreamResponse,
} from '@gateway/providers';
import { proxiedDispatcher, type EgressProxy } from './egress-proxy.js';
import type { UpstreamTls } from './upstream-parts.js';

export interface UndiciTransportOptions {
  clock: Clock;
  /** Connections per origin. Below the number of concurrent streams, streams would queue. */
  connections: number;
  connectTimeoutMs: number;
  /** Proxy for https origins; absent = all are called directly. */
  proxy?: EgressProxy;
  /** TLS of origins that have one of their own. */
  tls?: ReadonlyMap<string, UpstreamTls>;
}

interface Target {
  dispatcher: Dispatcher;
  origin: string;
  path: string;
}

/**
 * Bodies from here on are written piece by piece instead of being joined. Below it a copy costs less than a write for each
 * piece; from here on malloc maps the copy's memory anew for each request, which costs more.
 */
const JOIN_BELOW_BYTES = 131_072;
/** Origins come from the operator's configuration, not from callers: few. */
const MOST_ORIGINS = 256;

/** HTTP/1.1 to providers through one undici pool per origin, with our own deadlines. No redirects, no decompression. */
export class UndiciTransport extends UpstreamTransport {
  private readonly pools = new Map<string, Pool>();
  private readonly deadlines: Deadlines;
  private readonly later = new Later();
  private readonly targets = new Map<string, Target>();
  private readonly proxied: EnvHttpProxyAgent | null;
  private readonly proxiedPools = new Set<Pool>();
  /** Dispatchers through the proxy of origins with a TLS of their own. */
  private readonly proxiedOwn = new Map<string, EnvHttpProxyAgent>();

  constructor(private readonly options: UndiciTransportOptions) {
    super();
    this.deadlines = new Deadlines(options.clock);
    this.proxied = this.proxiedWith();
    for (const [origin, tls] of options.tls ?? []) {
      const proxied = this.proxiedWith(tls);
      if (proxied !== null) this.proxiedOwn.set(origin, proxied);
    }
  }

  send(request: UpstreamRequest, options: SendOptions): Promise<UpstreamResponse> {
    if (options.signal.aborted) return Promise.reject(new TransportFailure('aborted', options.signal.reason));
    const { dispatcher, origin, path } = this.target(request.url);
    const exchange = new UpstreamExchange(options, this.deadlines, this.later, this.options.clock);
    dispatcher.dispatch({ origin, path, method: request.method, ...payload(request) }, exchange);
    return exchange.response;
  }

  /** Requests under way, and those that wait for a connection. */
  stats(): { running: number; waiting: number } {
    const pools = [...this.pools.values(), ...this.proxiedPools].map((pool) => pool.stats);
    return {
      running: pools.reduce((sum, { running }) => sum + running, 0),
      waiting: pools.reduce((sum, { pending }) => sum + pending, 0),
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
    await Promise.all([...this.proxiedOwn.values()].map((proxied) => proxied.destroy()));
    await this.proxied?.destroy();
    this.pools.clear();
  }

  private target(url: string): Target {
    const known = this.targets.get(url);
    if (known) return known;
    const { origin, protocol, pathname, search } = new URL(url);
    const proxied = protocol === 'https:' ? (this.proxiedOwn.get(origin) ?? this.proxied) : null;
    const dispatcher = proxied ?? this.pool(origin);
    const target = { dispatcher, origin, path: `${pathname}${search}` };
    if (this.targets.size >= MOST_ORIGINS * 4) this.targets.clear();
    this.targets.set(url, target);
    return target;
  }

  private pool(origin: string): Pool {
    const known = this.pools.get(origin);
    if (known) return known;
    if (this.pools.size >= MOST_ORIGINS) throw new TransportFailure('connect', 'too many upstream origins');
    const pool = new Pool(origin, this.poolOptions(this.options.tls?.get(origin)));
    this.pools.set(origin, pool);
    return pool;
  }

  private proxiedWith(tls?: UpstreamTls): EnvHttpProxyAgent | null {
    const { proxy, connectTimeoutMs } = this.options;
    if (proxy === undefined) return null;
    const options = { ...this.poolOptions(tls), connectTimeoutMs, requestTls: { ...tls } };
    return proxiedDispatcher(proxy, options, (pool) => this.proxiedPools.add(pool));
  }

  private poolOptions(tls?: UpstreamTls): Pool.Options {
    const { connections, connectTimeoutMs } = this.options;
    return {
      connections,
      pipelining: 1,
      // One connection lost or closed then ends one answer, not a hundred; the suites of hostile answers prove HTTP/1.1.
      allowH2: false,
      connect: { timeout: connectTimeoutMs, ...tls },
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  }
}

/** undici sets the content length itself, except of an iterable. */
function payload(request: UpstreamRequest): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  const { headers, body, byteLength } = request;
  if (byteLength === 0) return { headers, body: null };
  if (body.length === 1) return { headers, body: body[0] };
  if (byteLength < JOIN_BELOW_BYTES) return { headers, body: Buffer.concat(body, byteLength) };
  return {
    headers: { ...headers, 'content-length': String(byteLength) },
    // undici takes any iterable of buffers; its type names only streams.
    body: body as unknown as Dispatcher.DispatchOptions['body'],
  };
}

/** Bytes that may wait for a slow reader before the upstream is paused: with a read more, half of what a stream may hold. */
const BUFFER_BYTES = 65_536;

interface Waiter {
  resolve: (result: IteratorResult<Uint8Array>) => void;
  reject: (failure: Error) => void;
}

const ONCE = { once: true } as const;

/** Joins repeated headers in place: undici made the object for this answer alone. */
function joined(headers: IncomingHttpHeaders): Record<string, string> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.join(', ');
  }
  return headers as Record<string, string>;
}

/** One request and its answer: undici's handler on one side, UpstreamResponse on the other. */
class UpstreamExchange implements Dispatcher.DispatchHandler, UpstreamResponse {
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
  /** Wait of the exchange: its kind, its start, its bound, and the fault when it runs out. */
  private phase: TransportFault = 'timeout_first_byte';
  private phaseMs: number;
  private phaseLimitMs: number;
  private readonly startedMs: number;
  private deadline: Deadline;

  constructor(
    private readonly options: SendOptions,
    private readonly deadlines: Deadlines,
    private readonly later: Later,
    private readonly clock: Clock,
  ) {
    this.response = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    this.startedMs = clock.monotonic();
    this.phaseMs = this.startedMs;
    this.phaseLimitMs = options.connectTimeoutMs + options.firstByteTimeoutMs;
    // One deadline for the whole exchange, at the earliest moment that any of its limits can pass: most are over by then.
    const { firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs } = options;
    this.deadline = this.checkIn(Math.min(firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs));
    options.signal.addEventListener('abort', this, ONCE);
  }

  /**
   * The signal's: the caller no longer wants the answer. Where many leave at once, the connections of all are closed
   * before any of these failures is reported: an upstream that goes on costs the provider's tokens.
   */
  handleEvent(): void {
    const failure = withoutStack(() => this.close('aborted'));
    if (failure) this.later.add(() => this.report(failure));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure) return controller.abort(this.failure);
    // Connected: from here on the answer alone is waited for.
    this.phaseMs = this.clock.monotonic();
    this.phaseLimitMs = this.options.firstByteTimeoutMs;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (statusCode < 200) return;
    this.status = statusCode;
    this.headers = joined(headers);
    this.phase = 'timeout_idle';
    this.phaseMs = this.clock.monotonic();
    this.phaseLimitMs = this.options.idleTimeoutMs;
    this.settle?.resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.phaseMs = this.clock.monotonic();
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
    this.report(this.failure);
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
        this.phaseMs = this.clock.monotonic();
        this.controller?.resume();
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.failure) return Promise.reject(this.failure);
    if (this.isDone) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => (this.waiter = { resolve, reject }));
  }

  private checkIn(delayMs: number): Deadline {
    return this.deadlines.set(delayMs, () => this.check());
  }

  private check(): void {
    const now = this.clock.monotonic();
    const totalLeftMs = this.startedMs + this.options.totalTimeoutMs - now;
    if (totalLeftMs <= 0) return this.fail('timeout_total');
    // A reader that is slow is not an upstream that is silent.
    if (this.isPaused) this.phaseMs = now;
    const phaseLeftMs = this.phaseMs + this.phaseLimitMs - now;
    if (phaseLeftMs <= 0) return this.fail(this.controller === null ? 'timeout_connect' : this.phase);
    this.deadline = this.checkIn(Math.min(totalLeftMs, phaseLeftMs));
  }

  private faultOf(error: Error): TransportFault {
    const code = 'code' in error ? error.code : undefined;
    if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout_connect';
    return this.controller === null ? 'connect' : 'reset';
  }

  private fail(fault: TransportFault): void {
    const failure = this.close(fault);
    if (failure) this.report(failure);
  }

  /** Null where it is over already. */
  private close(fault: TransportFault): TransportFailure | null {
    if (this.isDone) return null;
    this.failure = new TransportFailure(fault, this.options.signal.reason);
    this.finish();
    this.controller?.abort(this.failure);
    return this.failure;
  }

  private report(failure: TransportFailure): void {
    this.settle?.reject(failure);
    this.waiter?.reject(failure);
    this.waiter = null;
    this.collected?.reject(failure);
    this.release();
  }

  private takeAll(): Uint8Array {
    const [first] = this.queue;
    const bytes = first && this.queue.length === 1 ? first : Buffer.concat(this.queue, this.queuedBytes);
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
    this.deadline.cancel();
    this.options.signal.removeEventListener('abort', this);
  }
}
