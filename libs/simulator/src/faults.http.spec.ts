import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { ANTHROPIC_ERRORS } from './errors-anthropic.js';
import { OPENAI_ERRORS } from './errors-openai.js';
import { bodyOf, CREDENTIALS, payloads, post, rawExchange, rawRequest } from './spec-client.js';
import { startUpstreamSim, type UpstreamSim } from './upstream-sim.js';

let sim: UpstreamSim;
beforeAll(async () => (sim = await startUpstreamSim()));
beforeEach(() => sim.reset());
afterAll(() => sim.close());

describe('error rows', () => {
  it.each([...OPENAI_ERRORS])(
    'OpenAI sim-error-%s has its native status, body and headers',
    async (name, row) => {
      const { status, json, headers } = await post(sim, 'chat', { model: `sim-error-${name}` });
      expect(status).toBe(row.status);
      expect(json).toEqual(row.body);
      expect(headers).toMatchObject(row.headers);
    },
  );

  it.each([...ANTHROPIC_ERRORS])(
    'Anthropic sim-error-%s has its native status, body and headers',
    async (name, row) => {
      const { status, json, headers } = await post(sim, 'messages', { model: `sim-error-${name}` });
      expect(status).toBe(row.status);
      expect(json).toEqual(row.body);
      expect(headers).toMatchObject(row.headers);
    },
  );

  it('has a rate limit with retry-after and a tier cap without', async () => {
    expect((await post(sim, 'messages', { model: 'sim-error-429-rate' })).headers['retry-after']).toBe('2');
    expect(
      (await post(sim, 'messages', { model: 'sim-error-429-tier' })).headers['retry-after'],
    ).toBeUndefined();
    const scripted = await post(sim, 'chat', {
      model: 'sim-error-429-rate:retry_after=7;retry_after_ms=250',
    });
    expect(scripted.headers).toMatchObject({ 'retry-after': '7', 'retry-after-ms': '250' });
  });

  it('answers 400 to a script that it does not know', async () => {
    for (const model of [
      'sim-error-nonsense',
      'sim-chat:colour=red',
      'sim-chat:delay=soon',
      'sim-chat:frames=odd;delay=1',
    ]) {
      const { status, text } = await post(sim, 'chat', { model, stream: true });
      expect([status, text]).toEqual([400, expect.stringContaining('simulator script')]);
    }
  });
});

describe('failing first', () => {
  it('fails N times for one request and then succeeds, each request for itself', async () => {
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn += 1)
      statuses.push((await post(sim, 'chat', { model: 'sim-error-503-slow:fail=2' })).status);
    expect(statuses).toEqual([503, 503, 200, 200]);
    const other = { model: 'sim-error-503-slow:fail=2', messages: [{ role: 'user', content: 'another' }] };
    expect((await post(sim, 'chat', other)).status).toBe(503);
  });

  it('counts by the key where one is given, 500 where no fault is', async () => {
    const headers = { 'x-sim': 'fail=1;key=a' };
    expect((await post(sim, 'messages', {}, headers)).status).toBe(500);
    expect((await post(sim, 'chat', {}, headers)).status).toBe(200);
  });

  it('cuts the first stream and completes the second', async () => {
    const over = { model: 'sim-chat:fail=1;cut=2', stream: true };
    await expect(post(sim, 'chat', over)).rejects.toThrow();
    expect((await post(sim, 'chat', over)).text).toMatch(/data: \[DONE\]\n\n$/);
  });
});

describe('broken transport', () => {
  it('resets before any byte, after the head and inside the body', async () => {
    const before = await rawExchange(sim, rawRequest('chat', { model: 'sim-chat:reset=before' }));
    expect(before).toEqual({ bytes: Buffer.alloc(0), isReset: true });
    const head = await rawExchange(sim, rawRequest('chat', { model: 'sim-chat:reset=headers' }));
    expect(head.isReset).toBe(true);
    expect(head.bytes.toString()).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\n\r\n$/);
    const body = await rawExchange(sim, rawRequest('chat', { model: 'sim-chat:reset=body' }));
    expect(body.bytes.toString()).toMatch(/\r\n\r\n\{"id"/);
    await expect(
      post(sim, 'messages', { model: 'sim-claude:reset=headers', stream: true }),
    ).rejects.toThrow();
  });

  it('hangs before the head until the caller leaves, and knows when', async () => {
    const left = new AbortController();
    const hanging = request(`${sim.url}/v1/chat/completions`, {
      method: 'POST',
      headers: CREDENTIALS.chat,
      body: JSON.stringify(bodyOf('chat', { model: 'sim-chat:hang' })),
      signal: left.signal,
    });
    while (sim.requests().length === 0) await wait(1);
    expect(sim.requests()[0]).toMatchObject({ state: 'open', aborted: false });
    left.abort();
    await expect(hanging).rejects.toThrow();
    while (!sim.requests()[0].aborted) await wait(1);
    const [seen] = sim.requests();
    expect(seen.state).toBe('aborted');
    expect(seen.abortedAt).toBeGreaterThanOrEqual(seen.receivedAt);
  });

  it('waits the latency before the first byte', async () => {
    const started = performance.now();
    await post(sim, 'chat', { model: 'sim-chat:latency=60' });
    expect(performance.now() - started).toBeGreaterThanOrEqual(59);
  });
});

describe('malformed answers on 200', () => {
  it('sends HTML, nothing, half a JSON text, a wrong type, a wrong shape', async () => {
    const html = await post(sim, 'chat', { model: 'sim-chat:malformed=html' });
    expect([html.status, html.headers['content-type']]).toEqual([200, 'text/html']);
    expect((await post(sim, 'chat', { model: 'sim-chat:malformed=empty' })).text).toBe('');
    const half = await post(sim, 'messages', { model: 'sim-claude:malformed=truncated' });
    expect(() => JSON.parse(half.text)).toThrow(SyntaxError);
    const typed = await post(sim, 'chat', { model: 'sim-chat:malformed=content-type' });
    expect([typed.headers['content-type'], typed.json.object]).toEqual(['text/plain', 'chat.completion']);
    expect((await post(sim, 'chat', { model: 'sim-chat:malformed=shape' })).json).toEqual({
      unexpected: true,
    });
  });

  it('sends bytes that are no UTF-8, plain and streamed', async () => {
    for (const stream of [false, true]) {
      const { bytes } = await post(sim, 'chat', { model: 'sim-chat:malformed=utf8', stream });
      expect(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toThrow(/not valid/);
    }
  });
});

describe('errors inside a stream', () => {
  it('sends the error as the first event of a 200, in the form of each dialect', async () => {
    const chat = await post(sim, 'chat', { model: 'sim-error-503-overloaded:inband=0', stream: true });
    expect(chat.status).toBe(200);
    expect(chat.text).toBe(`data: ${JSON.stringify(OPENAI_ERRORS.get('503-overloaded')?.body)}\n\n`);
    const claude = await post(sim, 'messages', { model: 'sim-error-529:inband=0', stream: true });
    expect(claude.text).toBe(`event: error\ndata: ${JSON.stringify(ANTHROPIC_ERRORS.get('529')?.body)}\n\n`);
  });

  it('sends the error in the middle and nothing after it', async () => {
    const { text } = await post(sim, 'messages', { model: 'sim-error-529:inband=4', stream: true });
    const types = payloads(text).map(({ type }) => type);
    expect(types).toEqual(['message_start', 'ping', 'content_block_start', 'content_block_delta', 'error']);
  });
});
