import WebSocket from 'ws';
import { startEdge, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';
import { codeOf, RealtimeClient, REALTIME_MODELS, urlOf } from '../sockets/realtime/realtime.fixture.js';

describe('POST /v1/realtime/client_secrets', () => {
  let edge: EdgeUnderTest;

  beforeAll(async () => {
    edge = await startEdge({ models: REALTIME_MODELS });
  });
  afterAll(() => edge.close());

  const make = (body: object, key = edge.key): Promise<Response> =>
    edge.post(body, { path: '/v1/realtime/client_secrets', key });
  const browser = (secret: string): RealtimeClient =>
    new RealtimeClient(new WebSocket(urlOf(edge, '', ''), ['realtime', `openai-insecure-api-key.${secret}`]));

  it('RT-04 opens a session with the model and the settings that it was made for', async () => {
    const session = {
      type: 'realtime',
      model: 'acme/voice',
      instructions: 'Be brief.',
      output_modalities: ['text'],
    };
    const answer = await make({ expires_after: { anchor: 'created_at', seconds: 60 }, session });
    expect(answer.status).toBe(200);
    const made = (await answer.json()) as { value: string; expires_at: number; session: Json };
    expect(made.value).toMatch(/^ek_/);
    expect(made.session).toMatchObject({ ...session, object: 'realtime.session' });
    const client = browser(made.value);
    expect(await client.next('session.updated')).toMatchObject({
      session: { model: 'acme/voice', instructions: 'Be brief.' },
    });
    client.say('Hello');
    expect(await client.next('response.output_text.done')).toBeDefined();
    client.ws.close();
  });

  it('ERR-40 invalid_api_key for a secret that was made up', async () => {
    const answer = await make({ session: { model: 'acme/voice' } });
    const { value } = (await answer.json()) as { value: string };
    for (const secret of [`${value.slice(0, -4)}AAAA`, 'ek_none', `ek_${'A'.repeat(400)}`]) {
      const client = browser(secret);
      expect(codeOf(await client.next('error'))).toBe('invalid_api_key');
      expect(await client.closed).toBe(4_401);
    }
  });

  it.each([
    [{ session: { model: 'acme/none' } }, 404],
    [{ session: { model: 'simulator/chat' } }, 400],
    [{ session: { type: 'transcription', model: 'acme/voice' } }, 422],
    [{ expires_after: { seconds: 9 }, session: { model: 'acme/voice' } }, 422],
    [{ session: { model: 'acme/voice', instructions: 'x'.repeat(5_000) } }, 422],
    [{}, 422],
  ])('RT-04 refuses %j with %i, a fault of the body with details', async (body, status) => {
    const answer = await make(body);
    const { error } = (await answer.json()) as { error: { details?: unknown[] } };
    expect([answer.status, error.details?.length]).toEqual([status, status === 422 ? 1 : undefined]);
  });

  it('ERR-38 RT-04 403 without realtime and without the scope, and with a secret itself', async () => {
    const realtime = { enabled: false, maxSessions: null, maxSeconds: null, maxTokens: null };
    const off = edge.addKey(testPrincipal('key_off_secret', { realtime }));
    expect((await make({ session: { model: 'acme/voice' } }, off)).status).toBe(403);
    const scoped = edge.addKey(testPrincipal('key_scoped_secret', { permissions: ['inference:write'] }));
    expect((await make({ session: { model: 'acme/voice' } }, scoped)).status).toBe(403);
    expect((await make({ session: { model: 'acme/voice' } }, 'ek_AAAA')).status).toBe(401);
  });
});
