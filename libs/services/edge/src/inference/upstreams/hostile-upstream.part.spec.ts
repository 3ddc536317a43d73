import { gzipSync } from 'node:zlib';
import { TOPIC } from '@gateway/contracts';
import { eventually, type ScriptedAnswer } from '@gateway/testing';
import { hello, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { first, started } from './upstreams.fixture.js';

const edge = tenantOf(started, 'hostile_upstream');

const MIB = 1_048_576;
const LARGEST_ANSWER_BYTES = 64 * MIB;
/** A picture in base64 comes in one event of a stream. */
const LARGEST_EVENT = 31 * MIB;
const SSE = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };

function answer(content: string, more = ''): string {
  const message = JSON.stringify({ role: 'assistant', content });
  return `{"id":"x","object":"chat.completion","created":1,"model":"m"${more},"choices":[{"index":0,"message":${message},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`;
}

function frame(content: string, more = ''): string {
  const delta = JSON.stringify({ role: 'assistant', content });
  return `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m"${more},"choices":[{"index":0,"delta":${delta},"finish_reason":null}]}\n\n`;
}

const LAST_FRAME = 'data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';

function nested(depth: number): string {
  return `,"x":${'['.repeat(depth)}${']'.repeat(depth)}`;
}

/** An answer of exactly so many bytes. */
function sized(bytes: number): string {
  return answer('x'.repeat(bytes - answer('').length));
}

function* repeated(piece: Buffer, count: number): Generator<Buffer> {
  for (let at = 0; at < count; at += 1) yield piece;
}

/** Behaviours of an upstream, by the name of the requested model. */
const BEHAVIOURS: Record<string, () => ScriptedAnswer> = {
  // Members of gzip may follow each other: 1 GiB when unpacked.
  'gzip-bomb': () => ({
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    pieces: repeated(gzipSync(Buffer.alloc(16 * MIB, ' ')), 64),
  }),
  'gzip-stream': () => ({
    headers: { ...SSE, 'content-encoding': 'gzip' },
    body: gzipSync(`${frame('hidden')}data: [DONE]\n\n`),
  }),
  endless: () => ({ headers: JSON_TYPE, pieces: repeated(Buffer.alloc(MIB, ' '), 1_024) }),
  'endless-error': () => ({
    status: 400,
    headers: JSON_TYPE,
    pieces: repeated(Buffer.alloc(MIB, ' '), 1_024),
  }),
  'endless-line': () => ({ headers: SSE, pieces: repeated(Buffer.from(`data: ${'x'.repeat(MIB)}`), 1_024) }),
  'endless-comments': () => ({
    headers: SSE,
    pieces: repeated(Buffer.from(': x\n\n'.repeat(100_000)), 1_024),
  }),
  'large-event': () => ({
    headers: SSE,
    body: `${frame('x'.repeat(LARGEST_EVENT))}${LAST_FRAME}data: [DONE]\n\n`,
  }),
  largest: () => ({ headers: JSON_TYPE, body: sized(LARGEST_ANSWER_BYTES) }),
  'too-large': () => ({ headers: JSON_TYPE, body: sized(LARGEST_ANSWER_BYTES + 1) }),
  deep: () => ({ headers: JSON_TYPE, body: answer('x', nested(200_000)) }),
  'deep-stream': () => ({ headers: SSE, body: `${frame('x', nested(200_000))}data: [DONE]\n\n` }),
  nul: () => ({ headers: JSON_TYPE, body: answer('a\0b\ud800') }),
  'surrogates-error': () => ({
    status: 400,
    headers: JSON_TYPE,
    // A cut at an even number of characters parts a pair.
    body: JSON.stringify({ error: { message: `ab\0${'\ud83d\ude00'.repeat(2_000)}\ud800`, code: 'x\0' } }),
  }),
  'huge-counts': () => ({
    headers: JSON_TYPE,
    body: answer('x').replace('"prompt_tokens":1', `"prompt_tokens":${2 ** 53 - 1}`),
  }),
  'endless-counts': () => ({
    headers: JSON_TYPE,
    body: answer('x').replace(
      '"prompt_tokens":1,"completion_tokens":1',
      '"prompt_tokens":1e308,"completion_tokens":1e308',
    ),
  }),
  proto: () => ({
    headers: JSON_TYPE,
    body: answer('x', ',"__proto__":{"polluted":true},"constructor":1'),
  }),
};

