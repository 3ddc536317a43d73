import type { AdmitResult } from '@gateway/contracts';
import type { Metrics } from '@gateway/platform';
import { SpanKind, SpanStatusCode, type Attributes, type Tracer } from '@opentelemetry/api';
import { EdgeMetrics, type EndedUnit, type MeasuredAttempt, type OpenedUnit } from './edge-metrics.js';

/** GenAI semantic conventions: what an endpoint does; other endpoints are named by their last word. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/messages': 'chat',
  '/v1/responses': 'chat',
};

const FINISH_REASON = /^\w{1,40}$/;

/**
 * The same figures, and a span for each trip to the limit store and each call of a provider. A span is written when that
 * is over, from what is measured anyway. It stands in EdgeMetrics' place only where traces are collected: without,
 * nothing of it runs.
 */
export class TracedEdgeMetrics extends EdgeMetrics {
  constructor(
    metrics: Metrics,
    private readonly tracer: Tracer,
    private readonly now: () => number,
  ) {
    super(metrics);
  }

  override admitted(result: AdmitResult | null, ms: number): void {
    super.admitted(result, ms);
    const endMs = this.now();
    const attributes = {
      'db.system.name': 'redis',
      'db.operation.name': 'EVALSHA',
      'db.stored_procedure.name': 'admit',
      'gateway.admission.outcome': result?.kind ?? 'error',
    };
    this.write('EVALSHA admit', {
      startMs: endMs - ms,
      endMs,
      attributes,
      fault: result === null ? 'error' : null,
    });
  }

  override unitEnded(opened: OpenedUnit, unit: EndedUnit, measured: readonly MeasuredAttempt[]): void {
    super.unitEnded(opened, unit, measured);
    const { endpoint, stream } = opened;
    const operation = OPERATIONS[endpoint] ?? endpoint.slice(endpoint.lastIndexOf('/') + 1);
    for (const [at, attempt] of unit.attempts.entries()) {
      const startMs = Date.parse(attempt.started_at);
      this.write(`${operation} ${attempt.model}`, {
        startMs,
        endMs: startMs + attempt.latency_ms,
        fault: attempt.status === 'success' ? null : (attempt.provider_code ?? attempt.error_code ?? 'error'),
        attributes: {
          'gen_ai.operation.name': operation,
          'gen_ai.provider.name': attempt.provider,
          'gen_ai.request.model': attempt.model,
          'gen_ai.request.stream': stream,
          'gen_ai.usage.input_tokens': attempt.prompt_tokens,
          'gen_ai.usage.output_tokens': attempt.completion_tokens,
          ...finishReasons(measured[at]),
          ...(attempt.ttft_ms == null
            ? {}
            : { 'gen_ai.response.time_to_first_chunk': attempt.ttft_ms / 1_000 }),
          ...(attempt.http_status == null ? {} : { 'http.response.status_code': attempt.http_status }),
          'gateway.attempt': attempt.n,
        },
      });
    }
  }

  private write(
    name: string,
    {
      startMs,
      endMs,
      attributes,
      fault,
    }: { startMs: number; endMs: number; attributes: Attributes; fault: string | null },
  ): void {
    const span = this.tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: startMs, attributes });
    if (fault !== null) {
      span.setAttribute('error.type', fault);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(endMs);
  }
}

/** Returns only values in the form of a finish reason: providers may write anything there. */
function finishReasons({ meter }: MeasuredAttempt): Attributes {
  const reasons = meter.finishReasons.map((reason) => (FINISH_REASON.test(reason) ? reason : 'other'));
  return reasons.length === 0 ? {} : { 'gen_ai.response.finish_reasons': reasons };
}
