import { isIP } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { Clock } from '@gateway/contracts';
import { checkedDestination, type Destination, type DestinationRules } from './destination.js';
import { dnsResolver, systemResolve, type Resolve } from './resolver.js';

export interface GuardedHttpOptions {
  clock: Clock;
  /** `host:port` of private destinations that the operator allows. */
  allowPrivate?: readonly string[];
  ports?: readonly number[];
  /** Default: DNS, without /etc/hosts. */
  resolve?: Resolve;
}

export interface GuardedRequest {
  url: string;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  connectTimeoutMs: number;
  /** Resolving, connecting, sending and reading. */
  totalTimeoutMs: number;
  /** Number of bytes of the answer that are read; the connection ends there. */
  maxBytes: number;
}

export interface GuardedResponse {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  /** Body as it came, never unpacked. */
  body: Buffer;
  /** Larger than was read, or cut by the time. */
  isCut: boolean;
}

const PORTS = [80, 443, 8080, 8443] as const;
const HEADERS_BYTES_MAX = 32 * 1_024;

/**
 * HTTP to addresses that callers set: refuses what is not on the public Internet, when it connects, for every connection.
 * It follows no redirect and shares no connection.
 */
export class GuardedHttp {
  private readonly rules: DestinationRules;
  private readonly clock: Clock;

  constructor({ clock, allowPrivate = [], ports = PORTS, resolve = dnsResolver() }: GuardedHttpOptions) {
    this.clock = clock;
    this.rules = {
      allowPrivate: new Set(allowPrivate.map((place) => place.toLowerCase())),
      ports: new Set(ports),
      resolve,
      resolveAllowed: systemResolve,
    };
  }

  /** Throws DestinationRefused; what the resolver throws where nobody could say. */
  async check(url: string): Promise<void> {
    await checkedDestination(url, this.rules);
  }

  /** Throws DestinationRefused, and whatever ends a connection. */
  async request(request: GuardedRequest): Promise<GuardedResponse> {
    const ended = new AbortController();
    const timer = this.clock.setTimer(request.totalTimeoutMs, () =>
      ended.abort(new Error(`No answer within ${request.totalTimeoutMs} ms.`)),
    );
    try {
      const destination = await untilAborted(checkedDestination(request.url, this.rules), ended.signal);
      return await exchange(destination, request, ended.signal);
    } finally {
      timer.cancel();
    }
  }
}

async function exchange(
  { url, addresses }: Destination,
  { method, headers, body, connectTimeoutMs, maxBytes }: GuardedRequest,
  signal: AbortSignal,
): Promise<GuardedResponse> {
  const client = new Client(url.origin, {
    connect: { timeout: connectTimeoutMs, ...(addresses.length > 0 ? { lookup: only(addresses) } : {}) },
    pipelining: 1,
    maxHeaderSize: HEADERS_BYTES_MAX,
    // The signal bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const answer = await client.request({
      method,
      path: `${url.pathname}${url.search}`,
      headers,
      body,
      signal,
    });
    return {
      ...(await firstBytes(answer.body, maxBytes)),
      status: answer.statusCode,
      headers: named(answer.headers),
    };
  } finally {
    await client.destroy();
  }
}

type Lookup = NonNullable<Extract<Client.Options['connect'], { lookup?: unknown }>['lookup']>;

/** Returns a lookup without resolving: it connects to the checked addresses, whatever the name means by now. */
function only(addresses: readonly string[]): Lookup {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, answer) => {
    if (options.all === true) answer(null, found);
    else answer(null, found[0].address, found[0].family);
  };
}

/** The status is what counts: an answer that goes on for too long is cut, not failed. */
async function firstBytes(
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
): Promise<Pick<GuardedResponse, 'body' | 'isCut'>> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.length;
      if (size > maxBytes) return { body: Buffer.concat(chunks), isCut: true };
    }
  } catch {
    // Cut by the time or by the other side; what came is kept.
    return { body: Buffer.concat(chunks), isCut: true };
  }
  return { body: Buffer.concat(chunks), isCut: false };
}

function named(headers: Dispatcher.ResponseData['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    work.then(resolve, reject);
  });
}
