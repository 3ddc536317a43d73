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
import '../request/gateway-request.js';
import { declaresTooMuch, sendTooLarge } from '../request/oversize.js';
import { contentEncodingFault } from './body-parsers.js';

const SERVICE_VERSION = HEADER.serviceVersion.toLowerCase();

/**
 * The order of every request: one meaning (what a neighbour could read in another way is refused), size, version
 * header, then (elsewhere) authentication, status of the key, body. A request whose length is known is judged at
 * once. The size of a chunked body is known only at its end, so its
 * rejection waits in `request.rejection` until then (pressure/body-intake.ts).
 */
export function registerRequestHooks(instance: FastifyInstance, entrance: () => Entrance | undefined): void {
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

/**
 * Two of these are two requests in one: whoever stands before us may have believed the other. Node keeps the first of
 * each and refuses a second Content-Length by itself. By length, because every request passes here.
 */
const ONCE: Readonly<Record<number, string>> = {
  4: 'host',
  12: 'content-type',
  13: 'authorization',
};
/** A name or an address, with a port (RFC 9112 3.2). */
const HOST = /^[\w.:[\]%~!$&'()*+,;=-]*$/;

/** Returns the reason why a neighbour may read an accepted request in another way; null where it may not. */
export function framingFault(request: IncomingMessage): string | null {
  const { url = '', headers, rawHeaders, httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP/${httpVersion} is not spoken here.`;
  // The absolute form is for proxies; what follows the host would be routed as if it were ours.
  if (url.charCodeAt(0) !== 47 && url !== '*') return 'The request target has to begin with a slash.';
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.trim().toLowerCase() !== 'chunked'))
    return 'The only transfer coding is chunked, and of HTTP/1.1.';
  if (!HOST.test(headers.host ?? '')) return 'The Host header is not a host.';
  return repeated(rawHeaders);
}

function repeated(rawHeaders: readonly string[]): string | null {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const { length } = rawHeaders[at];
    const name = ONCE[length];
    if (name === undefined || rawHeaders[at].toLowerCase() !== name) continue;
    if ((seen & (1 << length)) !== 0) return `The header ${name} is there twice.`;
    seen |= 1 << length;
  }
  return null;
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

  /**
   * Counts the request until its response is closed, whether it was finished, hijacked or cut, and measures it. A request
   * whose body was over the limit leaves no trace in the metrics either. Answers why it is refused, or null.
   */
  enter(request: FastifyRequest, reply: FastifyReply): ApiError | null {
    const { drain, pressure } = this.deps;
    const startedAt = performance.now();
    const bodyBytes = Number(request.headers['content-length'] ?? 0);
    drain.entered();
    const answer = reply.raw;
    this.open.add(answer);
    // One listener for all of it: each costs every request.
    answer.once('close', () => {
      drain.left();
      this.open.delete(answer);
      if (request.bufferedBytes > 0) pressure.dropped(request.bufferedBytes);
      if (!request.isOversized) this.measure(request, reply, performance.now() - startedAt);
    });
    if (OPERATIONAL_PATHS.has(request.url)) return null;
    const rejection = pressure.rejection(bodyBytes);
    // Last, because Fastify makes these options anew at every look.
    return rejection !== null && request.routeOptions.config.isFile === true ? null : rejection;
  }

  private measure(request: FastifyRequest, reply: FastifyReply, ms: number): void {
    // The pattern, never the path: a label has few values.
    const route = request.routeOptions.url ?? 'unknown';
    // A caller that left before an answer began got no 200: it counts as nginx counts it.
    const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_LEFT;
    this.duration(request.method, route, String(status)).observe(ms / 1_000);
  }
}
