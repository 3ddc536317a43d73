import { hello, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './rejections.fixture.js';

const edge = tenantOf(started, 'errors');

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';

interface Row {
  id: string;
  chat: string;
  messages: string;
  says: string;
}

/** Faults of a provider by the scripts of both dialects, and what the caller is told. */
const ROWS: Row[] = [
  {
    id: 'ERR-62',
    chat: 'error=500',
    messages: 'error=500',
    says: '502 upstream_error internal_provider_error',
  },
  {
    id: 'ERR-62',
    chat: 'error=401-key',
    messages: 'error=401-key',
    says: '502 upstream_error internal_provider_error',
  },
  {
    id: 'ERR-63 ERR-18',
    chat: 'error=503-overloaded',
    messages: 'error=529',
    says: '503 upstream_error provider_overloaded',
  },
  { id: 'ERR-50', chat: 'error=504', messages: 'error=504', says: '504 gateway_timeout provider_timeout' },
  {
    id: 'ERR-60',
    chat: 'malformed=html',
    messages: 'malformed=html',
    says: '502 upstream_error bad_response',
  },
  {
    id: 'ERR-61',
    chat: 'reset=before',
    messages: 'reset=before',
    says: '502 upstream_error connection_error',
  },
  {
    id: '',
    chat: 'error=429-rate',
    messages: 'error=429-rate',
    says: '429 upstream_error rate_limit_exceeded',
  },
  {
    id: 'ERR-25',
    chat: 'error=context',
    messages: 'error=context',
    says: '400 context_window_exceeded context_window_exceeded',
  },
  {
    id: 'ERR-24',
    chat: 'error=content-policy',
    messages: 'error=content-policy',
    says: '400 content_policy_violation content_policy_violation',
  },
  { id: 'ERR-27', chat: 'error=image', messages: 'error=image', says: '400 invalid_input invalid_input' },
  {
    id: 'ERR-28',
    chat: 'error=invalid-value',
    messages: 'error=invalid',
    says: '400 invalid_request invalid_request',
  },
];

describe('failures of providers', () => {
  it.each(
    ROWS.flatMap(({ id, chat, messages, says }) =>
      [CHAT, MESSAGES].flatMap((path) =>
        [`sim-chat:${chat}`, `sim-claude:${messages}`].flatMap((upstream) =>
          [false, true].map((stream): [string, string, string, boolean, string] => [
            id,
            path,
            upstream,
            stream,
            says,
          ]),
        ),
      ),
    ),
  )('ERR-04 %s %s over %s stream %s: %s', async (_id, path, upstream, stream, says) => {
    const model = edge.serve('errors/scripted', upstream);
    const response = await edge.post(hello(model, { stream }), { path });
    const body = (await response.json()) as {
      error: Record<string, string>;
      type?: string;
      request_id: string;
    };
    expect(`${response.status} ${body.error.code} ${body.error.provider_code}`).toBe(says);
    expect(body.request_id).toBe(response.headers.get('x-request-id'));
    expect(body.type).toBe(path === MESSAGES ? 'error' : undefined);
    if (response.status === 429 || response.status === 503)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    const record = await edge.record(response);
    expect(record).toMatchObject({
      status: 'error',
      outcome: 'failed',
      http_status: response.status,
      error_code: body.error.code,
      cost_usd: null,
    });
    expect((record.attempts as Json[]).every(({ house_usd }) => house_usd === null)).toBe(true);
  });

  it('ERR-08 ERR-09 ERR-10 the message names the provider and no credential or resource id', async () => {
    for (const upstream of [
      'sim-chat:error=401-key',
      'sim-chat:error=500',
      'sim-claude:error=500',
      'sim-claude:error=401-key',
    ]) {
      const model = edge.serve('errors/scripted', upstream);
      const { error } = (await (await edge.post(hello(model))).json()) as { error: { message: string } };
      expect(error.message).toMatch(/Simulat/);
      expect(error.message).not.toMatch(/sk-|sim-key-of|arn:|org-/);
    }
  });

  it('ERR-13 the same request succeeds once the fault is gone', async () => {
    for (const upstream of ['sim-chat', 'sim-claude']) {
      const fault = upstream === 'sim-chat' ? '503-overloaded' : '529';
      const model = edge.serve(
        'errors/scripted',
        `${upstream}:error=${fault};retry_after=9;fail=1;key=err13-${upstream}`,
      );
      expect((await edge.post(hello(model))).status).toBe(503);
      expect((await edge.post(hello(model))).status).toBe(200);
    }
  });

  it('ERR-61 a provider that cannot be reached is a connection error', async () => {
    const model = edge.serve('errors/scripted', 'sim-chat:reset=headers');
    const { error } = (await (await edge.post(hello(model))).json()) as { error: Json };
    expect(error).toMatchObject({ code: 'upstream_error', provider_code: 'connection_error' });
  });

  it('CHAT-20 an image reaches the upstream of either dialect', async () => {
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const content = [
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ];
    for (const model of ['simulator/chat', 'simulator/claude']) {
      edge.sim.reset();
      expect((await edge.post(hello(model, { messages: [{ role: 'user', content }] }))).status).toBe(200);
      expect(edge.upstream()[0].body).toContain(png);
      expect(edge.upstream()[0].body).toContain(
        model === 'simulator/chat' ? 'image_url' : '"media_type":"image/png"',
      );
    }
  });

  it('USG-16 USG-17 USG-18 CHAT-21 the body reaches the provider and nothing of its cost comes back', async () => {
    edge.sim.reset();
    const response = await edge.post(hello('simulator/chat', { temperature: 0.25 }));
    expect(JSON.parse(edge.upstream()[0].body)).toMatchObject({ temperature: 0.25 });
    const { usage } = (await response.json()) as { usage: Json };
    expect(Object.keys(usage).filter((key) => /cost|usd|price/i.test(key))).toEqual([]);
    expect(usage).toMatchObject({ byok_used: false, fallback_triggered: false });
  });
});

describe('the parameter that a provider names', () => {
  it('ERR-28 is named to who has sent it, and to nobody else', async () => {
    const paramOf = async (upstreamModel: string, more: Json = {}): Promise<unknown> => {
      edge.serve('simulator/refusing', upstreamModel);
      const answer = await edge.post(hello('simulator/refusing', more));
      return ((await answer.json()) as { error: Json }).error.param;
    };
    expect(await paramOf('sim-error-context')).toBe('messages');
    expect(await paramOf('sim-error-unsupported-parameter', { temperature: 0.2 })).toBe('temperature');
    expect(await paramOf('sim-error-unsupported-parameter')).toBeNull();
    expect(await paramOf('sim-error-500', { temperature: 0.2 })).toBeNull();
  });
});
