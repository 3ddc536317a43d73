import { eventually } from '@gateway/testing';
import { hello, type EdgeUnderTest, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { framesOf, isEnded, spoken, StreamReader } from '../stream-reader.fixture.js';
import { started } from './text.fixture.js';

const edge = tenantOf(started, 'streams');

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

describe('streams', () => {
  it.each(ROADS)(
    'CHAT-15 MSG-05 %s: the same text as the plain answer, then the end',
    async (_road, path, upstream) => {
      const response = await stream(edge, path, upstream);
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
      expect(response.headers.get('x-accel-buffering')).toBe('no');
      const frames = framesOf(await response.text());
      const plain = (await (await edge.post(hello('simulator/chat'))).json()) as {
        choices: { message: { content: string } }[];
      };
      expect(spoken(frames)).toBe(plain.choices[0].message.content);
      expect(frames.at(-1)?.text).toBe(
        path === CHAT ? 'data: [DONE]' : 'event: message_stop\ndata: {"type":"message_stop"}',
      );
      expect(await edge.record(response)).toMatchObject({
        status: 'success',
        outcome: 'served',
        stream: true,
        ttft_ms: expect.any(Number),
        http_status: 200,
      });
    },
  );

  it.each(ROADS)(
    'MSG-01 MSG-02 USG-02 %s: usage of the answer is the usage of the record',
    async (_road, path, upstream) => {
      const response = await stream(edge, path, `${upstream}:prompt=50;completion=20`);
      const frames = framesOf(await response.text());
      const { usage } = await edge.record(response);
      expect(usage).toMatchObject({ prompt_tokens: 50, completion_tokens: 20 });
      if (path === CHAT) {
        expect(frames.at(-2)?.data).toMatchObject({
          choices: [],
          usage: { prompt_tokens: 50, completion_tokens: 20, total_tokens: 70 },
        });
        return;
      }
      expect(frames[0].data).toMatchObject({
        type: 'message_start',
        message: { usage: { input_tokens: 0, output_tokens: 0 } },
      });
      expect(frames.at(-2)?.data).toMatchObject({
        type: 'message_delta',
        usage: { input_tokens: 50, output_tokens: 20 },
      });
    },
  );

  it.each(ROADS)(
    'USG-01 %s: without a usage of the provider the answer shows 0, and the estimate is billed',
    async (_road, path, upstream) => {
      for (const isStream of [true, false]) {
        const response = await stream(edge, path, `${upstream}:usage=none;bytes=1000`, { stream: isStream });
        const text = await response.text();
        const last = isStream ? framesOf(text).at(-2)?.data : (JSON.parse(text) as Json);
        const shown = last?.usage as Record<string, number>;
        const { usage, usage_estimated, cost_usd } = await edge.record(response);
        expect(usage_estimated).toBe(true);
        expect((usage as Record<string, number>).completion_tokens).toBe(250);
        expect(shown.completion_tokens ?? shown.output_tokens).toBe(0);
        expect(shown.prompt_tokens ?? shown.input_tokens).toBe(0);
        const prompt = (usage as Record<string, number>).prompt_tokens;
        expect(prompt).toBeGreaterThan(0);
        expect(Number(cost_usd)).toBeCloseTo((prompt + 500) / 1e6, 12);
      }
    },
  );

  it.each(ROADS)(
    'S8 %s: an error as the first event is an ordinary status',
    async (_road, path, upstream) => {
      const response = await stream(edge, path, `${upstream}:inband=0;error=500`);
      expect(response.status).toBe(502);
      expect(await response.json()).toMatchObject({ error: { provider_code: 'internal_provider_error' } });
      expect(await edge.record(response)).toMatchObject({
        status: 'error',
        outcome: 'failed',
        http_status: 502,
        cost_usd: null,
        usage: {},
      });
    },
  );

  it.each(
    ROADS.flatMap(([road, path, upstream]) =>
      [
        'inband=4;error=500',
        'cut=4',
        'cut=4;cut_how=reset',
        'cut=4;cut_in=mid',
        'done=0;cut=4;cut_how=eof',
      ].map((fault): [string, string, string] => [
        `${road} ${fault}`,
        path,
        `${upstream}:bytes=400;${fault}`,
      ]),
    ),
  )('USG-24 S9 %s: an error frame, no end, nothing charged to the caller', async (_road, path, upstream) => {
    const response = await stream(edge, path, upstream);
    expect(response.status).toBe(200);
    const frames = framesOf(await response.text());
    const last = frames.at(-1)?.data as Json;
    expect(last).toMatchObject({
      error: { code: 'upstream_error' },
      request_id: response.headers.get('x-request-id'),
    });
    expect(frames.some(({ text }) => isEnded(text))).toBe(false);
    expect(frames.filter(({ data }) => data?.error !== undefined)).toHaveLength(1);
    const record = await edge.record(response);
    expect(record).toMatchObject({
      status: 'error',
      outcome: 'failed',
      error_code: 'upstream_error',
      http_status: 200,
      cost_usd: null,
    });
    const [attempt] = record.attempts as Json[];
    // Messages name the kind of an error in the stream, and it stands for a status.
    const isNamed = !upstream.startsWith('sim-chat') && upstream.includes('inband');
    expect(attempt).toMatchObject({ error_code: 'upstream_error', http_status: isNamed ? 500 : 200 });
    expect(Number(attempt.house_usd)).toBeGreaterThan(0);
    expect(JSON.stringify(frames.slice(0, -1))).not.toMatch(/"finish_reason":"|"stop_reason":"/);
  });

  it('a missing end mark after the finish is no loss on chat, and a lost connection on messages', async () => {
    for (const [, path, upstream] of ROADS) {
      const response = await stream(edge, path, `${upstream}:done=0`);
      const isChat = upstream === 'sim-chat';
      expect(isEnded(await response.text())).toBe(isChat);
      expect(await edge.record(response)).toMatchObject({ outcome: isChat ? 'served' : 'failed' });
    }
  });

  it.each(['html', 'empty', 'truncated', 'content-type', 'utf8', 'shape'])(
    'a broken stream (%s) ends in one way or the other',
    async (fault) => {
      for (const [, path, upstream] of ROADS) {
        const response = await stream(edge, path, `${upstream}:malformed=${fault}`);
        const text = await response.text();
        const record = await edge.record(response);
        const isWhole = response.status === 200 && isEnded(text);
        expect(record.outcome).toBe(isWhole ? 'served' : 'failed');
        if (!isWhole) expect(text).toContain('bad_response');
      }
    },
  );

  it.each(ROADS)(
    'S10 %s: odd but legal frames and split bytes make no difference',
    async (_road, path, upstream) => {
      const response = await stream(
        edge,
        path,
        `${upstream}:text=h%C3%A9llo w%C3%B6rld;split=3;frames=crlf,comments,pings,multiline,nospace,nofinal`,
      );
      const frames = framesOf(await response.text());
      expect(spoken(frames)).toBe('héllo wörld');
      expect(isEnded(frames.at(-1)?.text ?? '')).toBe(true);
    },
  );

  it.each(ROADS)('%s: frames leave one by one, while the provider goes on', async (_road, path, upstream) => {
    edge.sim.reset();
    const script = `${upstream}:text=one two three four five six;silent=600000;silent_at=4`;
    const response = await stream(edge, path, script);
    const reader = new StreamReader(response);
    expect(await reader.until((text) => text.includes('one'))).toBe(true);
    expect(edge.upstream()[0].state).toBe('open');
    await reader.cancel();
    await eventually(() => edge.upstream()[0].state === 'aborted');
    const { ttft_ms, latency_ms } = await edge.record(response);
    expect(Number(ttft_ms)).toBeLessThanOrEqual(Number(latency_ms));
  });

  it.each(ROADS)(
    '%s: an answer of 3 MB in a few large frames arrives whole',
    async (_road, path, upstream) => {
      const response = await stream(edge, path, `${upstream}:bytes=3000000;chunk=600000`);
      const frames = framesOf(await response.text());
      expect(spoken(frames).length).toBe(3_000_000);
      expect(isEnded(frames.at(-1)?.text ?? '')).toBe(true);
    },
  );
});
