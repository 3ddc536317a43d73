import { Pool, type Dispatcher, type EnvHttpProxyAgent } from 'undici';
import type { Clock } from '@gateway/contracts';
import {
  TransportFailure,
  UpstreamTransport,
  type SendOptions,
  type UpstreamRequest,
  type UpstreamResponse,
} from '@gateway/providers';
import { Deadlines, Later } from '@gateway/platform';
import { proxiedDispatcher, type EgressProxy } from './egress-proxy.js';
import { UpstreamExchange } from './upstream-exchange.js';

export interface UndiciTransportOptions {
  clock: Clock;
  /** Connections per origin. Below the number of concurrent streams, streams would queue. */
  connections: number;
  connectTimeoutMs: number;
  /** Proxy for https origins; absent = all are called directly. */
  proxy?: EgressProxy;
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

  constructor(private readonly options: UndiciTransportOptions) {
    super();
    this.deadlines = new Deadlines(options.clock);
    const { proxy, connectTimeoutMs } = options;
    this.proxied =
      proxy === undefined
        ? null
        : proxiedDispatcher(proxy, { ...this.poolOptions(), connectTimeoutMs }, (pool) =>
            this.proxiedPools.add(pool),
          );
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
    await this.proxied?.destroy();
    this.pools.clear();
  }

  private target(url: string): Target {
    const known = this.targets.get(url);
    if (known) return known;
    const { origin, protocol, pathname, search } = new URL(url);
    const dispatcher = protocol === 'https:' && this.proxied !== null ? this.proxied : this.pool(origin);
    const target = { dispatcher, origin, path: `${pathname}${search}` };
    if (this.targets.size >= MOST_ORIGINS * 4) this.targets.clear();
    this.targets.set(url, target);
    return target;
  }

  private pool(origin: string): Pool {
    const known = this.pools.get(origin);
    if (known) return known;
    if (this.pools.size >= MOST_ORIGINS) throw new TransportFailure('connect', 'too many upstream origins');
    const pool = new Pool(origin, this.poolOptions());
    this.pools.set(origin, pool);
    return pool;
  }

  private poolOptions(): Pool.Options {
    const { connections, connectTimeoutMs } = this.options;
    return {
      connections,
      pipelining: 1,
      // One connection lost or closed then ends one answer, not a hundred; the suites of hostile answers prove HTTP/1.1.
      allowH2: false,
      connect: { timeout: connectTimeoutMs },
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
