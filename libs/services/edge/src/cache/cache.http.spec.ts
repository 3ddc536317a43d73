import { hello, startEdge, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';
import { replayed, replayedUsage } from './replayed.js';
import { ResponseCache, type CachedAnswer } from './response-cache.js';

const responseCache = { ttlMs: 60_000 };

describe('the response cache', () => {
  let edge: EdgeUnderTest;
  let key: string;
  beforeAll(async () => {
    edge = await startEdge();
    key = edge.addKey(testPrincipal('key_cached', { responseCache }));
  });
  afterAll(() => edge.close());

  const ask = async (
    body: Json,
    options: { path?: string; key?: string; headers?: Record<string, string> } = {},
  ): Promise<{ response: Response; text: string; cache: string | null }> => {
    const response = await edge.post(body, { key, ...options });
    return { response, text: await response.text(), cache: response.headers.get('x-cache') };
  };
  const chat = (content: string, more: Json = {}): Json =>
    hello('simulator/chat', { messages: [{ role: 'user', content }], ...more });

  it('CACHE-01 CACHE-02 CACHE-03 CACHE-09 answers again without a provider, at no cost, with the same counts', async () => {
    const first = await ask(chat('one'));
    const before = edge.upstream().length;
    const again = await ask({ messages: [{ content: 'one', role: 'user' }], max_tokens: 100, model: 'chat' });
    expect([first.cache, again.cache]).toEqual(['MISS', 'HIT']);
    expect(edge.upstream()).toHaveLength(before);
    const [made, given] = [first.text, again.text].map((text) => JSON.parse(text) as Json & { usage: Json });
    expect(given.choices).toEqual(made.choices);
    for (const count of ['prompt_tokens', 'completion_tokens', 'total_tokens'])
      expect(given.usage[count]).toBe(made.usage[count]);
    const record = await edge.record(again.response);
    expect(record).toMatchObject({
      outcome: 'cached',
      status: 'success',
      cache_hit: true,
      cost_usd: null,
      provider: null,
      attempts: [],
      byok_used: false,
      routing_fallback: false,
      usage: { prompt_tokens: made.usage.prompt_tokens, completion_tokens: made.usage.completion_tokens },
    });
    expect(again.response.headers.get('x-ratelimit-remaining-requests')).not.toBeNull();
  });

  it('CACHE-03 says nothing of the cache where answers of an endpoint are not kept', async () => {
    const { response, cache } = await ask(
      { model: 'simulator/chat', input: 'one', store: false },
      { path: '/v1/responses' },
    );
    expect([response.status, cache]).toEqual([200, null]);
  });

  it('CACHE-01 replays a streamed answer as a stream', async () => {
    const first = await ask(chat('streamed', { stream: true }));
    const again = await ask(chat('streamed', { stream: true }));
    expect([first.cache, again.cache]).toEqual(['MISS', 'HIT']);
    expect(again.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const frames = (text: string): string[] =>
      text.split('\n\n').filter((frame) => frame.startsWith('data: '));
    expect(frames(again.text).at(-1)).toBe('data: [DONE]');
    expect(frames(again.text)).toHaveLength(frames(first.text).length);
    // The same question, whole, is another answer.
    expect((await ask(chat('streamed'))).cache).toBe('MISS');
  });

  it('CACHE-07 no-store forces a call, and keeps nothing of it', async () => {
    const headers = { 'x-service-cache': 'no-store' };
    expect((await ask(chat('fresh'), { headers })).cache).toBe('MISS');
    expect((await ask(chat('fresh'))).cache).toBe('MISS');
    const before = edge.upstream().length;
    expect((await ask(chat('fresh'), { headers })).cache).toBe('MISS');
    expect(edge.upstream()).toHaveLength(before + 1);
    expect((await ask(chat('fresh'))).cache).toBe('HIT');
  });

  it('CACHE-08 a key without it never gets a kept answer, nor one that is older than its ttl', async () => {
    await ask(chat('private'));
    const plain = edge.addKey(testPrincipal('key_plain'));
    expect((await ask(chat('private'), { key: plain })).cache).toBeNull();
    const hasty = edge.addKey(testPrincipal('key_hasty', { responseCache: { ttlMs: 0 } }));
    expect((await ask(chat('private'), { key: hasty })).cache).toBe('MISS');
  });

  it('tells apart accounts, model lists, pins, versions and bodies', async () => {
    await ask(chat('apart'));
    const others = [
      testPrincipal('key_a', { responseCache, accountId: 'acct_other' }),
      testPrincipal('key_b', { responseCache, fixedProvider: 'simulated' }),
      testPrincipal('key_c', {
        responseCache,
        access: [{ kind: 'key', allowed: ['simulator/*'], blocked: null }],
      }),
      testPrincipal('key_d', { responseCache, apiVersion: '2026-09' }),
    ];
    for (const other of others)
      expect([other.keyId, (await ask(chat('apart'), { key: edge.addKey(other) })).cache]).toEqual([
        other.keyId,
        'MISS',
      ]);
    expect((await ask(chat('apart', { temperature: 0.5 }))).cache).toBe('MISS');
    const alike = edge.addKey(testPrincipal('key_e', { responseCache }));
    expect((await ask(chat('apart'), { key: alike })).cache).toBe('HIT');
  });

  it('keeps no failure', async () => {
    const body = chat('x', { model: 'simulator/nothing' });
    expect((await ask(body)).response.status).toBe(404);
    expect((await ask(body)).cache).toBeNull();
  });

  it('CACHE-06 answers messages with all of the input as input_tokens', async () => {
    const body = hello('simulator/claude');
    const path = '/v1/messages';
    const first = await ask(body, { path });
    const again = await ask(body, { path });
    expect([first.cache, again.cache]).toEqual(['MISS', 'HIT']);
    const { usage } = JSON.parse(again.text) as { usage: Json };
    expect(usage).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
  });
});

describe('a kept answer', () => {
  it('CACHE-03 CACHE-04 CACHE-05 of chat has its counts, those of caches 0 and no deprecated one', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      cache_creation_input_tokens: 4,
      prompt_cache_hit_tokens: 3,
      prompt_tokens_details: {
        cached_tokens: 3,
        cache_write_tokens: 4,
        cache_write_1h_tokens: 1,
        audio_tokens: 2,
      },
      byok_used: true,
      fallback_triggered: true,
    };
    const body = JSON.parse(replayed(JSON.stringify({ id: 'a', usage }), false)) as Json;
    expect(body.usage).toEqual({
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_cache_hit_tokens: 0,
      prompt_tokens_details: {
        cached_tokens: 0,
        cache_write_tokens: 0,
        cache_write_1h_tokens: 0,
        audio_tokens: 2,
      },
      byok_used: false,
      fallback_triggered: false,
    });
    const frames = replayed(`: hi\n\ndata: ${JSON.stringify({ usage })}\n\ndata: [DONE]\n\n`, true).split(
      '\n\n',
    );
    expect(JSON.parse(frames[1].slice(6))).toEqual({ usage: body.usage });
    expect([frames[0], frames[2]]).toEqual([': hi', 'data: [DONE]']);
  });

  it('CACHE-04 CACHE-06 of messages counts the original input whole, plain and streamed', () => {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
      output_tokens: 7,
    };
    const kept = {
      input_tokens: 321,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 7,
    };
    expect(JSON.parse(replayed(JSON.stringify({ usage }), false))).toEqual({ usage: kept });
    const stream = `event: message_start\ndata: ${JSON.stringify({ message: { usage } })}\n\n`;
    expect(replayed(stream, true)).toBe(
      `event: message_start\ndata: ${JSON.stringify({ message: { usage: kept } })}\n\n`,
    );
    expect(replayedUsage({ prompt_tokens: 321, cached_tokens: 300, cache_write_tokens: 20 })).toEqual({
      prompt_tokens: 321,
    });
  });

  it('touches nothing that the model has written', () => {
    const text = JSON.stringify({ choices: [{ message: { content: '{"usage":{"cached_tokens":7}}' } }] });
    expect(replayed(text, false)).toBe(text);
  });
});

describe('ResponseCache', () => {
  const answer = (size: number, storedAtMs = 0): CachedAnswer => ({
    headers: {},
    out: 'x'.repeat(size),
    usage: {},
    storedAtMs,
    endUser: null,
  });

  it('CACHE-08 gives nothing that is as old as the ttl', () => {
    const cache = new ResponseCache();
    cache.store('a', answer(1, 1_000));
    expect(cache.find('a', 500, 1_499)).not.toBeNull();
    expect(cache.find('a', 500, 1_500)).toBeNull();
    expect(cache.find('b', 500, 1_000)).toBeNull();
  });

  it('stays within its bound: what was used longest ago goes', () => {
    const cache = new ResponseCache();
    for (let n = 0; n < 40; n += 1) {
      cache.store(`n${n}`, answer(1024 * 1024));
      expect(cache.find('n0', 1, 0)).not.toBeNull();
    }
    expect(cache.find('n1', 1, 0)).toBeNull();
    expect(cache.find('n39', 1, 0)).not.toBeNull();
  });
});
