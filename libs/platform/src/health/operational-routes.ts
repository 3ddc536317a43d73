import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../metrics/metrics.js';
import type { Drain } from './drain.js';
import type { ReadinessChecks } from './readiness-checks.js';

/** Paths that are answered while draining and under pressure. */
export const OPERATIONAL_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Liveness depends on nothing; readiness on the registered checks and on not leaving. Metrics are null where they
 * have their own port.
 */
export function registerOperationalRoutes(
  instance: FastifyInstance,
  parts: { drain: Drain; readiness: ReadinessChecks; metrics: Metrics | null },
): void {
  const config = { access: { public: true } } as const;
  instance.get('/healthz', { config }, () => ({ status: 'ok' }));
  instance.get('/readyz', { config }, (_request, reply) => {
    const faults = parts.drain.leaving.aborted
      ? { drain: 'The process is draining.' }
      : parts.readiness.faults();
    const isReady = Object.keys(faults).length === 0;
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not_ready', faults });
  });
  const { metrics } = parts;
  if (metrics === null) return;
  instance.get('/metrics', { config }, async (_request, reply) => {
    return reply.type(metrics.registry.contentType).send(await metrics.scrape());
  });
}
