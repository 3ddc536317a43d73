import { eventually } from '@gateway/testing';
import WebSocket from 'ws';
import { startEdge, testPrincipal, type EdgeUnderTest, type Json } from '../../edge.fixture.js';
import {
  codeOf,
  connect,
  RealtimeClient,
  REALTIME_MODELS,
  ownKey,
  SECOND,
  urlOf,
} from './realtime.fixture.js';

describe('GET /v1/realtime as a WebSocket', () => {
  let edge: EdgeUnderTest;

  beforeAll(async () => {
    edge = await startEdge({ models: REALTIME_MODELS });
  });
  afterAll(() => edge.close());

  it('RT-01 RT-04 relays the events of a session both ways, one unit for each response', async () => {
    const { key, records } = ownKey(edge, 'key_realtime_htt_1');
    const client = connect(edge, 'acme/voice', key);
    expect(await client.next('session.created')).toMatchObject({ session: { model: 'acme/voice' } });
    client.send({
      type: 'session.update',
      session: { type: 'realtime', model: 'acme/voice', output_modalities: ['text'] },
    });
    expect(await client.next('session.updated')).toMatchObject({
      session: { model: 'acme/voice', output_modalities: ['text'] },
    });
    client.say('Hello');
    expect(await client.next('response.output_text.done')).toMatchObject({
      text: 'Hello from the simulated provider! You said: "Hello".',
    });
    const { response } = (await client.next('response.done')) as { response: { usage: Json } };
    expect(response.usage).toMatchObject({ input_tokens: 2 });
    client.say('Bye');
    await client.next('response.done');
    client.ws.close();
    const [first, second] = await records(2);
    expect(first).toMatchObject({
      endpoint: '/v1/realtime',
      model: 'acme/voice',
      unit: 0,
      outcome: 'served',
      usage: { requests: 1, prompt_tokens: 2, completion_tokens: 14 },
      usage_estimated: false,
      cost_usd: '0.00003',
    });
    expect(second).toMatchObject({ unit: 1, request_id: first.request_id, usage: { requests: 0 } });
    const [session] = edge.sim.sessions();
    expect(session).toMatchObject({ model: 'sim-realtime' });
    expect(session.received[0]).toMatchObject({ session: { model: 'sim-realtime' } });
  });

  it('RT-01 bills audio at its own rates, and each input transcription as a unit of its own', async () => {
    const { key, records } = ownKey(edge, 'key_realtime_htt_2');
    const client = connect(edge, 'acme/voice', key);
    const transcription = { model: 'acme/hears' };
    client.send(
      { type: 'session.update', session: { type: 'realtime', audio: { input: { transcription } } } },
      { type: 'input_audio_buffer.append', audio: SECOND },
      { type: 'input_audio_buffer.append', audio: SECOND },
      { type: 'input_audio_buffer.commit' },
      { type: 'response.create' },
    );
    expect(await client.next('conversation.item.input_audio_transcription.completed')).toMatchObject({
      transcript: 'A recording of 2.0 seconds.',
    });
    await client.next('response.done');
    client.ws.close();
    const both = await records(2);
    const [heard, said] = ['acme/hears', 'acme/voice'].map((id) => both.find(({ model }) => model === id));
    expect(heard).toMatchObject({ usage: { audio_seconds: '2' }, cost_usd: '0.02' });
    expect(said).toMatchObject({
      usage: { prompt_tokens: 20, audio_input_tokens: 20, audio_output_tokens: 20 },
    });
    const asked = edge.sim.sessions().map(({ received }) => received[0]);
    expect(asked).toContainEqual(
      expect.objectContaining({
        session: expect.objectContaining({ audio: { input: { transcription: { model: 'sim-hear' } } } }),
      }),
    );
  });

  it.each([
    ['acme/hears-elsewhere', 'unsupported_operation'],
    ['acme/nobody', 'model_not_found'],
  ])('RT-01 names the member of a transcription by %s: %s', async (model, code) => {
    const client = connect(edge, 'acme/voice', ownKey(edge, `key_transcriber_${code}`).key);
    const session = { type: 'realtime', audio: { input: { transcription: { model } } } };
    client.send({ type: 'session.update', session });
    const param = 'session.audio.input.transcription.model';
    expect(await client.next('error')).toMatchObject({ error: { code, param } });
    client.ws.close();
  });

  it('issue 11 RT-01 a stored prompt is refused with the operator’s credential, by its member, and sent with an own key', async () => {
    const prompt = { id: 'pmpt_1' };
    const update = { type: 'session.update', session: { type: 'realtime', prompt } };
    const create = { type: 'response.create', event_id: 'mine', response: { prompt } };
    const client = connect(edge, 'acme/voice', ownKey(edge, 'key_prompt_operator').key);
    await client.next('session.created');
    client.send(update, create);
    for (const param of ['session.prompt.id', 'response.prompt.id'])
      expect(await client.next('error')).toMatchObject({
        error: {
          code: 'unsupported_operation',
          param,
          message: `${param} names an object at a provider. That takes a provider key of your own.`,
        },
      });
    client.say('Hello');
    await client.next('response.done');
    client.ws.close();
    const withPrompt = (): number =>
      edge.sim.sessions().filter(({ received }) => JSON.stringify(received).includes('pmpt_1')).length;
    expect(withPrompt()).toBe(0);

    edge.vault.credentials.set('pk_prompt', { kind: 'api_key', key: 'sim-key-of-mine' });
    const providerKeys = [
      {
        id: 'pk_prompt',
        provider: 'simulated',
        version: 1,
        allowedModels: null,
        allowPlatformFallback: true,
      },
    ];
    const own = connect(
      edge,
      'acme/voice',
      edge.addKey(testPrincipal('key_prompt_own', { accountId: 'acct_prompt_own', providerKeys })),
    );
    await own.next('session.created');
    own.send(update);
    await own.next('session.updated');
    own.ws.close();
    expect(withPrompt()).toBe(1);
  });

  it('RT-01 a response that the provider begins by itself is a unit too', async () => {
    const { key, records } = ownKey(edge, 'key_realtime_htt_3');
    const client = connect(edge, 'acme/voice', key);
    const audio = { input: { turn_detection: { type: 'server_vad' } } };
    client.send({ type: 'session.update', session: { type: 'realtime', audio } });
    client.send({ type: 'input_audio_buffer.append', audio: SECOND });
    await client.next('input_audio_buffer.speech_started');
    await client.next('response.done');
    client.ws.close();
    expect(await records(1)).toMatchObject([{ outcome: 'served' }]);
  });

  it('RT-01 a model that is billed by the minute counts the time of connection', async () => {
    const { key, records } = ownKey(edge, 'key_realtime_htt_4');
    const client = connect(edge, 'acme/by-minute', key);
    client.say('Hello');
    await client.next('response.done');
    client.ws.close();
    const [record] = await records(1);
    const { audio_seconds: seconds } = record.usage as Json;
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(record.cost_usd)).toBeCloseTo(Number(seconds), 9);
  });

  it('RT-02 takes no notice of X-Service-Version', async () => {
    const client = connect(edge, 'acme/voice', edge.key, { 'x-service-version': '1999-01' });
    expect(await client.next('session.created')).toBeDefined();
    client.ws.close();
  });

  it('RT-04 takes a browser’s key as a sub-protocol, and never sends it back', async () => {
    const ws = new WebSocket(urlOf(edge, 'acme/voice'), ['realtime', `openai-insecure-api-key.${edge.key}`]);
    const client = new RealtimeClient(ws);
    await client.next('session.created');
    expect(ws.protocol).toBe('realtime');
    ws.close();
  });

  it('ERR-40 RT-04 invalid_api_key for a missing, malformed, unknown or suspended key', async () => {
    const suspended = edge.addKey(testPrincipal('key_suspended_rt', { status: 'suspended' }));
    for (const key of ['', 'sk-none', 'rsk_unknown', suspended]) {
      const client = connect(edge, 'acme/voice', key);
      expect(codeOf(await client.next('error'))).toBe('invalid_api_key');
      expect(await client.closed).toBe(4_401);
    }
  });

  it.each([
    ['acme/none', 'model_not_found', 4_404],
    ['simulator/chat', 'model_capability_not_supported', 4_404],
  ])('RT-04 %s: %s and %i', async (model, code, close) => {
    const client = connect(edge, model);
    expect(codeOf(await client.next('error'))).toBe(code);
    expect(await client.closed).toBe(close);
  });

  it.each(['intent=transcription', 'call_id=rtc_1', ''])('RT-04 refuses a session of %j', async (query) => {
    const headers = { authorization: `Bearer ${edge.key}` };
    const client = new RealtimeClient(new WebSocket(urlOf(edge, '', query), { headers }));
    await client.next('error');
    expect(await client.closed).toBe(1_007);
  });

  it('ERR-38 feature_not_enabled for an organization without realtime', async () => {
    const realtime = { enabled: false, maxSessions: null, maxSeconds: null, maxTokens: null };
    const client = connect(edge, 'acme/voice', edge.addKey(testPrincipal('key_off', { realtime })));
    expect(codeOf(await client.next('error'))).toBe('feature_not_enabled');
    expect(await client.closed).toBe(4_403);
  });

  it('ERR-37 RT-03 concurrent_sessions_exceeded beyond the sessions of a key', async () => {
    const realtime = { enabled: true, maxSessions: 1, maxSeconds: null, maxTokens: null };
    const key = edge.addKey(testPrincipal('key_one_session', { realtime }));
    const first = connect(edge, 'acme/voice', key);
    await first.next('session.created');
    const second = connect(edge, 'acme/voice', key);
    expect(codeOf(await second.next('error'))).toBe('concurrent_sessions_exceeded');
    expect(await second.closed).toBe(4_429);
    first.ws.close();
    await first.closed;
    const third = connect(edge, 'acme/voice', key);
    await third.next('session.created');
    third.ws.close();
  });

  it('ERR-41 RT-03 session_token_cap_exceeded once a session has used its tokens', async () => {
    const realtime = { enabled: true, maxSessions: null, maxSeconds: null, maxTokens: 60 };
    const client = connect(edge, 'acme/voice', edge.addKey(testPrincipal('key_few_tokens', { realtime })));
    for (const text of ['Hello', 'Bye']) {
      client.say(text);
      await client.next('response.done');
    }
    expect(codeOf(await client.next('error'))).toBe('session_token_cap_exceeded');
    expect(await client.closed).toBe(4_430);
  });

  it('RT-04 a limit that is used up refuses the turn, and the session goes on', async () => {
    const limits = [{ ...testPrincipal('x').limits[0], id: 'key_two_turns', rpm: 2 }];
    const client = connect(edge, 'acme/voice', edge.addKey(testPrincipal('key_two_turns', { limits })));
    client.say('One');
    await client.next('response.done');
    client.say('Two');
    await client.next('response.done');
    client.send({ type: 'response.create', event_id: 'mine' });
    expect(await client.next('error')).toMatchObject({
      error: { code: 'rate_limit_exceeded', event_id: 'mine' },
    });
    client.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be brief.' } });
    expect(await client.next('session.updated')).toBeDefined();
    client.ws.close();
  });

  it('ERR-40 RT-04 ends at the turn after the key was suspended', async () => {
    const key = edge.addKey(testPrincipal('key_suspended_later'));
    const client = connect(edge, 'acme/voice', key);
    await client.next('session.created');
    const resolve = edge.principals.resolve.bind(edge.principals);
    const gone = testPrincipal('key_suspended_later', { status: 'suspended' });
    edge.principals.resolve = () => Promise.resolve(gone);
    try {
      client.say('Hello');
      expect(codeOf(await client.next('error'))).toBe('invalid_api_key');
      expect(await client.closed).toBe(4_401);
    } finally {
      edge.principals.resolve = resolve;
    }
  });

  it('ERR-40 RT-04 ends between two turns too, once the key is suspended', async () => {
    const account = { accountId: 'acct_suspended_idle', accountVersion: 1 };
    const principal = { ...testPrincipal('key_suspended_idle'), ...account };
    const key = edge.addKey(principal);
    const client = connect(edge, 'acme/voice', key);
    await client.next('session.created');
    edge.principals.add(key, { ...principal, status: 'suspended', accountVersion: 2 });
    await edge.limits.stamp(account.accountId, 2, null);
    expect(codeOf(await client.next('error'))).toBe('invalid_api_key');
    expect(await client.closed).toBe(4_401);
  });

  it('ERR-54 provider_error for an error of the provider in mid-session, which bills nothing', async () => {
    const { key, records } = ownKey(edge, 'key_realtime_htt_5');
    const client = connect(edge, 'acme/voice', key);
    client.say('!error');
    expect(codeOf(await client.next('error'))).toBe('provider_error');
    client.say('Hello');
    await client.next('response.done');
    client.ws.close();
    expect(await records(2)).toMatchObject([
      { outcome: 'failed', error_code: 'provider_error', cost_usd: null },
      { outcome: 'served' },
    ]);
  });

  it('RT-04 an error of the provider that the caller can mend comes as it is', async () => {
    const client = connect(edge);
    client.say('!refuse');
    expect(await client.next('error')).toMatchObject({
      error: { type: 'invalid_request_error', message: 'The response cannot be made.', event_id: null },
    });
    client.ws.close();
  });

  it.each([1_008, 1_011])('ERR-54 RT-04 relays that the provider closed with %i', async (code) => {
    const client = connect(edge);
    client.say(`!close ${code}`);
    const { error } = (await client.next('error')) as { error: Json };
    expect(error).toMatchObject({ code: 'provider_error', message: expect.stringContaining(String(code)) });
    expect(await client.closed).toBe(4_502);
  });

  it('RT-04 a provider that cannot be reached is an error before anything is relayed', async () => {
    const client = connect(edge, 'acme/busy');
    expect(codeOf(await client.next('error'))).toBe('upstream_error');
    expect(await client.closed).toBe(4_502);
  });

  it('RT-01 bills a turn that the caller leaves by what it was sent, and closes the provider', async () => {
    const { key, records } = ownKey(edge, 'key_realtime_htt_6');
    const client = connect(edge, 'acme/voice', key);
    client.say('!hang');
    await client.next('response.output_audio_transcript.delta');
    client.ws.terminate();
    const [record] = await records(1);
    expect(record).toMatchObject({ outcome: 'cancelled', usage_estimated: true });
    expect(Number(record.cost_usd)).toBeGreaterThan(0);
    const session = edge.sim.sessions().find(({ received }) => JSON.stringify(received).includes('!hang'));
    await eventually(() => session?.closedWith !== null);
  });

  it('RT-04 a message that is no JSON ends the session with 1007', async () => {
    const client = connect(edge);
    await client.next('session.created');
    client.ws.send('no JSON');
    await client.next('error');
    expect(await client.closed).toBe(1_007);
  });

  it('RT-04 refuses to write the input down with a model that the key may not use', async () => {
    const access = [{ kind: 'key' as const, allowed: ['acme/voice'], blocked: null }];
    const client = connect(edge, 'acme/voice', edge.addKey(testPrincipal('key_only_voice', { access })));
    const input = { transcription: { model: 'acme/hears' } };
    client.send({ type: 'session.update', event_id: 'e1', session: { type: 'realtime', audio: { input } } });
    expect(await client.next('error')).toMatchObject({ error: { code: 'model_not_found', event_id: 'e1' } });
    client.ws.close();
  });
});
