import type { ConsumedRecord } from '@gateway/contracts';
import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type Tracer,
} from '@opentelemetry/api';

/** Returns the tracer of the provider that is registered now: one that is stored keeps to the first provider for good. */
const tracer = (): Tracer => trace.getTracer('gateway.event-log');
/** Number of links that the SDK stores for a span. */
const LINKS_MAX = 128;

/**
 * A span for the batch, below which what its handler asks for stands, and one for each record that brought a trace, in that
 * trace: a batch is of many. They are linked both ways.
 */
export function traced(
  { topic, group }: { topic: string; group: string },
  batch: readonly ConsumedRecord[],
  work: () => Promise<void>,
): Promise<void> {
  const attributes = {
    'messaging.system': 'kafka',
    'messaging.operation.name': 'process',
    'messaging.destination.name': topic,
    'messaging.consumer.group.name': group,
  };
  const origins = originsOf(batch);
  const options = {
    kind: SpanKind.CONSUMER,
    attributes: { ...attributes, 'messaging.batch.message_count': batch.length },
    links: origins.slice(0, LINKS_MAX).map(({ link }) => link),
  };
  return tracer().startActiveSpan(`process ${topic}`, options, async (span) => {
    const spans = [span, ...recordSpans(origins, { name: `process ${topic}`, attributes, batch: span })];
    try {
      await work();
    } catch (failure) {
      for (const one of spans) one.setStatus({ code: SpanStatusCode.ERROR });
      throw failure;
    } finally {
      for (const one of spans) one.end();
    }
  });
}

interface Origin {
  record: ConsumedRecord;
  parent: typeof ROOT_CONTEXT;
  link: Parameters<Span['addLink']>[0];
}

/** Returns the records whose header is a trace context, whoever wrote it. */
function originsOf(batch: readonly ConsumedRecord[]): Origin[] {
  const origins: Origin[] = [];
  for (const record of batch) {
    if (record.headers === undefined) continue;
    const parent = propagation.extract(ROOT_CONTEXT, record.headers);
    const context = trace.getSpanContext(parent);
    if (context !== undefined) origins.push({ record, parent, link: { context } });
  }
  return origins;
}

function recordSpans(
  origins: readonly Origin[],
  { name, attributes, batch }: { name: string; attributes: Attributes; batch: Span },
): Span[] {
  const links = [{ context: batch.spanContext() }];
  return origins.map(({ record: { partition, offset }, parent }) =>
    tracer().startSpan(
      name,
      {
        kind: SpanKind.CONSUMER,
        attributes: {
          ...attributes,
          'messaging.destination.partition.id': String(partition),
          'messaging.kafka.offset': Number(offset),
        },
        links,
      },
      parent,
    ),
  );
}
