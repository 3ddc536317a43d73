import { randomBytes } from 'node:crypto';
import { eventually, startUpstreamDouble, type UpstreamDouble } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { logIn } from './harness/session.js';

interface Attribute {
  key: string;
  value: { stringValue?: string; arrayValue?: { values: { stringValue: string }[] } };
}
interface Exported {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: Omit<Span, 'service'>[] }[];
  }[];
}
interface Span {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Attribute[];
  links?: { traceId: string; spanId: string }[];
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

function spansIn(body: Buffer): Span[] {
  const { resourceSpans } = JSON.parse(body.toString()) as Exported;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const named = resource.attributes.find(({ key }) => key === 'service.name');
    const service = named?.value.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
  });
}

describe('a trace through the fleet', () => {
  let collector: UpstreamDouble;
  let fleet: Fleet;
  const seen: Span[] = [];

  beforeAll(async () => {
    collector = await startUpstreamDouble();
    collector.answer = ({ body }) => {
      seen.push(...spansIn(body));
      return { status: 200, json: {} };
    };
    fleet = await startFleet({
      env: { all: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '500' } },
    });
  }, START_MS);
  afterAll(async () => {
    await fleet?.stop();
    await collector?.close();
  }, START_MS);

  it('of a chat completion is one, from the caller over edge, keys and provider to the consumer of its usage record in Kafka', async () => {
    // Of a key that the edge has not seen: it asks the keys service for it.
    const { key } = await (await logIn(fleet)).createKey('traced');
    const answer = await fetch(`${fleet.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-${CALLER}-01`,
      },
      body: JSON.stringify({ model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('finish_reason')]);

    const ofTrace = (): Span[] => seen.filter(({ traceId }) => traceId === TRACE);
    const find = (service: string, name: RegExp): Span | undefined =>
      ofTrace().find((span) => span.service === service && name.test(span.name));
    const isWhole = (): boolean =>
      find('edge', /^POST /) !== undefined &&
      find('edge', /^chat /) !== undefined &&
      find('keys', /internal/) !== undefined &&
      find('usage', /^process /) !== undefined;
    await eventually(isWhole, { timeoutMs: 60_000 });

    const server = find('edge', /^POST /);
    expect(server).toMatchObject({ name: 'POST /v1/chat/completions', parentSpanId: CALLER });
    const call = find('edge', /^chat simulator\/chat$/);
    expect(call?.parentSpanId).toBe(server?.spanId);
    expect(call?.attributes).toContainEqual({
      key: 'gen_ai.response.finish_reasons',
      value: { arrayValue: { values: [{ stringValue: 'stop' }] } },
    });
    expect(find('keys', /internal/)?.parentSpanId).toBe(server?.spanId);
    const consumed = find('usage', /^process /);
    expect(consumed).toMatchObject({ name: 'process gateway.usage.v1', parentSpanId: server?.spanId });

    // What the ledger did for the whole batch stands below the batch's own span, one link away.
    const batchId = consumed?.links?.[0]?.spanId;
    const statements = (): Span[] => seen.filter(({ parentSpanId }) => parentSpanId === batchId);
    await eventually(() => batchId !== undefined && statements().length > 0, { timeoutMs: 60_000 });
    expect(new Set(statements().map(({ service }) => service))).toEqual(new Set(['usage']));
    expect(JSON.stringify(seen)).not.toContain(key);
  }, 180_000);

  it.each([
    ['catalogue', 'GET', '/v1/models/simulator/chat'],
    ['keys', 'GET', '/v1/keys'],
    ['usage', 'GET', '/v1/balance'],
    ['notifications', 'GET', '/alerts'],
    ['workers', 'GET', '/v1/files'],
  ])(
    'of a request that the edge passes on goes on in %s: %s %s',
    async (service, method, path) => {
      const trace = randomBytes(16).toString('hex');
      const answer = await fetch(`${fleet.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${fleet.key}`, traceparent: `00-${trace}-${CALLER}-01` },
      });
      await answer.text();
      const of = (name: string): Span[] =>
        seen.filter((span) => span.traceId === trace && span.service === name);
      await eventually(() => of('edge').length > 0 && of(service).length > 0, { timeoutMs: 60_000 });
      const [door] = of('edge');
      expect(door.parentSpanId).toBe(CALLER);
      expect(of(service).map(({ parentSpanId }) => parentSpanId)).toContain(door.spanId);
    },
    180_000,
  );
});
