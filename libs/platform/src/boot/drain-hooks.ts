import { ApiError } from '@gateway/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Drain } from '../health/drain.js';
import { OPERATIONAL_PATHS } from '../health/operational-routes.js';

/** While draining every new request but those of the platform is refused. */
export function drainRefusal(drain: Drain, request: FastifyRequest): ApiError | null {
  if (!drain.isDraining || OPERATIONAL_PATHS.has(request.url)) return null;
  return new ApiError('service_draining');
}

/** Counts requests until their response is closed, whether it was finished, hijacked or cut. */
export function trackRequests(instance: FastifyInstance, drain: Drain): void {
  instance.addHook('onRequest', (_request, reply, done) => {
    if (drain.isDraining) reply.header('Connection', 'close');
    drain.entered();
    reply.raw.once('close', () => drain.left());
    done();
  });
}
