import { hello, keyScope, testPrincipal } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './text.fixture.js';

const edge = tenantOf(started, 'headers');

const RATE = ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}-requests`);

describe('headers of inference answers', () => {
  it('EDGE-01 VER-02 VER-13 VER-14 every answer has an id of its own and the version served', async () => {
    const broken = edge.serve('simulator/broken', 'sim-chat:error=400-model');
    const answers = await Promise.all([
      edge.post(hello('simulator/chat')),
      edge.post(hello('simulator/chat', { stream: true })),
      edge.post('{'),
      edge.post(hello('simulator/chat'), { key: null }),
      edge.post(hello(broken)),
      edge.post(hello('x'), { path: '/v1/none' }),
      edge.post(hello('simulator/chat'), { path: '/v1/messages' }),
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(answers.length);
    expect(ids.every((id) => id?.startsWith('req_'))).toBe(true);
    expect(answers.map(({ headers }) => headers.get('x-service-version'))).toEqual(
      answers.map(() => '2026-08'),
    );
    const pinned = { headers: { 'x-service-version': '2026-09' } };
    for (const stream of [false, true]) {
      const answer = await edge.post(hello('simulator/chat', { stream }), pinned);
      expect(answer.headers.get('x-service-version')).toBe('2026-09');
      expect(await edge.record(answer)).toMatchObject({ api_version: '2026-09' });
    }
  });

  it('every answer is of the type it says, and JSON is kept by nobody, rejections included', async () => {
    const broken = edge.serve('simulator/broken', 'sim-chat:error=400-model');
    const answers = await Promise.all([
      edge.post(hello('simulator/chat')),
      edge.post(hello('simulator/claude'), { path: '/v1/messages' }),
      edge.post({ model: 'simulator/chat', input: 'Hello' }, { path: '/v1/responses' }),
      edge.post('{'),
      edge.post(hello('simulator/chat'), { key: null }),
      edge.post(hello(broken)),
      edge.post(hello('x'), { path: '/v1/none' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 422, 401, 502, 404]);
    for (const { headers } of answers) {
      expect(headers.get('content-type')).toMatch(/^application\/json/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
    }
    const { headers } = await edge.post(hello('simulator/chat', { stream: true }));
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    // What proxies know of streams: none keeps it, and none holds it back to compress it.
    expect(headers.get('cache-control')).toBe('no-cache, no-transform');
  });

  it.each([false, true])(
    'a member of any name is named in a header as far as one can, and the answer is whole: stream %s',
    async (stream) => {
      const named = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`member_${n}`, 1]));
      const odd = { 日本: 1, 'a\r\nb: c': 1, 'd\u0000': 1, [`${'x'.repeat(9_000)}`]: 1 };
      for (const more of [odd, named]) {
        const answer = await edge.post(hello('simulator/claude', { stream, ...more }), {
          path: '/v1/messages',
        });
        const text = await answer.text();
        expect([answer.status, text.includes('"error"')]).toEqual([200, false]);
        const shown = answer.headers.get('x-service-ignored-params') ?? '';
        expect(shown).toMatch(more === odd ? /^\?\?, a\?\?b: c, d\?, x{160}$/ : /^member_0, member_1, /);
        expect(shown.length).toBeLessThanOrEqual(2_048);
        expect(await edge.record(answer)).toMatchObject({ outcome: 'served' });
      }
    },
  );

  it('VER-15 browser scripts may read the version, streams included', async () => {
    for (const stream of [false, true]) {
      const { headers } = await edge.post(hello('simulator/chat', { stream }), {
        headers: { origin: 'https://a.example' },
      });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-expose-headers')).toContain('X-Service-Version');
    }
  });

  it('VER-04 VER-05 a key’s stored version applies without a header, the header wins', async () => {
    const key = edge.addKey(testPrincipal('key_pinned', { apiVersion: '2026-09' }));
    for (const stream of [false, true]) {
      const body = hello('simulator/chat', { stream });
      expect((await edge.post(body, { key })).headers.get('x-service-version')).toBe('2026-09');
      const other = await edge.post(body, { key, headers: { 'x-service-version': '2026-08' } });
      expect(other.headers.get('x-service-version')).toBe('2026-08');
    }
  });

  it('LIM-36 LIM-38 tells the key’s requests a minute and nothing of tokens or of the upstream', async () => {
    const key = edge.addKey(testPrincipal('key_rate', { limits: [keyScope('key_rate', { rpm: 50 })] }));
    const broken = edge.serve('simulator/throttled', 'sim-chat:error=429-rate');
    const bodies = [
      hello('simulator/chat'),
      hello('simulator/chat', { stream: true }),
      hello('simulator/claude'),
      hello(broken),
    ];
    for (const [at, body] of bodies.entries()) {
      const { headers } = await edge.post(body, { key });
      expect(headers.get(RATE[0])).toBe('50');
      expect(headers.get(RATE[1])).toBe(String(49 - at));
      expect(headers.get(RATE[2])).toMatch(/^(\d+m)?\d+s$/);
      const others = [...headers.keys()].filter((name) => /ratelimit|openai|anthropic|^cf-/.test(name));
      expect(others.sort()).toEqual([...RATE].sort());
    }
  });

  it('MSG-03 READ-35 messages answers carry the id where the Anthropic SDKs read it', async () => {
    const path = '/v1/messages';
    const answers = await Promise.all([
      edge.post(hello('simulator/claude'), { path }),
      edge.post(hello('simulator/claude', { stream: true }), { path }),
      edge.post(hello('simulator/claude', { messages: 1 }), { path }),
      edge.post(hello('simulator/claude'), { path, key: 'rsk_wrong' }),
      edge.post(hello('simulator/claude'), { path, headers: { 'x-service-version': 'bad' } }),
    ]);
    for (const { headers } of answers) expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 401, 400]);
    expect((await edge.post(hello('simulator/chat'))).headers.get('request-id')).toBeNull();
  });

  it('names the hints that the route ignored', async () => {
    const { headers } = await edge.post(hello('simulator/claude', { seed: 7, presence_penalty: 1 }));
    expect(headers.get('x-service-ignored-params')?.split(', ').sort()).toEqual(['presence_penalty', 'seed']);
  });

  it('READ-56 request tags become the record’s, over the key’s own; a malformed list is refused', async () => {
    const key = edge.addKey(testPrincipal('key_tags', { requestTags: { team: 'blue', app: 'a' } }));
    const answer = await edge.post(hello('simulator/chat'), {
      key,
      headers: { 'x-request-tags': 'team=red, run = 7' },
    });
    expect(await edge.record(answer)).toMatchObject({ request_tags: { team: 'red', app: 'a', run: '7' } });
    for (const tags of ['novalue', '=x', Array.from({ length: 17 }, (_, at) => `k${at}=v`).join(',')]) {
      const refused = await edge.post(hello('simulator/chat'), { key, headers: { 'x-request-tags': tags } });
      expect(refused.status).toBe(422);
      expect(await edge.record(refused, 'gateway.rejections.v1')).toMatchObject({ code: 'validation_error' });
    }
  });

  it('EDGE-05 CHAT-34 CHAT-35 the caller’s credential and end user stay here', async () => {
    edge.sim.reset();
    const both = await edge.post(hello('simulator/chat', { user: 'u', safety_identifier: 's' }));
    const safety = await edge.post(hello('simulator/chat', { safety_identifier: 's' }));
    const user = await edge.post(hello('simulator/chat', { user: 'u' }));
    const none = await edge.post(hello('simulator/claude'));
    const hashes = await Promise.all(
      [both, safety, user, none].map(async (one) => (await edge.record(one)).end_user_hash),
    );
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[2]).not.toBe(hashes[0]);
    expect(hashes[3]).toBeNull();
    expect(JSON.stringify(hashes)).not.toContain('"s"');
    for (const { headers } of edge.upstream()) expect(JSON.stringify(headers)).not.toContain(edge.key);
  });
});
