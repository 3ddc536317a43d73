import { eventually, startUpstreamDouble } from '@gateway/testing';
import { hello, startEdge } from '../edge.fixture.js';

interface Attribute {
  key: string;
  value: {
    stringValue?: string;
    intValue?: number;
    doubleValue?: number;
    boolValue?: boolean;
    arrayValue?: { values: { stringValue: string }[] };
  };
}
interface Span {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
}

const valuesOf = ({ attributes }: Span): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const texts = (...values: string[]): object => ({ values: values.map((stringValue) => ({ stringValue })) });

const spansIn = (bodies: readonly string[]): Span[] =>
  bodies.flatMap((body) =>
    (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap(
      ({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans),
    ),
  );

describe('the trace of an inference request', () => {
  it('holds the trip to the limit store and each call of a provider, with GenAI attributes and no text', async () => {
    const collector = await startUpstreamDouble();
    collector.answer = () => ({ status: 200, json: {} });
    const edge = await startEdge({ otlpEndpoint: collector.url });
    const model = edge.serve(
      'traced/fallback',
      { provider: 'simulated', upstreamModel: 'sim-error-503-slow' },
      { provider: 'simulated-messages', upstreamModel: 'sim-claude' },
    );
    const answer = await edge.post(hello(model, { stream: true }));
    expect(await answer.text()).toContain('[DONE]');
    await edge.record(answer);
    const plain = edge.serve('traced/plain', { provider: 'simulated', upstreamModel: 'sim-chat' });
    await (await edge.post(hello(plain, { n: 2 }))).text();
    const cut = edge.serve('traced/cut', { provider: 'simulated', upstreamModel: 'sim-chat:finish=length' });
    await (await edge.post(hello(cut, { stream: true }))).text();
    const odd = edge.serve('traced/odd', {
      provider: 'simulated',
      upstreamModel: 'sim-chat:finish=what the user said',
    });
    await (await edge.post(hello(odd))).text();
    await edge.close();
    await eventually(() => collector.seen.length > 0);
    const bodies = collector.seen.map(({ body }) => body.toString());
    await collector.close();
    const spans = spansIn(bodies);
    const callsOf = (name: string): Record<string, unknown>[] =>
      spans.filter((span) => span.name === `chat ${name}`).map(valuesOf);

    const [call] = spans.filter(({ name }) => name === 'chat traced/fallback');
    const [server] = spans.filter(({ spanId }) => spanId === call.parentSpanId);
    expect(server.name).toBe('POST /v1/chat/completions');
    const below = spans.filter(({ parentSpanId }) => parentSpanId === server.spanId);
    expect(new Set(below.map(({ traceId }) => traceId))).toEqual(new Set([server.traceId]));
    const admissions = below.filter(({ name }) => name === 'EVALSHA admit');
    expect(admissions.map((span) => valuesOf(span)['gateway.admission.outcome'])).toContain('ok');
    const values = callsOf('traced/fallback');
    expect(values.at(-1)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'simulated-messages',
      'gen_ai.request.model': 'traced/fallback',
      'gen_ai.request.stream': true,
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.response.finish_reasons': texts('stop'),
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'http.response.status_code': 200,
    });
    expect(Number(values.at(-1)?.['gen_ai.usage.output_tokens'])).toBeGreaterThan(0);
    expect(values[0]).toMatchObject({
      'gen_ai.provider.name': 'simulated',
      'error.type': 'provider_overloaded',
    });
    expect(values[0]).not.toHaveProperty(['gen_ai.response.finish_reasons']);
    const reasons = ['plain', 'cut', 'odd'].map(
      (name) => callsOf(`traced/${name}`)[0]['gen_ai.response.finish_reasons'],
    );
    expect(reasons).toEqual([texts('stop', 'stop'), texts('length'), texts('other')]);
    const calls = spans.filter(({ name }) => name.startsWith('chat traced/'));
    expect(calls.every((span) => BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))).toBe(true);
    for (const body of bodies)
      for (const text of ['Hello there', 'rsk_', 'what the user said']) expect(body).not.toContain(text);
  });
});
