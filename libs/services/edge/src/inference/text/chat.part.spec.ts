import { eventually } from '@gateway/testing';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './text.fixture.js';

const edge = tenantOf(started, 'chat');

describe('POST /v1/chat/completions', () => {
  function post(
    body: unknown,
    headers: Record<string, string> = {},
    path = '/v1/chat/completions',
  ): Promise<Response> {
    return fetch(`${edge.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${edge.key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  const hello = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello there' }] };

  it('CHAT-13 CHAT-01 USG-01 answers one chat completion with its usage', async () => {
    const response = await post(hello);
    const body = (await response.json()) as Record<string, never>;
    expect(response.status).toBe(200);
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'simulator/chat',
      usage: { byok_used: false, fallback_triggered: false },
    });
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('10000');
    await eventually(() => edge.shipped().length > 0);
    const [record] = edge.shipped();
    expect(record).toMatchObject({
      request_id: response.headers.get('x-request-id'),
      status: 'success',
      outcome: 'served',
      provider: 'simulated',
      seq: 1,
    });
  });

  it('CHAT-15 USG-02 streams SSE and ends with usage and [DONE]', async () => {
    const response = await post({ ...hello, stream: true });
    if (!response.ok) console.log(await response.text());
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const frames = (await response.text()).trimEnd().split('\n\n');
    expect(frames.at(-1)).toBe('data: [DONE]');
    expect(JSON.parse(frames.at(-2)?.slice(6) ?? '')).toMatchObject({
      choices: [],
      usage: { total_tokens: expect.any(Number) as number },
    });
  });

  it('serves a messages upstream on the chat front', async () => {
    const body = (await (await post({ ...hello, model: 'simulator/claude' })).json()) as {
      choices: { finish_reason: string; native_finish_reason: string }[];
    };
    expect(body.choices[0]).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'end_turn' });
  });
});
