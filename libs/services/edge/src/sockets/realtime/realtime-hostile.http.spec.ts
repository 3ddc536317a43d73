import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { eventually } from '@gateway/testing';
import { WebSocketServer, type WebSocket } from 'ws';
import { testModel, startEdge, type EdgeUnderTest, type Json } from '../../edge.fixture.js';
import { PAID, priced, RECHARGED } from '../../inference/priced-upstream.fixture.js';
import { codeOf, connect, ownKey, REALTIME_MODELS, SECOND } from './realtime.fixture.js';

const TURNS_MAX = 16;

/** A model of Google's Live API at the hostile provider. */
function live(): ReturnType<typeof testModel> {
  const route = { provider: 'simulated', upstreamModel: 'sim-live', dialect: 'gemini-live' };
  return testModel('acme/live', [route], {
    model_type: 'audio',
    supports_realtime: true,
    supports_completions_api: false,
  });
}

describe('a realtime provider that cannot be trusted', () => {
  let edge: EdgeUnderTest;
  let server: WebSocketServer;
  /** Reaction to each message of a session. */
  let act: (ws: WebSocket, message: Json) => void = () => undefined;

  beforeAll(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('connection', (ws) => {
      ws.on('error', () => undefined);
      ws.on('message', (data: Buffer) => act(ws, JSON.parse(data.toString('utf8')) as Json));
    });
    const { port } = server.address() as AddressInfo;
    edge = await startEdge({
      models: [...REALTIME_MODELS, live()],
      config: { REALTIME_MAX_TOKENS: 1_000 },
      upstreams: async () => ({ simulated: `http://127.0.0.1:${port}` }),
    });
  });
  afterAll(async () => {
    await edge.close();
    for (const ws of server.clients) ws.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  const say = (ws: WebSocket, ...events: Json[]): void => {
    for (const event of events) ws.send(JSON.stringify(event));
  };
  const begun = (id: string): Json => ({ type: 'response.created', response: { id } });
  const done = (id: string): Json => ({
    type: 'response.done',
    response: { id, status: 'completed', usage: { input_tokens: 3, output_tokens: 2 } },
  });

  it('ERR-54 fails a response that it has counted: the house bears it, and the next one is billed', async () => {
    const { key, records } = ownKey(edge, 'key_failed_turn');
    const failed = { ...done('r1'), response: { ...(done('r1').response as Json), status: 'failed' } };
    let asked = 0;
    act = (ws, { type }) => {
      if (type !== 'response.create') return;
      asked += 1;
      if (asked === 1) say(ws, begun('r1'), failed);
      else say(ws, begun('r2'), done('r2'));
    };
    const client = connect(edge, 'acme/voice', key);
    for (let n = 0; n < 2; n += 1) {
      client.send({ type: 'response.create' });
      await client.next('response.done');
    }
    client.ws.close();
    expect(await records(2)).toMatchObject([
      {
        ...{ outcome: 'failed', status: 'error', error_code: 'provider_error', cost_usd: null },
        attempts: [{ house_usd: '0.000007', prompt_tokens: 3, completion_tokens: 2 }],
      },
      { outcome: 'served', cost_usd: '0.000007', attempts: [{ house_usd: null }] },
    ]);
  });

  it('RT-04 begins a response twice: it is one unit', async () => {
    const { key, records } = ownKey(edge, 'key_twice');
    act = (ws) => say(ws, begun('r1'), begun('r1'), done('r1'), done('r1'), begun('r2'), done('r2'));
    const client = connect(edge, 'acme/voice', key);
    client.send({ type: 'response.create' });
    await client.next('response.done');
    const { response } = (await client.next('response.done')) as { response: Json };
    expect(response.id).toBe('r1');
    await client.next('response.done');
    client.ws.close();
    const found = await records(2);
    expect(found).toMatchObject([
      { unit: 0, outcome: 'served', usage: { prompt_tokens: 3, completion_tokens: 2 } },
      { unit: 1, outcome: 'served', usage: { prompt_tokens: 3, completion_tokens: 2 } },
    ]);
  });

  it('USG-18 says what it costs, at any depth of any event: the caller is sent nothing of it', async () => {
    const parameters = { type: 'object', properties: { price: { type: 'number' } } };
    const session = { type: 'realtime', tools: [{ type: 'function', name: 'buy', parameters }] };
    const item = { id: 'i1', type: 'function_call', name: 'buy', arguments: '{"price":2}' };
    act = (ws, { type }) => {
      const events: Json[] = [{ type: 'session.updated', session }];
      if (type === 'response.create')
        events.splice(
          0,
          1,
          begun('r1'),
          { type: 'response.output_item.done', response_id: 'r1', item },
          done('r1'),
        );
      if (type === 'conversation.item.truncate')
        events.splice(0, 1, { type: 'error', error: { type: 'invalid_request_error', message: 'no' } });
      say(ws, ...events.map((event) => priced(event) as Json));
    };
    const client = connect(edge, 'acme/voice');
    client.send({ type: 'session.update', session });
    const { session: updated } = await client.next('session.updated');
    client.send({ type: 'response.create' });
    const made = [await client.next('response.output_item.done'), await client.next('response.done')];
    client.send({ type: 'conversation.item.truncate' });
    const all = [updated, ...made, await client.next('error'), ...client.events];
    client.ws.close();
    expect(JSON.stringify(all)).not.toContain(String(PAID));
    expect(updated).toMatchObject(session);
    expect(made).toMatchObject([{ item }, { response: { usage: { input_tokens: 3, ...RECHARGED } } }]);
  });

  it('RT-04 begins responses without end: those past the bound are cancelled, and are no units', async () => {
    const { key, records } = ownKey(edge, 'key_many');
    let cancels = 0;
    const ids = Array.from({ length: 40 }, (_, n) => `r${n}`);
    act = (ws, { type }) => {
      if (type === 'response.cancel') cancels += 1;
      else say(ws, ...ids.map(begun), ...ids.map(done), { type: 'over' });
    };
    const client = connect(edge, 'acme/voice', key);
    client.send({ type: 'input_audio_buffer.commit' });
    expect(codeOf(await client.next('error'))).toBe('conflict');
    await client.next('over');
    client.ws.close();
    expect(client.events.filter(({ type }) => type === 'response.done')).toHaveLength(TURNS_MAX);
    expect(await records(TURNS_MAX)).toHaveLength(TURNS_MAX);
    await eventually(() => cancels === ids.length - TURNS_MAX, { timeoutMs: 60_000 });
  });

  it('ERR-41 session_token_cap_exceeded by a response that never ends, billed by what was sent of it', async () => {
    const { key, records } = ownKey(edge, 'key_endless');
    const delta = { type: 'response.output_text.delta', response_id: 'r1', delta: 'x'.repeat(1_000) };
    act = (ws) => say(ws, begun('r1'), ...Array<Json>(6).fill(delta));
    const client = connect(edge, 'acme/voice', key);
    client.send({ type: 'response.create' });
    expect(codeOf(await client.next('error'))).toBe('session_token_cap_exceeded');
    expect(await client.closed).toBe(4_430);
    expect(client.events.filter(({ type }) => type === delta.type)).toHaveLength(4);
    const [record] = await records(1);
    expect(record).toMatchObject({ outcome: 'cancelled', usage_estimated: true });
    expect(Number((record.usage as Json).completion_tokens)).toBeGreaterThan(900);
  });

  it.each([2 ** 53, 1e308])(
    'RT-04 counts %d tokens: they are estimated, and neither end the session nor refuse the next turn',
    async (huge) => {
      const { key, records } = ownKey(edge, `key_huge_${huge}`);
      const usage = { input_tokens: huge, output_tokens: huge };
      const response = { id: 'r1', status: 'completed', usage };
      act = (ws, { type }) => {
        if (type === 'response.create') say(ws, begun('r1'), { type: 'response.done', response });
      };
      const client = connect(edge, 'acme/voice', key);
      for (let turn = 0; turn < 2; turn += 1) {
        client.send({ type: 'response.create' });
        await client.next('response.done');
      }
      client.ws.close();
      const found = await records(2);
      for (const record of found) {
        expect(record).toMatchObject({ outcome: 'served', usage_estimated: true });
        expect(Number(record.cost_usd)).toBeLessThan(0.001);
      }
    },
  );

  it('issue 14 transcriptions are billed for no more speech than the caller sent, whatever the provider claims', async () => {
    const { key, records } = ownKey(edge, 'key_claims');
    const type = 'conversation.item.input_audio_transcription.completed';
    const claims = [
      { type: 'duration', seconds: 99_999 },
      { type: 'duration', seconds: 99_999 },
      { type: 'tokens', input_tokens: 16_000_000, output_tokens: 9 },
    ];
    act = (ws, { type: of }) => {
      if (of === 'input_audio_buffer.commit')
        say(ws, ...claims.map((usage) => ({ type, transcript: 'Hi', usage })));
    };
    const client = connect(edge, 'acme/voice', key);
    const audio = { input: { transcription: { model: 'acme/hears' } } };
    client.send(
      { type: 'session.update', session: { type: 'realtime', audio } },
      { type: 'input_audio_buffer.append', audio: SECOND },
      { type: 'input_audio_buffer.append', audio: SECOND },
      { type: 'input_audio_buffer.commit' },
    );
    for (const _ of claims) await client.next(type);
    client.ws.close();
    expect(await records(3)).toMatchObject([
      { model: 'acme/hears', outcome: 'served', usage: { audio_seconds: '2' }, cost_usd: '0.02' },
      { outcome: 'served', usage: { audio_seconds: '0' }, cost_usd: '0' },
      {
        outcome: 'served',
        usage: { audio_seconds: '0', prompt_tokens: 0, completion_tokens: 9 },
        cost_usd: '0',
      },
    ]);
  });

  it.each([
    [
      'a message of a million parts',
      { serverContent: { modelTurn: { parts: Array<object>(1_000_000).fill({}) } } },
    ],
    ['a message of a million calls', { toolCall: { functionCalls: Array<object>(1_000_000).fill({}) } }],
    [
      'a call whose name is a megabyte',
      { toolCall: { functionCalls: [{ id: 'c', name: 'x'.repeat(1_048_576) }] } },
    ],
  ])('ERR-54 provider_error: %s', async (_name, message) => {
    act = (ws, { setup }) => say(ws, setup === undefined ? message : { setupComplete: {} });
    const client = connect(edge, 'acme/live', ownKey(edge, 'key_parts').key);
    client.say('Hello');
    expect(codeOf(await client.next('error'))).toBe('provider_error');
    expect(await client.closed).toBe(4_502);
  });

  it('ERR-54 provider_error for a frame that is larger than any event', async () => {
    act = (ws) => ws.send(Buffer.alloc(17 * 1_048_576, 32));
    const client = connect(edge, 'acme/voice', ownKey(edge, 'key_frame').key);
    client.send({ type: 'response.create' });
    expect(codeOf(await client.next('error'))).toBe('provider_error');
    expect(await client.closed).toBe(4_502);
  });
});
