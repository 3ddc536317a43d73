import type { CatalogueModel } from '@gateway/contracts';
import { Pressure } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import { startEdge, testModel, type EdgeUnderTest, type Json } from '../../edge.fixture.js';
import { codeOf, connect, ownKey, SECOND } from './realtime.fixture.js';

/** A model of Google's Live API: what it speaks is not what its callers speak. */
function live(): CatalogueModel {
  const route = { provider: 'simulated', upstreamModel: 'sim-live', dialect: 'gemini-live' };
  const made = testModel('acme/live', [route], {
    model_type: 'audio',
    supports_realtime: true,
    supports_completions_api: false,
  });
  const price = {
    prompt_usd_per_1m: '1',
    completion_usd_per_1m: '2',
    audio_input_usd_per_1m: '10',
    audio_output_usd_per_1m: '20',
  };
  return { ...made, routes: made.routes.map((one) => ({ ...one, price })) };
}

describe('GET /v1/realtime of a model with the Live API', () => {
  let edge: EdgeUnderTest;

  beforeAll(async () => {
    edge = await startEdge({ models: [live()] });
  });
  afterAll(() => edge.close());

  it('RT-01 RT-04 speaks OpenAI’s protocol to the caller, one unit for each turn with its own counts', async () => {
    const { key, records } = ownKey(edge, 'key_live_1');
    const client = connect(edge, 'acme/live', key);
    expect(await client.next('session.created')).toMatchObject({ session: { model: 'acme/live' } });
    const session = { type: 'realtime', output_modalities: ['text'], instructions: 'Be brief.' };
    client.send({ type: 'session.update', session });
    expect(await client.next('session.updated')).toMatchObject({
      session: { model: 'acme/live', instructions: 'Be brief.' },
    });
    client.say('Hello');
    expect(await client.next('response.output_text.done')).toMatchObject({ text: 'You said: "Hello".' });
    expect(await client.next('response.done')).toMatchObject({
      response: { status: 'completed', usage: { input_tokens: 2, output_tokens: 5 } },
    });
    client.say('Bye');
    await client.next('response.done');
    client.ws.close();
    const [first, second] = await records(2);
    expect(first).toMatchObject({
      ...{ model: 'acme/live', unit: 0, outcome: 'served', usage_estimated: false },
      usage: { requests: 1, prompt_tokens: 2, completion_tokens: 5 },
      cost_usd: '0.000012',
    });
    expect(second).toMatchObject({ unit: 1, request_id: first.request_id, usage: { requests: 0 } });
  });

  it('U15 service_unavailable past what one account may have wait for the next responses', async () => {
    const pressure = edge.app.app.get(Pressure);
    const clients = Array.from({ length: 5 }, () => connect(edge, 'acme/live'));
    const content = [{ type: 'input_text', text: 'x'.repeat(14 * 1_048_576) }];
    const item = { type: 'message', role: 'user', content };
    for (const client of clients) {
      await client.next('session.created');
      client.send({ type: 'conversation.item.create', item });
      await Promise.race([client.next('conversation.item.done'), client.closed]);
    }
    expect(await clients[4].closed).toBe(1_013);
    expect(codeOf(await clients[4].next('error'))).toBe('service_unavailable');
    expect(pressure.bodyBytesInFlight).toBeGreaterThan(4 * 14 * 1_048_576);
    for (const { ws } of clients) ws.terminate();
    await eventually(() => pressure.bodyBytesInFlight === 0);
  });

  it('bills sound at its own rates, and what was said to it with the turn', async () => {
    const { key, records } = ownKey(edge, 'key_live_2');
    const client = connect(edge, 'acme/live', key);
    const audio = { input: { transcription: {}, turn_detection: null } };
    client.send({ type: 'session.update', session: { type: 'realtime', audio } });
    client.send({ type: 'input_audio_buffer.append', audio: SECOND });
    client.send({ type: 'input_audio_buffer.append', audio: SECOND });
    client.send({ type: 'input_audio_buffer.commit' }, { type: 'response.create' });
    expect(await client.next('conversation.item.input_audio_transcription.completed')).toMatchObject({
      transcript: 'A recording of 2.0 seconds.',
    });
    expect(await client.next('response.output_audio.delta')).toMatchObject({ delta: SECOND });
    await client.next('response.done');
    client.ws.close();
    const found = await records(1);
    expect(found).toMatchObject([
      { usage: { prompt_tokens: 50, audio_input_tokens: 50, audio_output_tokens: 25 }, cost_usd: '0.001' },
    ]);
    const sent = edge.sim.liveSessions().at(-1)?.received ?? [];
    expect(sent.map((message) => Object.keys(message)[0])).toEqual([
      'setup',
      ...['realtimeInput', 'realtimeInput', 'realtimeInput', 'realtimeInput'],
    ]);
  });

  it('RT-01 a turn that the provider begins by itself is a unit too', async () => {
    const { key, records } = ownKey(edge, 'key_live_3');
    const client = connect(edge, 'acme/live', key);
    client.send({ type: 'input_audio_buffer.append', audio: SECOND });
    client.send({ type: 'input_audio_buffer.commit' });
    await client.next('response.done');
    client.ws.close();
    expect(await records(1)).toMatchObject([{ outcome: 'served' }]);
  });

  it('calls functions: the call ends a response, its result begins the next one', async () => {
    const { key, records } = ownKey(edge, 'key_live_4');
    const client = connect(edge, 'acme/live', key);
    const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }];
    client.send({
      type: 'session.update',
      session: { type: 'realtime', output_modalities: ['text'], tools },
    });
    client.say('!call');
    const { response } = (await client.next('response.done')) as { response: { output: Json[] } };
    expect(response.output).toMatchObject([{ type: 'function_call', name: 'get_weather' }]);
    const item = { type: 'function_call_output', call_id: response.output[0].call_id, output: 'sunny' };
    client.send({ type: 'conversation.item.create', item }, { type: 'response.create' });
    expect(await client.next('response.output_text.done')).toMatchObject({
      text: 'The tool answered: "sunny"',
    });
    await client.next('response.done');
    client.ws.close();
    expect(await records(2)).toHaveLength(2);
  });

  it('a turn that is interrupted is cancelled, and billed by its counts', async () => {
    const { key, records } = ownKey(edge, 'key_live_5');
    const client = connect(edge, 'acme/live', key);
    client.say('!interrupt');
    await client.next('input_audio_buffer.speech_started');
    expect(await client.next('response.done')).toMatchObject({
      response: { status: 'cancelled', status_details: { reason: 'turn_detected' } },
    });
    client.ws.close();
    expect(await records(1)).toMatchObject([{ usage_estimated: false, usage: { completion_tokens: 4 } }]);
  });

  it('ERR-54 provider_error with the provider’s close code, and a rejection of what it has no word for', async () => {
    const client = connect(edge, 'acme/live', ownKey(edge, 'key_live_6').key);
    const format = { type: 'audio/pcmu' };
    client.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { format } } } });
    expect(await client.next('error')).toMatchObject({
      error: { type: 'invalid_request_error', param: 'session.audio.input.format' },
    });
    client.say('!close 1008');
    const error = await client.next('error');
    expect(codeOf(error)).toBe('provider_error');
    expect((error.error as Json).message).toContain('1008');
    expect(await client.closed).toBe(4_502);
  });
});
