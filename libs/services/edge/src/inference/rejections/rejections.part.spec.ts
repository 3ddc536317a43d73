import { TOPIC, type KeyPrincipal } from '@gateway/contracts';
import { JSON_BOUNDS } from '@gateway/json-body';
import { hello, keyScope, testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './rejections.fixture.js';

const edge = tenantOf(started, 'rejections');

const SIMULATED = { provider: 'simulated', upstreamModel: 'sim-chat' };
const CLAUDE = { provider: 'simulated-messages', upstreamModel: 'sim-claude' };

interface Rejection {
  error: { code: string; message: string; details?: { type: string; loc: (string | number)[] }[] };
  request_id: string;
}

describe('what is refused before a model', () => {
  beforeEach(() => edge.sim.reset());

  async function rejection(
    response: Promise<Response>,
  ): Promise<{ said: string; body: Rejection; response: Response }> {
    const answer = await response;
    const body = (await answer.json()) as Rejection;
    expect(body.request_id).toBe(answer.headers.get('x-request-id'));
    expect(edge.upstream()).toEqual([]);
    return { said: `${answer.status} ${body.error.code}`, body, response: answer };
  }

  it('AUTH-18 VER-14 a bad version header is 400 even with a wrong key, and the answer names a version', async () => {
    const { said, response } = await rejection(
      edge.post(hello('simulator/chat'), { key: 'rsk_wrong', headers: { 'x-service-version': '1999-01' } }),
    );
    expect(said).toBe('400 invalid_api_version');
    expect(response.headers.get('x-service-version')).toBe('2026-08');
    expect((await rejection(edge.post(hello('simulator/chat'), { key: 'rsk_wrong' }))).said).toBe(
      '401 unauthorized',
    );
    expect((await rejection(edge.post(hello('simulator/chat'), { key: null }))).said).toBe(
      '401 unauthorized',
    );
  });

  it('a wrong key is told before a broken body', async () => {
    expect((await rejection(edge.post('{', { key: 'rsk_wrong' }))).said).toBe('401 unauthorized');
  });

  it.each<[string, string, unknown, (string | number)[]]>([
    ['EDGE-02', 'no JSON', '{"model":', []],
    ['EDGE-02', 'an empty body', '', []],
    ['EDGE-02', 'JSON that is no object', '[1]', []],
    ['CHAT-17', 'no model and no default', { messages: [{ role: 'user', content: 'x' }] }, ['model']],
    ['CHAT-18', 'no messages', { model: 'simulator/chat' }, ['messages']],
    ['CHAT-18', 'empty messages', { model: 'simulator/chat', messages: [] }, ['messages']],
    ['CHAT-18', 'messages that are no array', { model: 'simulator/chat', messages: 'x' }, ['messages']],
    [
      'CHAT-18',
      'an unknown role',
      hello('simulator/chat', { messages: [{ role: 'robot', content: 'x' }] }),
      ['messages', 0, 'role'],
    ],
    [
      'CHAT-21',
      'a temperature that is no number',
      hello('simulator/chat', { temperature: 'hot' }),
      ['temperature'],
    ],
    [
      'CHAT-27',
      'another service_tier',
      hello('simulator/chat', { service_tier: 'priority' }),
      ['service_tier'],
    ],
    [
      'CHAT-29',
      'another effort',
      hello('simulator/chat', { reasoning: { effort: 'huge' } }),
      ['reasoning', 'effort'],
    ],
    [
      'CHAT-30',
      'effort and max_tokens',
      hello('simulator/chat', { reasoning: { effort: 'low', max_tokens: 10 } }),
      ['reasoning'],
    ],
  ])('%s 422 validation_error with loc: %s', async (_id, _what, body, loc) => {
    const { said, body: answer } = await rejection(edge.post(body));
    expect(said).toBe('422 validation_error');
    expect(answer.error.details?.[0]?.loc.slice(0, loc.length)).toEqual(loc);
  });

  it('an assistant tool call that nothing answers is 422 with its place', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'user', content: 'and?' },
    ];
    const { said, body } = await rejection(edge.post(hello('simulator/chat', { messages })));
    expect(said).toBe('422 validation_error');
    expect(body.error.details?.[0]?.loc[0]).toBe('messages');
  });

  it('U12 JSON bombs and broken UTF-8 are refused, and no provider is asked', async () => {
    const deep = `{"model":"simulator/chat","messages":${'['.repeat(8_000_000)}`;
    const keys = `{${Array.from({ length: 100_001 }, (_, at) => `"k${at}":1`).join(',')}}`;
    const items = `{"messages":[${'1,'.repeat(100_000)}1]}`;
    const utf8 = new Uint8Array([...Buffer.from('{"model":"'), 0xff, 0xfe, ...Buffer.from('"}')]);
    for (const body of [deep, keys, items, utf8, '{"__proto__":{},"model":"simulator/chat"}']) {
      expect((await rejection(edge.post(body))).said).toBe('422 validation_error');
    }
  });

  it('U12 a body at each bound of JSON is served, one more is 422', async () => {
    const odd = (text: string): string =>
      `{"model":"simulator/chat","messages":[{"role":"user","content":"Hi"}],"odd":${text}}`;
    const known = 5;
    const depth = (n: number): string => odd(`${'['.repeat(n - 1)}${']'.repeat(n - 1)}`);
    const keys = (n: number): string =>
      odd(`{${Array.from({ length: n - known }, (_, at) => `"k${at}":1`).join(',')}}`);
    const items = (n: number): string => odd(`[${'1,'.repeat(n - 1)}1]`);
    for (const [bodyOf, n] of [
      [depth, JSON_BOUNDS.depth],
      [keys, JSON_BOUNDS.keys],
      [items, JSON_BOUNDS.itemsPerArray],
    ] as const) {
      expect((await rejection(edge.post(bodyOf(n + 1)))).said).toBe('422 validation_error');
      expect((await edge.post(bodyOf(n))).status).toBe(200);
      edge.sim.reset();
    }
  });

  it('KEY-10 KEY-11 KEY-12 KEY-13 ERR-19 ERR-30 keeps a key to its models before a provider is called', async () => {
    const key = edge.addKey(
      testPrincipal('key_lists', {
        access: [{ kind: 'key', allowed: ['simulator/*', 'other/one'], blocked: ['simulator/claude'] }],
      }),
    );
    edge.serve('other/one', 'sim-chat');
    edge.serve('other/two', 'sim-chat');
    const ask = (model: string): Promise<Response> => edge.post(hello(model), { key });
    expect((await rejection(ask('other/two'))).said).toBe('404 model_not_found');
    expect((await rejection(ask('simulator/claude'))).said).toBe('403 model_excluded');
    expect((await rejection(ask('nobody/none'))).said).toBe('404 model_not_found');
    const served = await Promise.all([ask('other/one'), ask('simulator/chat')]);
    expect(served.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('KEY-06 uses the key’s default model, and MOD-01 resolves a unique name without brand', async () => {
    const key = edge.addKey(testPrincipal('key_default', { defaultModel: 'simulator/chat' }));
    const { model: _model, ...body } = hello('');
    const answer = (await (await edge.post(body, { key })).json()) as Json;
    expect(answer.model).toBe('simulator/chat');
    edge.serve('simulator/unique-name', 'sim-chat');
    expect(((await (await edge.post(hello('unique-name'))).json()) as Json).model).toBe(
      'simulator/unique-name',
    );
  });

  it('ERR-15 400 model_capability_not_supported, MSG-04 501 on messages', async () => {
    edge.serveModels(
      testModel('simulator/embed', [{ provider: 'simulated', upstreamModel: 'sim-chat' }], {
        supports_completions_api: false,
      }),
    );
    expect((await rejection(edge.post(hello('simulator/embed')))).said).toBe(
      '400 model_capability_not_supported',
    );
    const answer = await edge.post(hello('simulator/embed'), { path: '/v1/messages' });
    const body = (await answer.json()) as Rejection;
    expect(`${answer.status} ${body.error.code}`).toBe('501 model_capability_not_supported');
  });

  it.each([
    [
      '/v1/messages',
      {
        messages: [{ role: 'user', content: 'x' }],
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      },
      'tools[0].type web_search_20250305',
    ],
    [
      '/v1/messages',
      {
        messages: [
          { role: 'user', content: 'x' },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'x' },
              { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
            ],
          },
          { role: 'user', content: 'x' },
        ],
      },
      'messages[1].content[1].type server_tool_use',
    ],
    ['/v1/responses', { input: 'x', tools: [{ type: 'web_search' }] }, 'tools[0].type web_search'],
    [
      '/v1/chat/completions',
      {
        messages: [{ role: 'user', content: 'x' }],
        tools: [
          { type: 'function', function: { name: 'a' } },
          { type: 'custom', custom: { name: 'sql' } },
        ],
      },
      'tools[1].type custom',
    ],
  ])('ERR-34 names the caller’s own parameter, and what stands in it: %s %j', async (path, more, named) => {
    const body = { model: 'simulator/own-names', max_tokens: 10, max_output_tokens: undefined, ...more };
    edge.serveModels(
      testModel('simulator/own-names', [path === '/v1/chat/completions' ? CLAUDE : SIMULATED], {
        supports_responses_api: true,
        supports_tools: true,
      }),
    );
    if (path === '/v1/responses') delete (body as Json).max_tokens;
    const { said, body: refused } = await rejection(edge.post(body, { path }));
    expect([said.slice(0, 3), refused.error.message]).toEqual([
      '400',
      `No provider of simulator/own-names supports ${named}.`,
    ]);
  });

  it('ERR-34 400 names the member of stop sequences that a translated route cannot take, and how many it takes', async () => {
    const stop_sequences = ['a', 'b', 'c', 'd', 'e'];
    const body = hello('simulator/chat', { max_tokens: 10, stop_sequences });
    const { said, body: refused } = await rejection(edge.post(body, { path: '/v1/messages' }));
    expect([said.slice(0, 3), refused.error.message]).toEqual([
      '400',
      'simulator/chat does not support more than 4 stop sequences (stop_sequences).',
    ]);
  });

  it('CHAT-28 refuses flex where the model has no flex price, and CHAT-26 serves auto and default', async () => {
    const flex = hello('simulator/chat', { service_tier: 'flex' });
    expect((await rejection(edge.post(flex))).said).toBe('400 unsupported_operation');
    for (const tier of ['auto', 'default'])
      expect((await edge.post(hello('simulator/chat', { service_tier: tier }))).status).toBe(200);
  });

  it('ERR-57 ERR-18 503 with Retry-After where no provider of the model has a credential', async () => {
    edge.serve('simulator/nowhere', { provider: 'mistral', upstreamModel: 'x' });
    const { said, response } = await rejection(edge.post(hello('simulator/nowhere')));
    expect(said).toBe('503 provider_not_available');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('S01 records no key that was put where the model belongs', async () => {
    const key = edge.addKey(testPrincipal('key_s01', { accountId: 'acct_s01' }));
    const refused = await edge.post(hello(`rsk_${'aB3'.repeat(16)}x`), { key });
    expect(await edge.record(refused, TOPIC.rejections)).toMatchObject({
      code: 'model_not_found',
      requested_model: '[redacted]',
    });
  });

  it('ERR-12 READ-35 counts and charges nothing, and records the rejection under its X-Request-Id', async () => {
    const key = edge.addKey(
      testPrincipal('key_err12', { accountId: 'acct_err12', limits: [keyScope('key_err12', { rpm: 1 })] }),
    );
    const refused = await edge.post(hello('nobody/none'), { key, headers: { 'x-request-tags': 'team=red' } });
    expect(await edge.record(refused, TOPIC.rejections)).toMatchObject({
      code: 'model_not_found',
      http_status: 404,
      key_id: 'key_err12',
      requested_model: 'nobody/none',
      model: null,
      count: 1,
      request_tags: { team: 'red' },
    });
    const state = await edge.limits.read('acct_err12', [{ kind: 'key', id: 'key_err12' }]);
    expect(state).toMatchObject({ reservedUnits: 0, reservedNano: 0n });
    // The one request a minute is still there.
    expect((await edge.post(hello('simulator/chat'), { key })).status).toBe(200);
    expect(
      edge.shipped().filter(({ request_id }) => request_id === refused.headers.get('x-request-id')),
    ).toEqual([]);
  });

  it.each<[string, Partial<KeyPrincipal>]>([
    ['a suspended key', { status: 'suspended' }],
    ['a key without the scope', { permissions: ['usage:read'] }],
  ])('ERR-36 403 for %s, recorded like any other rejection of a known key', async (_name, more) => {
    const key = edge.addKey(testPrincipal('key_forbidden', more));
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const { said, response } = await rejection(edge.post(hello('simulator/chat'), { key, path }));
      expect(said).toBe('403 forbidden');
      expect(await edge.record(response, TOPIC.rejections)).toMatchObject({
        code: 'forbidden',
        http_status: 403,
        key_id: 'key_forbidden',
        endpoint: path,
        model: null,
      });
    }
  });

  it('EDGE-02 records a body that is encoded, and nothing of a key that is not known', async () => {
    const before = edge.shipped(TOPIC.rejections).length;
    const expired = edge.addKey(testPrincipal('key_expired', { expiresAtMs: 1 }));
    expect((await rejection(edge.post(hello('simulator/chat'), { key: expired }))).said).toBe(
      '401 unauthorized',
    );
    expect((await rejection(edge.post(hello('simulator/chat'), { key: 'rsk_wrong' }))).said).toBe(
      '401 unauthorized',
    );
    const encoded = await edge.post(hello('simulator/chat'), { headers: { 'content-encoding': 'gzip' } });
    expect(encoded.status).toBe(415);
    expect(await edge.record(encoded, TOPIC.rejections)).toMatchObject({ http_status: 415 });
    // Records of earlier tests may still come in: none of these is a 401.
    const statuses = edge
      .shipped(TOPIC.rejections)
      .slice(before)
      .map(({ http_status: status }) => status);
    expect(statuses).toContain(415);
    expect(statuses).not.toContain(401);
  });
});