describe('U08 an upstream that means ill', () => {
  beforeAll(() => {
    first.answer = ({ body }) => {
      const { model } = JSON.parse(body.toString()) as { model: string };
      return BEHAVIOURS[model]();
    };
  });

  async function ask(behaviour: string, stream = false): Promise<{ status: number; text: string }> {
    const model = edge.serve('hostile/upstream', { provider: 'simulated', upstreamModel: behaviour });
    const response = await edge.post(hello(model, { stream }));
    return { status: response.status, text: await response.text() };
  }

  function codeOf(text: string): string {
    return (JSON.parse(text) as { error: { code: string } }).error.code;
  }

  it.each(['gzip-bomb', 'endless', 'too-large', 'deep'])(
    '%s is 502, and its connection is let go of',
    async (behaviour) => {
      const { status, text } = await ask(behaviour);
      expect([status, codeOf(text)]).toEqual([502, 'upstream_error']);
      await eventually(() => first.open() === 0);
    },
  );

  it.each(['gzip-stream', 'endless-line', 'deep-stream'])(
    '%s is 502 before anything of it was sent',
    async (behaviour) => {
      const { status, text } = await ask(behaviour, true);
      expect([status, codeOf(text)]).toEqual([502, 'upstream_error']);
      await eventually(() => first.open() === 0);
    },
  );

  it('an endless error is cut at 64 KiB, and its status decides', async () => {
    const { status } = await ask('endless-error');
    expect(status).toBe(400);
    await eventually(() => first.open() === 0);
  });

  it('a stream of nothing but comments ends at 64 MiB', async () => {
    const { text } = await ask('endless-comments', true);
    expect(text).toMatch(/"code":"upstream_error"/);
    await eventually(() => first.open() === 0);
  });

  it('an event of 31 MiB in a stream is served whole', async () => {
    const { status, text } = await ask('large-event', true);
    expect(status).toBe(200);
    expect(text.includes(`"content":"${'x'.repeat(LARGEST_EVENT)}"`)).toBe(true);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('an answer of 64 MiB is served', async () => {
    const { status, text } = await ask('largest');
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(LARGEST_ANSWER_BYTES - 1_000);
  });

  it('NUL and half a surrogate pair pass, and so do names that JavaScript gives a meaning', async () => {
    const { status, text } = await ask('nul');
    expect(status).toBe(200);
    const [{ message }] = (JSON.parse(text) as { choices: { message: Json }[] }).choices;
    expect(message.content).toBe('a\0b\ud800');
    expect((await ask('proto')).status).toBe(200);
    expect(({} as Json).polluted).toBeUndefined();
  });

  it('what a caller or an error of a provider says enters records as text that every ledger can keep', async () => {
    const unstorable = /\\u(?:0000|d[89a-f])/;
    const model = edge.serve('hostile/upstream', {
      provider: 'simulated',
      upstreamModel: 'surrogates-error',
    });
    const refused = await edge.record(await edge.post(hello(model)));
    expect(refused).toMatchObject({ outcome: 'failed', attempts: [{ http_status: 400 }] });
    const [attempt] = refused.attempts as Json[];
    expect(attempt.error_message).toMatch(/^Simulator: ab\ufffd(?:\ud83d\ude00){998}$/);
    const named = await edge.post(hello('x\0\ud800'));
    const rejected = await edge.record(named, TOPIC.rejections);
    expect(rejected.requested_model).toBe('x\ufffd\ufffd');
    for (const topic of [TOPIC.usage, TOPIC.rejections])
      for (const record of edge.shipped(topic)) expect(JSON.stringify(record)).not.toMatch(unstorable);
  });

  it.each(['huge-counts', 'endless-counts'])(
    '%s are estimated and flagged, and lock nobody',
    async (behaviour) => {
      const model = edge.serve('hostile/upstream', { provider: 'simulated', upstreamModel: behaviour });
      const response = await edge.post(hello(model));
      expect(response.status).toBe(200);
      const { usage, usage_estimated, cost_usd } = await edge.record(response);
      expect(usage_estimated).toBe(true);
      expect((usage as { prompt_tokens: number }).prompt_tokens).toBeLessThan(100);
      expect(Number(cost_usd)).toBeLessThan(0.001);
      expect((await edge.post(hello(model))).status).toBe(200);
    },
  );
});
