import { eventually, startUpstreamDouble } from '@gateway/testing';
import { startEdge } from '../edge.fixture.js';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
}
interface Exported {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
}

const CALLER = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };

describe('the trace of a request that the front door passes on', () => {
  it('goes on in the service, below the edge’s span, with the caller’s trace or one of the edge', async () => {
    const collector = await startUpstreamDouble(() => ({ status: 200, json: {} }));
    const owner = await startUpstreamDouble(() => ({ status: 200, json: {} }));
    const edge = await startEdge({ otlpEndpoint: collector.url, frontDoor: { keys: owner.url } });
    const headers = { traceparent: `00-${CALLER.trace}-${CALLER.span}-01` };
    await (await fetch(`${edge.url}/v1/keys`, { headers })).text();
    await (await fetch(`${edge.url}/v1/keys`)).text();
    await edge.close();
    const [first, second] = await eventually(() => {
      const found = collector.seen.flatMap(({ body }) =>
        (JSON.parse(body.toString()) as Exported).resourceSpans.flatMap(({ scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) => spans),
        ),
      );
      return found.length === 2 ? found : null;
    });

    const passedOn = owner.seen.map((seen) => seen.headers.traceparent);
    expect(passedOn).toEqual([first, second].map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
    expect(first).toMatchObject({ traceId: CALLER.trace, parentSpanId: CALLER.span });
    expect(second.traceId).not.toBe(CALLER.trace);
    await collector.close();
    await owner.close();
  });
});
