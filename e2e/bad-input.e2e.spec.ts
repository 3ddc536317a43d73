import { mintSecret, SystemRandom } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import { START_MS } from './harness/modes.js';
import { SHARED_MODES, type OwnOrganization } from './harness/own-organization.js';
import { ask, askOnce, type Answered, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const BODY_LIMIT_BYTES = 33_554_432;
const CHAT = '/v1/chat/completions';
const unknownKey = mintSecret('rsk_', new SystemRandom());
const chat = (more: Body = {}): Body => ({
  model: 'simulator/chat',
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
});
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };

describe.each(SHARED_MODES)('bad input to %s', (_name, start) => {
  let gateway: OwnOrganization;
  let person: PersonSession;
  beforeAll(async () => {
    gateway = await start();
    person = await logIn(gateway);
  }, START_MS);

  const post = (path: string, body: Body | string | Buffer, more: object = {}): Promise<Answered> =>
    ask(gateway, 'POST', path, { body, ...more });
  const said = ({ status, body }: Answered): string => `${status} ${body.error?.code}`;

  it('AUTH-18 ERR-26 a wrong version header is 400 before a wrong key is 401, on every kind of path', async () => {
    const wrong = { key: unknownKey, headers: { 'x-service-version': '1999-01' } };
    const paths: [string, string][] = [
      ['POST', CHAT],
      ['POST', '/v1/usage'],
      ['GET', '/v1/balance'],
      ['GET', '/v1/keys'],
    ];
    for (const [method, path] of paths) {
      const body = method === 'POST' ? {} : undefined;
      const refused = await askOnce(gateway, method, path, { ...wrong, body });
      expect([path, said(refused)]).toEqual([path, '400 invalid_api_version']);
      expect(refused.body.error.supported_versions.length).toBeGreaterThan(0);
      expect([path, said(await askOnce(gateway, method, path, { key: unknownKey, body }))]).toEqual([
        path,
        '401 unauthorized',
      ]);
    }
  });

  it.each<[string, Body | string, (string | number)[]]>([
    ['malformed JSON', '{"model": "simulator/chat", "messages": [', []],
    ['no JSON at all', 'model=simulator/chat', []],
    ['an unknown role', chat({ messages: [{ role: 'robot', content: 'x' }] }), ['messages', 0, 'role']],
    ['a missing model', { messages: chat().messages }, ['model']],
    ['missing messages', { model: 'simulator/chat' }, ['messages']],
    [
      'a tool call that nothing answers',
      chat({
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'user', content: 'and?' },
        ],
      }),
      ['messages'],
    ],
  ])('ERR-35 ERR-05 %s is 422 validation_error with its place', async (_what, body, loc) => {
    const refused = await post(CHAT, body);
    expect(said(refused)).toBe('422 validation_error');
    expect(refused.body.request_id).toBe(refused.requestId);
    const [detail] = refused.body.error.details as Body[];
    expect(detail).toEqual({ type: expect.any(String), loc: expect.any(Array), msg: expect.any(String) });
    expect(detail.loc.slice(0, loc.length)).toEqual(loc);
  });

  it('VER-20 VID-11 a video input that the model does not take is refused alike under every version', async () => {
    const clip = { type: 'video_url', video_url: { url: 'https://a.test/v.mp4' }, role: 'source_video' };
    const body = { model: 'simulator/video', content: [{ type: 'text', text: 'on' }, clip] };
    const refused = await Promise.all(
      ['2026-08', '2026-09'].map((version) =>
        post('/v1/video/generations', body, { headers: { 'x-service-version': version } }),
      ),
    );
    for (const answer of refused) {
      expect(said(answer)).toBe('422 validation_error');
      expect(answer.body.error).toEqual(refused[0].body.error);
      const [detail] = answer.body.error.details as Body[];
      expect(detail).toMatchObject({ loc: ['content', 1, 'role'] });
    }
    const { body: tasks } = await askOnce(gateway, 'GET', '/v1/video/generations');
    expect(tasks.data).toEqual([]);
  });

  it('EDGE-02 a management body that is not JSON, or of another shape, is an envelope', async () => {
    const bodies: [string, string][] = [
      ['/v1/usage', '{"org_id": '],
      ['/v1/usage', '[1]'],
      ['/v1/usage/events', '"text"'],
      ['/v1/keys', '{"label": '],
      ['/auth/login', '{"email"'],
    ];
    for (const [path, body] of bodies) {
      const key = path === '/v1/keys' ? person.token : gateway.key;
      expect([path, body, said(await post(path, body, { key }))]).toEqual([
        path,
        body,
        '422 validation_error',
      ]);
    }
  });

  it('bombs of depth and of size are refused, and the gateway goes on answering', async () => {
    const bombs = [
      `{"model":"simulator/chat","messages":${'['.repeat(4_000_000)}`,
      `{"model":"simulator/chat","messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      `${'{"a":'.repeat(500_000)}1${'}'.repeat(500_000)}`,
      `{${Array.from({ length: 200_000 }, (_, at) => `"k${at}":1`).join(',')}}`,
      `{"model":"simulator/chat","messages":[${'1,'.repeat(500_000)}1]}`,
    ];
    for (const path of [CHAT, '/v1/messages', '/v1/usage', '/v1/keys']) {
      const key = path === '/v1/keys' ? person.token : gateway.key;
      for (const [at, bomb] of bombs.entries()) {
        const refused = await post(path, bomb, { key });
        expect([path, at, refused.status]).toEqual([path, at, path === '/v1/messages' ? 400 : 422]);
      }
    }
    expect((await post(CHAT, chat())).status).toBe(200);
  });

  it('LIM-13 LIM-34 LIM-35 32 MiB pass on every path, one byte more is the HTML 413 without a trace', async () => {
    // 503: an edge that has just read 32 MiB sheds what comes next, on a busy machine.
    const { key } = await person.createKey('oversize');
    const counted = (): Promise<Body> =>
      eventually(async () => {
        const { status, body } = await askOnce(gateway, 'GET', '/v1/usage/rate-limits', { key });
        return status === 200 ? { rpd: body.scopes.key.rpd.current } : null;
      });
    const paths: [string, Body, string][] = [
      [CHAT, chat(), key],
      ['/v1/messages', { ...chat({ model: 'simulator/claude' }), max_tokens: 9 }, key],
      ['/openai/v1/chat/completions', chat(), key],
      ['/v1/usage', { org_id: 'mine' }, key],
    ];
    for (const [path, body, by] of paths) {
      const padded = (size: number): Buffer => Buffer.from(JSON.stringify(body).padEnd(size, ' '));
      const passed = await eventually(async () => {
        const { status } = await post(path, padded(BODY_LIMIT_BYTES), { key: by });
        return status === 503 ? null : status;
      });
      expect([path, passed]).toEqual([path, 200]);
      const before = await counted();
      for (const credential of [by, unknownKey]) {
        const refused = await post(path, padded(BODY_LIMIT_BYTES + 1), {
          key: credential,
          headers: { 'x-service-version': '1999-01' },
        });
        expect([path, refused.status]).toEqual([path, 413]);
        expect(refused.headers.get('content-type')).toContain('text/html');
        expect(refused.text).not.toContain('request_id');
        for (const header of ['x-request-id', 'x-service-version', 'x-ratelimit-limit-requests'])
          expect([header, refused.headers.get(header)]).toEqual([header, null]);
      }
      expect(await counted()).toEqual(before);
    }
    const { body } = await askOnce(gateway, 'POST', '/v1/usage/rejections', { key, body: {} });
    expect(body.total).toBe(0);
  });
});
