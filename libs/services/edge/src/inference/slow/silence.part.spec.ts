import { hello, type EdgeUnderTest, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { framesOf, isEnded } from '../stream-reader.fixture.js';
import { started } from './slow.fixture.js';

const edge = tenantOf(started, 'silence');

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
/** Every front over every upstream dialect. */
const ROADS: [string, string, string][] = [
  ['chat over chat', CHAT, 'sim-chat'],
  ['chat over messages', CHAT, 'sim-claude'],
  ['messages over messages', MESSAGES, 'sim-claude'],
  ['messages over chat', MESSAGES, 'sim-chat'],
];

function stream(
  edge: EdgeUnderTest,
  path: string,
  upstreamModel: string,
  more: Json = {},
): Promise<Response> {
  const model = edge.serve('stream/scripted', upstreamModel);
  return edge.post(hello(model, { stream: true, ...more }), { path });
}

describe('streams of a silent provider', () => {
  it.each(ROADS)(
    'U04 %s: silence is answered with 200 and a keep-alive, and a fallback still serves',
    async (_road, path, upstream) => {
      const model = edge.serve(
        'stream/scripted',
        `${upstream}:latency=1000;error=${upstream === 'sim-chat' ? '503-overloaded' : '529'};retry_after=9`,
        upstream,
      );
      const response = await edge.post(hello(model, { stream: true }), { path });
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text.startsWith(path === CHAT ? ': keep-alive\n\n' : 'event: ping\n')).toBe(true);
      expect(isEnded(text)).toBe(true);
      expect(text).not.toContain('"error"');
      expect(await edge.record(response)).toMatchObject({ outcome: 'served', http_status: 200 });
    },
  );

  it.each(ROADS)('%s: after a keep-alive a failure is in-band', async (_road, path, upstream) => {
    const response = await stream(
      edge,
      path,
      `${upstream}:latency=1000;error=${upstream === 'sim-chat' ? 'invalid-value' : 'invalid'}`,
    );
    expect(response.status).toBe(200);
    const frames = framesOf(await response.text());
    expect(frames.at(-1)?.data).toMatchObject({ error: { code: 'invalid_request' } });
    expect(isEnded(frames.at(-1)?.text ?? '')).toBe(false);
    expect(await edge.record(response)).toMatchObject({
      outcome: 'failed',
      http_status: 200,
      error_code: 'invalid_request',
      cost_usd: null,
    });
  });

  it.each(ROADS)('%s: a pause in the middle is filled with keep-alives', async (_road, path, upstream) => {
    const text = await (await stream(edge, path, `${upstream}:silent=1000;silent_at=3`)).text();
    expect(text).toContain(path === CHAT ? ': keep-alive' : 'event: ping');
    expect(isEnded(text)).toBe(true);
  });
});
