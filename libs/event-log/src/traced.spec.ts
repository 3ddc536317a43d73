import type { ConsumedRecord } from '@gateway/contracts';
import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { traced } from './traced.js';

const spans = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
const consumed = { topic: 'gateway.usage.v1', group: 'usage' };
const FIRST = '4bf92f3577b34da6a3ce929d0e0e4736';
const SECOND = '0af7651916cd43dd8448eb211c80319c';
const PARENT = '00f067aa0ba902b7';

const record = (offset: number, traceparent?: string): ConsumedRecord => ({
  ...{ topic: consumed.topic, partition: 3, offset: String(offset), key: 'acct_1', value: '{}' },
  ...(traceparent === undefined ? {} : { headers: { traceparent } }),
});

describe('the spans of a batch', () => {
  beforeAll(() => provider.register());
  beforeEach(() => spans.reset());
  afterAll(async () => {
    await provider.shutdown();
    trace.disable();
  });

  it('are one for the work, and one in the trace of each record that brought one, linked both ways', async () => {
    const batch = [
      record(1, `00-${FIRST}-${PARENT}-01`),
      record(2),
      record(3, `00-${SECOND}-${PARENT}-01`),
      record(4, 'what anybody may write'),
    ];
    await traced(consumed, batch, async () => trace.getTracer('spec').startSpan('INSERT usage').end());
    const [insert, whole, ...records] = spans.getFinishedSpans();
    expect(insert.parentSpanContext?.spanId).toBe(whole.spanContext().spanId);
    expect(whole.parentSpanContext).toBeUndefined();
    expect(whole.attributes['messaging.batch.message_count']).toBe(4);
    expect(whole.links.map(({ context }) => [context.traceId, context.spanId])).toEqual([
      [FIRST, PARENT],
      [SECOND, PARENT],
    ]);
    expect(
      records.map((span) => [span.name, span.spanContext().traceId, span.parentSpanContext?.spanId]),
    ).toEqual([FIRST, SECOND].map((id) => ['process gateway.usage.v1', id, PARENT]));
    expect(records.map(({ attributes }) => attributes['messaging.kafka.offset'])).toEqual([1, 3]);
    for (const { links } of records)
      expect(links.map(({ context }) => context.spanId)).toEqual([whole.spanContext().spanId]);
  });

  it('say that the work failed, which comes again', async () => {
    const failing = traced(consumed, [record(1, `00-${FIRST}-${PARENT}-01`)], () =>
      Promise.reject(new Error('The database is away.')),
    );
    await expect(failing).rejects.toThrow('The database is away.');
    expect(spans.getFinishedSpans().map(({ status }) => status.code)).toEqual([2, 2]);
  });

  it('has as many links as a span may have, and a span for every record all the same', async () => {
    const batch = Array.from({ length: 300 }, (_, n) => record(n, `00-${FIRST}-${PARENT}-01`));
    await traced(consumed, batch, () => Promise.resolve());
    const [whole, ...records] = spans.getFinishedSpans();
    expect(whole.links).toHaveLength(128);
    expect(records).toHaveLength(300);
  });
});
