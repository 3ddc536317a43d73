import type { IncomingMessage, ServerResponse } from 'node:http';
import { BASELINE_VERSION, resolveVersion } from '@gateway/api-version';
import { ApiError, HEADER, type Random } from '@gateway/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unavailable } from '../errors/unavailable.js';
import type { Drain } from '../health/drain.js';
import { OPERATIONAL_PATHS } from '../health/operational-routes.js';
import type { Metrics } from '../metrics/metrics.js';
import type { SeriesOf, Spread } from '../metrics/series.js';
import type { Pressure } from '../pressure/pressure.js';
import type { Unanswered } from '../request/gateway-request.js';
import { declaresTooMuch, sendTooLarge } from '../request/oversize.js';
import { contentEncodingFault } from './body-parsers.js';
import { framingFault } from './framing.js';

const SERVICE_VERSION = HEADER.serviceVersion.toLowerCase();

/**
 * The order of every request: one meaning (what a neighbour could read in another way is refused), size, version
 * header, then (elsewhere) authentication, status of the key, body. A request whose length is known is judged at
 * once. The size of a chunked body is known only at its end, so its
 * rejection waits in `request.rejection` until then (pressure/body-intake.ts). One that passed Fastify by comes here only
 * for the answer to its failure, as `failed` knows it.
 */
export function registerRequestHooks(
  instance: FastifyInstance,
  entrance: () => Entrance | undefined,
  failed: (request: IncomingMessage) => FailedRequest | undefined,
): void {
  instance.decorateRequest('requestId', { getter: requestIdOf });
  instance.decorateRequest('apiVersion', BASELINE_VERSION);
  instance.decorateRequest('isVersionPinned', false);
  instance.decorateRequest('principal', null);
  instance.decorateRequest('bodyFault', null);
  instance.decorateRequest('bodyBytes', null);
  instance.decorateRequest('rejection', null);
  instance.decorateRequest('bufferedBytes', 0);
  instance.decorateRequest('isOversized', false);
  // One hook, because each costs every request.
  instance.addHook('onRequest', (request, reply, done) => {
    const failure = failed(request.raw);
    if (failure !== undefined) {
      request.apiVersion = failure.apiVersion;
      void reply.headers(failure.headers);
      return done(failure.error as Error);
    }
    const draining = entrance()?.draining(request, reply) ?? null;
    const fault = framingFault(request.raw);
    if (fault !== null) {
      reply.header('Connection', 'close');
      return done(new ApiError('bad_request', { message: fault }));
    }
    if (declaresTooMuch(request)) return sendTooLarge(request, reply);
    if (hasNul(request.url)) return done(new ApiError('not_found'));
    const rejection = readVersion(request) ?? draining;
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined) request.bodyFault = contentEncodingFault(encoding);
    if (rejection !== null) {
      if (request.headers['transfer-encoding'] === undefined) return done(rejection);
      request.rejection = rejection;
    }
    done(entrance()?.enter(request, reply) ?? undefined);
  });
}

/** A request that passed Fastify by and that nothing was answered to. */
export interface FailedRequest extends Unanswered {
  id: string;
  apiVersion: string;
}

/** No id of ours holds one, and PostgreSQL takes none in a text. Of the query it is a fault that names its parameter. */
function hasNul(url: string): boolean {
  const at = url.indexOf('%00');
  return at >= 0 && !url.slice(0, at).includes('?');
}

function requestIdOf(this: FastifyRequest): string {
  return this.id;
}

/**
 * Sets the version of the request from its header and answers why it cannot be, or null.
 * The realtime socket negotiates its version itself and ignores the header.
 */
export function readVersion(request: FastifyRequest): ApiError | null {
  const header = request.headers[SERVICE_VERSION];
  if (header === undefined || request.url.startsWith('/v1/realtime')) return null;
  try {
    request.apiVersion = resolveVersion(header, null);
    request.isVersionPinned = true;
    return null;
  } catch (failure) {
    if (failure instanceof ApiError) return failure;
    throw failure;
  }
}

