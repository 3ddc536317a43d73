import type { ApiError, Random } from '@gateway/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unavailable } from '../errors/unavailable.js';
import type { Drain } from '../health/drain.js';
import { OPERATIONAL_PATHS } from '../health/operational-routes.js';
import type { Metrics } from '../metrics/metrics.js';
import type { SeriesOf, Spread } from '../metrics/series.js';
import type { Pressure } from '../pressure/pressure.js';

const CLIENT_LEFT = 499;
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export interface EntranceDeps {
  drain: Drain;
  metrics: Metrics;
  pressure: Pressure;
  random: Random;
}

/** The requests admitted to the process, and the counts of each until its response is closed. */
export class Entrance {
  private readonly duration: SeriesOf<Spread>;

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
  }

  /** Returns the refusal of every new request but those of the platform while draining. */
  draining(request: FastifyRequest, reply: FastifyReply): ApiError | null {
    if (!this.deps.drain.isDraining) return null;
    reply.header('Connection', 'close');
    if (OPERATIONAL_PATHS.has(request.url)) return null;
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
    // One listener for all of it: each costs every request.
    reply.raw.once('close', () => {
      drain.left();
      if (request.heldBytes > 0) pressure.released(request.heldBytes);
      if (!request.isOversized) this.measure(request, reply, performance.now() - startedAt);
    });
    if (OPERATIONAL_PATHS.has(request.url)) return null;
    const refusal = pressure.refusal(bodyBytes);
    // Last, because Fastify makes these options anew at every look.
    return refusal !== null && request.routeOptions.config.isFile === true ? null : refusal;
  }

  private measure(request: FastifyRequest, reply: FastifyReply, ms: number): void {
    // The pattern, never the path: a label has few values.
    const route = request.routeOptions.url ?? 'unknown';
    // A caller that left before an answer began got no 200: it counts as nginx counts it.
    const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_LEFT;
    this.duration(request.method, route, String(status)).observe(ms / 1_000);
  }
}
