import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eventually } from '@gateway/testing';
import { hello, startEdge, type EdgeUnderTest, type Json } from '../edge.fixture.js';

const MIB = 1_048_576;
const LARGEST_ANSWER_BYTES = 64 * MIB;
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

function nested(depth: number): string {
  return `,"x":${'['.repeat(depth)}${']'.repeat(depth)}`;
}

/** An answer of exactly so many bytes. */
function sized(bytes: number): string {
  return answer('x'.repeat(bytes - answer('').length));
}

/** Writes until the reader has gone, or everything was taken. */
async function pour(response: ServerResponse, piece: Buffer, count: number): Promise<void> {
  const closed = once(response, 'close');
  for (let at = 0; at < count && !response.destroyed; at += 1)
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed]);
  response.end();
}

/** What an upstream does, by the name of the model that it is asked for. */
const BEHAVIOURS: Record<string, (response: ServerResponse) => unknown> = {
  'gzip-bomb': (response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' });
    // Members of gzip may follow each other: 1 GiB when unpacked.
    return pour(response, gzipSync(Buffer.alloc(16 * MIB, ' ')), 64);
  },
  'gzip-stream': (response) => {
    response.writeHead(200, { ...SSE, 'content-encoding': 'gzip' });
    response.end(gzipSync(`${frame('hidden')}data: [DONE]\n\n`));
  },
  endless: (response) => pour(response.writeHead(200, JSON_TYPE), Buffer.alloc(MIB, ' '), 1_024),
  'endless-error': (response) => pour(response.writeHead(400, JSON_TYPE), Buffer.alloc(MIB, ' '), 1_024),
  'endless-line': (response) =>
    pour(response.writeHead(200, SSE), Buffer.from(`data: ${'x'.repeat(MIB)}`), 1_024),
  'endless-comments': (response) =>
    pour(response.writeHead(200, SSE), Buffer.from(': x\n\n'.repeat(100_000)), 1_024),
  largest: (response) => response.writeHead(200, JSON_TYPE).end(sized(LARGEST_ANSWER_BYTES)),
  'too-large': (response) => response.writeHead(200, JSON_TYPE).end(sized(LARGEST_ANSWER_BYTES + 1)),
  deep: (response) => response.writeHead(200, JSON_TYPE).end(answer('x', nested(200_000))),
  'deep-stream': (response) =>
    response.writeHead(200, SSE).end(`${frame('x', nested(200_000))}data: [DONE]\n\n`),
  nul: (response) => response.writeHead(200, JSON_TYPE).end(answer('a\0b\ud800')),
  proto: (response) =>
    response.writeHead(200, JSON_TYPE).end(answer('x', ',"__proto__":{"polluted":true},"constructor":1')),
};

describe('U08 an upstream that means ill', () => {
  let edge: EdgeUnderTest;
  let upstream: ReturnType<typeof createServer>;
  let open = 0;
  beforeAll(async () => {
    upstream = createServer((request, response) => {
      open += 1;
      response.once('close', () => (open -= 1)).on('error', () => undefined);
      const chunks: Buffer[] = [];
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const { model } = JSON.parse(Buffer.concat(chunks).toString()) as { model: string };
          void BEHAVIOURS[model](response);
        });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    edge = await startEdge({ upstreams: async () => ({ simulated: origin }) });
  });
  afterAll(async () => {
    await edge.close();
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
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
      await eventually(() => open === 0);
    },
  );

  it.each(['gzip-stream', 'endless-line', 'deep-stream'])(
    '%s is 502 before anything of it was sent',
    async (behaviour) => {
      const { status, text } = await ask(behaviour, true);
      expect([status, codeOf(text)]).toEqual([502, 'upstream_error']);
      await eventually(() => open === 0);
    },
  );

  it('an endless refusal is cut at 64 KiB, and its status decides', async () => {
    const { status } = await ask('endless-error');
    expect(status).toBe(400);
    await eventually(() => open === 0);
  });

  it('a stream of nothing but comments ends at 64 MiB', async () => {
    const { text } = await ask('endless-comments', true);
    expect(text).toMatch(/"code":"upstream_error"/);
    await eventually(() => open === 0);
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
});
