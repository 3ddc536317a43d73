import { context, propagation, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';

/** Nest token of the tracer. Without an SDK it is the API's own no-op twin. */
export const TRACER = Symbol('Tracer');

export interface Tracing {
  /** Sends what is buffered. */
  shutdown(): Promise<void>;
}

/**
 * Loads the OpenTelemetry SDK and exports to an OTLP/HTTP endpoint. Call it only where an endpoint is configured:
 * without it nothing is loaded, and the API's calls cost nothing.
 */
export async function startTracing(options: { service: string; endpoint: string }): Promise<Tracing> {
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);

  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: 5_000,
  });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': options.service }),
    spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: 2_048 })],
  });
  provider.register();
  return { shutdown: () => provider.shutdown() };
}

/** One server span per request, continued from the caller's `traceparent`; ids and statuses only, no bodies. */
export function traceRequests(instance: FastifyInstance, tracer: Tracer): void {
  instance.addHook('onRequest', (request, reply, done) => {
    const parent = propagation.extract(context.active(), request.headers);
    const route = request.routeOptions.url ?? 'unknown';
    const span = tracer.startSpan(`${request.method} ${route}`, { kind: SpanKind.SERVER }, parent);
    span.setAttributes({
      'http.request.method': request.method,
      'http.route': route,
      'gateway.request_id': request.id,
    });
    reply.raw.once('close', () => {
      span.setAttribute('http.response.status_code', reply.raw.statusCode);
      if (reply.raw.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(trace.setSpan(parent, span), done);
  });
}
