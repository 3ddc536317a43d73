import type { ApiError, Random } from '@gateway/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unavailable } from '../errors/unavailable.js';
import type { Drain } from '../health/drain.js';
import { OPERATIONAL_PATHS } from '../health/operational-routes.js';
import type { Metrics } from '../metrics/metrics.js';

const CLIENT_LEFT = 499;

/** While draining every new request but those of the platform is refused. */
export function drainRefusal(
  { drain, random }: { drain: Drain; random: Random },
  request: FastifyRequest,
  reply: FastifyReply,
): ApiError | null {
  if (!drain.isDraining) return null;
  reply.header('Connection', 'close');
  if (OPERATIONAL_PATHS.has(request.url)) return null;
  return unavailable(random, undefined, 'service_draining');
}

/**
 * Counts requests until their response is closed, whether it was finished, hijacked or cut, and measures them.
 * A request whose body was over the limit leaves no trace in the metrics either.
 */
export function trackRequests(instance: FastifyInstance, drain: Drain, metrics: Metrics): void {
  metrics.gauge(
    'gateway_http_requests_in_flight',
    'Requests whose response is not closed yet.',
    () => drain.requestsInFlight,
  );
  instance.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    drain.entered();
    reply.raw.once('close', () => {
      drain.left();
      if (request.isOversized) return;
      const route = request.routeOptions.url ?? 'unknown';
      // A caller that left before an answer began got no 200: it counts as nginx counts it.
      const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_LEFT;
      metrics.requestEnded(request.method, route, status, (performance.now() - startedAt) / 1000);
    });
    done();
  });
}
