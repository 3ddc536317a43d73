import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { SystemClock } from '@gateway/platform';
import { eventually, HeldClock } from '@gateway/testing';
import { hello, startEdge } from '../edge.fixture.js';
import { framesOf, isEnded, StreamReader } from './stream-reader.fixture.js';

const ACCEPT_MS = 12_345;
const ROADS: [string, string][] = [
  ['/v1/chat/completions', 'sim-chat'],
  ['/v1/messages', 'sim-claude'],
];

describe('U09 the drain of an edge', () => {
  it('cuts no stream that is shorter than the grace, and ships every record', async () => {
    const edge = await startEdge({ drainGraceMs: 100_000 });
    const streams = Array.from({ length: 20 }, (_, at) => {
      const [path, upstream] = ROADS[at % 2];
      const model = edge.serve(`drain/${upstream}`, `${upstream}:text=${'word '.repeat(100)};delay=20`);
      return edge.post(hello(model, { stream: true }), { path });
    });
    const answers = await Promise.all(streams);
    const texts = answers.map((answer) => answer.text());
    const closed = edge.close();
    await expect(edge.post(hello('simulator/chat')).then(({ status }) => status)).resolves.toBe(503);
    expect((await Promise.all(texts)).every(isEnded)).toBe(true);
    await closed;
    expect(edge.shipped().map(({ outcome }) => outcome)).toEqual(answers.map(() => 'served'));
  });

  it('200 plain and streamed with Connection: close, on a kept connection too, until the time for new requests is over', async () => {
    const clock = new HeldClock(new SystemClock(), ACCEPT_MS);
    const edge = await startEdge({ clock, drainAcceptMs: ACCEPT_MS, drainGraceMs: 100_000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (stream: boolean): Promise<unknown[]> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${edge.key}` };
      const asking = request(`${edge.url}/v1/chat/completions`, { agent, method: 'POST', headers });
      asking.end(JSON.stringify(hello('simulator/chat', { stream })));
      const [answer] = (await once(asking, 'response')) as [IncomingMessage];
      await text(answer);
      return [answer.statusCode, answer.headers['content-type'], answer.headers.connection];
    };
    expect(await ask(false)).toEqual([200, expect.stringContaining('application/json'), 'keep-alive']);
    const closed = edge.close();
    await clock.sleeping;
    expect(await ask(false)).toEqual([200, expect.stringContaining('application/json'), 'close']);
    expect(await ask(true)).toEqual([200, expect.stringContaining('text/event-stream'), 'close']);
    clock.wake();
    await closed;
    agent.destroy();
    expect(edge.shipped().map(({ outcome }) => outcome)).toEqual(['served', 'served', 'served']);
  });

  it('ends a longer stream in-band and a longer plain request with 503', async () => {
    const edge = await startEdge({ drainGraceMs: 300 });
    const model = edge.serve('drain/endless', 'sim-chat:endless;delay=20');
    const slow = edge.serve('drain/slow', 'sim-chat:latency=600000');
    const stream = await edge.post(hello(model, { stream: true }));
    const reader = new StreamReader(stream);
    await reader.until((text) => text.includes('content'));
    const plain = edge.post(hello(slow));
    await eventually(() => edge.upstream().length === 2);
    const closed = edge.close();
    const last = framesOf(await reader.rest()).at(-1);
    expect(last?.data).toMatchObject({ error: { code: 'service_draining' } });
    const refused = await plain;
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: 'service_draining' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await closed;
    expect(edge.shipped().map(({ outcome, error_code }) => [outcome, error_code])).toEqual([
      ['failed', 'service_draining'],
      ['failed', 'service_draining'],
    ]);
  });
});
