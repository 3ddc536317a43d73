import { eventually, startUpstreamDouble } from '@gateway/testing';
import { startProbe } from '../boot/probe-app.fixture.js';

interface Exported {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: { name: string; traceId: string; parentSpanId?: string }[] }[];
  }[];
}

describe('traces', () => {
  it('go to /v1/traces below the endpoint, named by the environment, continued from the caller, without probes', async () => {
    const collector = await startUpstreamDouble();
    collector.answer = () => ({ status: 200, json: {} });
    process.env.OTEL_RESOURCE_ATTRIBUTES = 'deployment.environment.name=blue';
    process.env.OTEL_SERVICE_NAME = 'edge-of-blue';
    const probe = await startProbe({
      otlpEndpoint: `${collector.url}/`,
      otlpHeaders: 'authorization=Bearer%20collector,x-team=a',
    });
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    for (const path of ['/healthz', '/readyz', '/readyz?from=balancer', '/v1/open'])
      await (await fetch(`${probe.url}${path}`, { headers })).text();
    await probe.close();
    delete process.env.OTEL_RESOURCE_ATTRIBUTES;
    delete process.env.OTEL_SERVICE_NAME;
    await eventually(() => collector.seen.length > 0);
    expect(collector.seen.map(({ path }) => path)).toEqual(['/v1/traces']);
    expect(collector.seen[0].headers).toMatchObject({ authorization: 'Bearer collector', 'x-team': 'a' });
    const [{ resource, scopeSpans }] = (JSON.parse(collector.seen[0].body.toString()) as Exported)
      .resourceSpans;
    const attributes = Object.fromEntries(
      resource.attributes.map(({ key, value }) => [key, value.stringValue]),
    );
    expect(attributes).toMatchObject({
      'service.name': 'edge-of-blue',
      'deployment.environment.name': 'blue',
    });
    const spans = scopeSpans.flatMap(({ spans: found }) => found);
    expect(spans).toEqual([
      expect.objectContaining({ name: 'GET /v1/open', traceId, parentSpanId: 'b7ad6b7169203331' }),
    ]);
    await collector.close();
  });
});
