import type { UpstreamBody } from '@gateway/dialects';

/** The failure between us and the provider, before its answer was whole. */
export type TransportFault =
  | 'connect'
  | 'timeout_connect'
  | 'timeout_first_byte'
  | 'timeout_idle'
  | 'timeout_total'
  | 'reset'
  | 'too_large'
  | 'aborted';

export class TransportFailure extends Error {
  constructor(
    readonly fault: TransportFault,
    cause?: unknown,
  ) {
    super(`upstream transport: ${fault}`, { cause });
    this.name = 'TransportFailure';
  }
}

export interface UpstreamRequest {
  method: 'POST' | 'GET' | 'PUT';
  url: string;
  headers: Record<string, string>;
  /** Pieces written in order. */
  body: readonly Uint8Array[];
  byteLength: number;
}

/** A dialect's request at an address, with the provider's own headers. */
export function upstreamRequest(
  { method, contentType, accept, headers, pieces, byteLength }: UpstreamBody,
  url: string,
  credentials: Readonly<Record<string, string>>,
): UpstreamRequest {
  return {
    method: method ?? 'POST',
    url,
    headers:
      method === 'GET'
        ? { ...credentials, ...headers, accept }
        : { ...credentials, ...headers, 'content-type': contentType, accept },
    body: pieces,
    byteLength,
  };
}

export interface SendOptions {
  connectTimeoutMs: number;
  /** Longest time from the written request to the first byte of the answer's head. */
  firstByteTimeoutMs: number;
  /** Longest time between two chunks of the body. */
  idleTimeoutMs: number;
  totalTimeoutMs: number;
  /** Largest decoded body in bytes. */
  maxBytes: number;
  signal: AbortSignal;
}

export interface UpstreamResponse {
  status: number;
  /** Lower-case names; a repeated header is joined with ", ". */
  headers: Record<string, string>;
  /** The whole body. Rejects with TransportFailure. */
  bytes(): Promise<Uint8Array>;
  /** The body as it comes, with back-pressure. Throws TransportFailure. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Closes the connection now; what is still to come is dropped. */
  cancel(): void;
}

/** HTTP to a provider. Every bound is an option; no redirects are followed. Rejects with TransportFailure. */
export abstract class UpstreamTransport {
  abstract send(request: UpstreamRequest, options: SendOptions): Promise<UpstreamResponse>;
  abstract close(): Promise<void>;
}
