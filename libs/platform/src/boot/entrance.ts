import type { ApiError, Random } from '@gateway/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unavailable } from '../errors/unavailable.js';
import type { Drain } from '../health/drain.js';
import { OPERATIONAL_PATHS } from '../health/operational-routes.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Pressure } from '../pressure/pressure.js';

const CLIENT_LEFT = 499;

export interface EntranceDeps {
  drain: Drain;
  metrics: Metrics;
  pressure: Pressure;
  random: Random;
}

/** Which requests come in, and what is counted of each until its response is closed. */
export class Entrance {
  constructor(private readonly deps: EntranceDeps) {
    deps.metrics.gauge(
      'gateway_http_requests_in_flight',
      'Requests whose response is not closed yet.',
      () => deps.drain.requestsInFlight,
    );
  }

  /** While draining every new request but those of the platform is refused. */
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
      pressure.released(request.heldBytes);
      if (!request.isOversized) this.measure(request, reply, performance.now() - startedAt);
    });
    if (OPERATIONAL_PATHS.has(request.url)) return null;
    const refusal = pressure.refusal(bodyBytes);
    // Last, because Fastify makes these options anew at every look.
    return refusal !== null && request.routeOptions.config.isFile === true ? null : refusal;
  }

  private measure(request: FastifyRequest, reply: FastifyReply, ms: number): void {
    const route = request.routeOptions.url ?? 'unknown';
    // A caller that left before an answer began got no 200: it counts as nginx counts it.
    const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_LEFT;
    this.deps.metrics.requestEnded(request.method, route, status, ms / 1_000);
  }
}
