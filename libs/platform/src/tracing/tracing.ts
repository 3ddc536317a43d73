import { context, propagation, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { OPERATIONAL_PATHS } from '../health/operational-routes.js';

/** Nest token of the tracer. Without an SDK it is the API's own no-op twin. */
export const TRACER = Symbol('Tracer');

export interface Tracing {
  /** Sends what is buffered, and leaves the process without a provider. */
  shutdown(): Promise<void>;
}

/**
 * Loads the OpenTelemetry SDK and exports to an OTLP/HTTP endpoint, to its path /v1/traces. Call it only where an
 * endpoint is configured: without it nothing is loaded, and the API's calls cost nothing.
 */
export async function startTracing(options: {
  service: string;
  endpoint: string;
  /** `name=value` with commas between, values percent-encoded. */
  headers: string;
}): Promise<Tracing> {
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);

  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: 5_000,
    headers: headersIn(options.headers),
  });
  const provider = new NodeTracerProvider({
    resource: resources
      .resourceFromAttributes({ 'service.name': options.service })
      // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES of whoever deploys it come first.
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: 2_048 })],
  });
  provider.register();
  // Another start in this process registers a provider of its own: OpenTelemetry takes none beside one that is there.
  const shutdown = (): Promise<void> =>
    provider.shutdown().finally(() => [trace, context, propagation].forEach((api) => api.disable()));
  return { shutdown };
}

function headersIn(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}

/** The W3C trace context of what runs now; undefined where it is of no trace. */
export function activeTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/**
 * One server span per request but those of probes, continued from the caller's `traceparent`; ids and statuses only,
 * no bodies.
 */
export function traceRequests(instance: FastifyInstance, tracer: Tracer): void {
  instance.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    if (OPERATIONAL_PATHS.has(route)) return done();
    const parent = propagation.extract(context.active(), request.headers);
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
