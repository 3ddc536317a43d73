import { Readable } from 'node:stream';
import { objectName, type Clock, type ObjectStore } from '@gateway/contracts';
import type { UpstreamBody, UpstreamCalls, UpstreamReply } from '@gateway/dialects';
import {
  namedAddress,
  TransportFailure,
  type SendOptions,
  type UpstreamRequest,
  type UpstreamResponse,
} from '@gateway/providers';

interface AttemptCallsOptions {
  /** Address of the provider, and of its results. */
  baseUrl: string;
  hosts: readonly string[];
  /** Bounds of the attempt as a whole. */
  bounds: SendOptions;
  signal: AbortSignal;
  clock: Clock;
  note: (task: string) => Promise<void>;
  accountId: string;
  objects: ObjectStore;
  /** Both throw UpstreamError for a status beyond 2xx. */
  send: (request: UpstreamBody, bounds: SendOptions) => Promise<UpstreamResponse>;
  fetch: (request: UpstreamRequest, bounds: SendOptions) => Promise<UpstreamResponse>;
}

/** More calls than any task takes within its deadline at the pace of its dialect. */
const CALLS_MAX = 2_000;
/** Kind of objects that the workers remove once they are past their time. */
const RESULTS = 'results';
const LINK_MS = 3_600_000;
const PIECE_BYTES = 262_144;

/** The calls of one attempt that takes several: each has what is left of the attempt's time. */
export class AttemptCalls implements UpstreamCalls {
  readonly caller: UpstreamCalls['caller'];
  private readonly endsMs: number;
  private calls = 0;

  constructor(private readonly options: AttemptCallsOptions) {
    this.caller = { accountId: options.accountId, signal: options.signal };
    this.endsMs = options.clock.monotonic() + options.bounds.totalTimeoutMs;
  }

  async send(request: UpstreamBody): Promise<UpstreamReply> {
    return replyOf(await this.options.send(request, this.bounds()));
  }

  async download(address: string): Promise<UpstreamReply> {
    const { hosts, baseUrl, fetch } = this.options;
    const url = namedAddress(address, hosts, baseUrl);
    const request: UpstreamRequest = { method: 'GET', url, headers: {}, body: [], byteLength: 0 };
    return replyOf(await fetch(request, this.bounds()));
  }

  note(task: string): Promise<void> {
    return this.options.note(task);
  }

  async sleep(ms: number): Promise<void> {
    const { clock, signal } = this.options;
    if (clock.monotonic() + ms >= this.endsMs) throw new TransportFailure('timeout_total');
    await clock.sleep(ms, signal).catch((reason: unknown) => {
      throw new TransportFailure('aborted', reason);
    });
  }

  async keep(name: string, bytes: Uint8Array): Promise<string> {
    const { objects, accountId, signal } = this.options;
    const key = objectName(RESULTS, accountId, name);
    await objects.put(key, piecesOf(bytes), { maxBytes: bytes.byteLength, signal });
    return objects.link(key, LINK_MS);
  }

  private bounds(): SendOptions {
    this.calls += 1;
    const leftMs = this.endsMs - this.options.clock.monotonic();
    if (leftMs <= 0 || this.calls > CALLS_MAX) throw new TransportFailure('timeout_total');
    const { bounds } = this.options;
    const shortened = (ms: number): number => Math.min(ms, leftMs);
    return {
      ...bounds,
      connectTimeoutMs: shortened(bounds.connectTimeoutMs),
      firstByteTimeoutMs: shortened(bounds.firstByteTimeoutMs),
      idleTimeoutMs: shortened(bounds.idleTimeoutMs),
      totalTimeoutMs: leftMs,
    };
  }
}

async function replyOf(response: UpstreamResponse): Promise<UpstreamReply> {
  const { status, headers } = response;
  return { status, contentType: headers['content-type'] ?? '', bytes: await response.bytes() };
}

function piecesOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  const count = Math.ceil(bytes.byteLength / PIECE_BYTES);
  return Readable.from(
    Array.from({ length: count }, (_, at) => bytes.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES)),
  );
}
