import { parseSpelled, writeJson } from '@gateway/json-body';
import { ApiError, HEADER, type Clock, type ReserveMemory, type Random } from '@gateway/contracts';
import { context, propagation } from '@opentelemetry/api';
import { Agent, type Dispatcher } from 'undici';
import { serviceUnavailable, type ServiceName } from '../errors/service-unavailable.js';

export interface InternalRequest {
  service: ServiceName;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Begins with /internal/, but for reads that are public. */
  path: string;
  /** Value sent as JSON. */
  body?: unknown;
  /** Time of one attempt, connecting included. */
  timeoutMs: number;
  /** A read, or a write that may be repeated: tried once more where the first attempt had no answer. */
  idempotent: boolean;
  headers?: Readonly<Record<string, string>>;
  /** Largest answer in bytes. */
  maxBytes?: number;
  /** Gets the size of the answer before it is read; what it throws ends the request. */
  reserveMemory?: ReserveMemory;
  signal?: AbortSignal;
}

export interface InternalResponse {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  /** Parsed JSON; undefined where the answer has no body. Validate it before use. */
  body: unknown;
}

export interface InternalHttpOptions {
  clock: Clock;
  random: Random;
  fleetToken: string;
  /** Base URL by service, without a trailing slash. */
  services: Readonly<Partial<Record<ServiceName, string>>>;
}

const MAX_BYTES = 16 * 1024 * 1024;
const CONNECTIONS_PER_ORIGIN = 64;
/**
 * Age after which a kept connection between services is replaced: a balancer of TCP decides once for each connection, so
 * that a new replica would get nothing of what is kept.
 */
export const CONNECTION_AGE_MS = 30_000;
/** Calls that may take longer than this have connections of their own: they would keep all others waiting. */
const LONG_MS = 60_000;
const LONG_CONNECTIONS_PER_ORIGIN = 1_024;
/** Waiting a little lets a service that was just replaced come back; never long enough to be felt. */
const RETRY_DELAY_MS = 20;

/** HTTP between services: fleet token, time and size bounds, one retry, and 503 where there is no answer. */
export class InternalHttp {
  private readonly agent = agentOf(CONNECTIONS_PER_ORIGIN);
  private readonly longAgent = agentOf(LONG_CONNECTIONS_PER_ORIGIN);

  constructor(private readonly options: InternalHttpOptions) {}

  /**
   * Returns every status below 500. Throws ApiError `service_unavailable` where the service cannot be reached, answers
   * too late, too much or not JSON, or fails with 5xx.
   */
  async request(request: InternalRequest): Promise<InternalResponse> {
    try {
      return await this.attempt(request);
    } catch (failure) {
      const isFinal = failure instanceof ApiError || !request.idempotent || request.signal?.aborted;
      if (isFinal) throw this.failed(request, failure);
    }
    await this.options.clock.sleep(RETRY_DELAY_MS * (0.5 + this.options.random.fraction()), request.signal);
    try {
      return await this.attempt(request);
    } catch (failure) {
      throw this.failed(request, failure);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.agent.destroy(), this.longAgent.destroy()]);
  }

  private async attempt(request: InternalRequest): Promise<InternalResponse> {
    const origin = this.options.services[request.service];
    if (origin === undefined) throw new Error(`No address of the service ${request.service} is configured.`);
    const timeout = new AbortController();
    const timer = this.options.clock.setTimer(request.timeoutMs, () =>
      timeout.abort(new Error(`No answer within ${request.timeoutMs} ms.`)),
    );
    const signal =
      request.signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, request.signal]);
    try {
      const agent = request.timeoutMs > LONG_MS ? this.longAgent : this.agent;
      const response = await agent.request({
        origin,
        method: request.method,
        path: request.path,
        headers: this.headersOf(request),
        body: request.body === undefined ? undefined : writeJson(request.body),
        signal,
      });
      const bytes = await boundedBytes(response, request.maxBytes ?? MAX_BYTES, request.reserveMemory);
      if (response.statusCode >= 500) throw new ServiceFailed(response.statusCode);
      return {
        status: response.statusCode,
        headers: singleValued(response.headers),
        body: bytes.length === 0 ? undefined : parseSpelled(bytes.toString('utf8')),
      };
    } finally {
      timer.cancel();
    }
  }

  private headersOf(request: InternalRequest): Record<string, string> {
    const headers: Record<string, string> = {
      ...request.headers,
      accept: 'application/json',
      [HEADER.fleetToken]: this.options.fleetToken,
    };
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    propagation.inject(context.active(), headers);
    return headers;
  }

  private failed({ service, method, path }: InternalRequest, cause: unknown): ApiError {
    if (cause instanceof ApiError) return cause;
    return serviceUnavailable(
      service,
      this.options.random,
      new Error(`${method} ${service}${path} failed`, { cause }),
    );
  }
}

class ServiceFailed extends Error {
  constructor(readonly status: number) {
    super(`The service answered ${status}.`);
  }
}

/** Codes of connections that were never made. */
const UNSENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** True where a request's failure proves that its service has begun nothing: never reached, or refused with 503. */
export function hasBegunNothing(failure: unknown): boolean {
  for (let cause = failure; cause instanceof Error; cause = cause.cause)
    if (
      (cause instanceof ServiceFailed && cause.status === 503) ||
      UNSENT.has((cause as { code?: unknown }).code)
    )
      return true;
  return false;
}

async function boundedBytes(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  reserveMemory?: ReserveMemory,
): Promise<Buffer> {
  try {
    reserveMemory?.(Math.min(Number(response.headers['content-length'] ?? maxBytes), maxBytes));
  } catch (rejection) {
    response.body.on('error', () => undefined).destroy();
    throw rejection;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`The answer is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function singleValued(headers: Dispatcher.ResponseData['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** Returns an agent without its own time-out: `timeoutMs` of the call decides. */
function agentOf(connections: number): Agent {
  return new Agent({
    connections,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    clientTtl: CONNECTION_AGE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