/** Ends the connection after this answer, whoever writes its head: Node's own `Connection: close`. */
function closeAfter(answer: ServerResponse): void {
  answer.shouldKeepAlive = false;
}

const CLIENT_LEFT = 499;
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

interface EntranceDeps {
  drain: Drain;
  metrics: Metrics;
  pressure: Pressure;
  random: Random;
}

/** The used part of a request, Fastify's own or one that passed it by. */
interface CountedRequest {
  readonly method: string;
  readonly routeOptions: { readonly url?: string };
  readonly bufferedBytes: number;
  readonly isOversized: boolean;
}

/** The requests admitted to the process, and the counts of each until its response is closed. */
export class Entrance {
  private readonly duration: SeriesOf<Spread>;
  private readonly open = new Set<ServerResponse>();

  constructor(private readonly deps: EntranceDeps) {
    this.duration = deps.metrics.histogram(
      'gateway_http_request_duration_seconds',
      'Requests by route and status; the count of it is the number of requests.',
      ['method', 'route', 'status'],
      SECONDS_BUCKETS,
    );
    deps.metrics.gauge(
      'gateway_http_requests_in_flight',
      'Requests whose response is not closed yet.',
      () => deps.drain.requestsInFlight,
    );
    deps.drain.leaving.addEventListener('abort', () => {
      for (const answer of this.open) closeAfter(answer);
    });
  }

  /** Returns the rejection of every new request but those of the platform while draining; while leaving each answer closes. */
  draining(request: FastifyRequest, reply: FastifyReply): ApiError | null {
    const { drain } = this.deps;
    if (!drain.leaving.aborted) return null;
    closeAfter(reply.raw);
    if (!drain.isDraining || OPERATIONAL_PATHS.has(request.url)) return null;
    return unavailable(this.deps.random, undefined, { code: 'service_draining' });
  }

  /** True where a request with a body of so many bytes is let in: no drain, no pressure. */
  lets(bodyBytes: number): boolean {
    const { drain, pressure } = this.deps;
    return !drain.leaving.aborted && pressure.rejection(bodyBytes) === null;
  }

  /** Counts bytes of a large body that passes Fastify by. Returns the reason to keep no more of it, or null. */
  arrived(request: { bufferedBytes: number }, bytes: number): ApiError | null {
    const { pressure } = this.deps;
    request.bufferedBytes += bytes;
    const rejection = pressure.arrived(bytes, request.bufferedBytes);
    if (rejection === null) return null;
    pressure.dropped(request.bufferedBytes);
    request.bufferedBytes = 0;
    return rejection;
  }

  /** Counts the request, and answers why it is refused, or null. */
  enter(request: FastifyRequest, reply: FastifyReply): ApiError | null {
    this.count(request, reply.raw);
    if (OPERATIONAL_PATHS.has(request.url)) return null;
    const rejection = this.deps.pressure.rejection(Number(request.headers['content-length'] ?? 0));
    // Last, because Fastify makes these options anew at every look.
    return rejection !== null && request.routeOptions.config.isFile === true ? null : rejection;
  }

  /**
   * Counts the request until its response is closed, whether it was finished, hijacked or cut, and measures it. A request
   * whose body was over the limit leaves no trace in the metrics either.
   */
  count(request: CountedRequest, answer: ServerResponse): void {
    const { drain, pressure } = this.deps;
    const startedAt = performance.now();
    drain.entered();
    this.open.add(answer);
    // One listener for all of it: each costs every request.
    answer.on('close', () => {
      drain.left();
      this.open.delete(answer);
      if (request.bufferedBytes > 0) pressure.dropped(request.bufferedBytes);
      if (!request.isOversized) this.measure(request, answer, performance.now() - startedAt);
    });
  }

  private measure(request: CountedRequest, answer: ServerResponse, ms: number): void {
    // The pattern, never the path: a label has few values.
    const route = request.routeOptions.url ?? 'unknown';
    // A caller that left before an answer began got no 200: it counts as nginx counts it.
    const status = answer.headersSent ? answer.statusCode : CLIENT_LEFT;
    this.duration(request.method, route, String(status)).observe(ms / 1_000);
  }
}
