import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { eventually } from '@gateway/testing';
import WebSocket, { WebSocketServer } from 'ws';
import { startEdge, testModel, type EdgeUnderTest } from '../../edge.fixture.js';
import { connect, REALTIME_MODELS, RealtimeClient, urlOf } from './realtime.fixture.js';

/** JSON that a double, or an object of JavaScript, would change. */
const ODD = '{"id":1234567890123456789,"b":1,"10":2,"rate":1.0,"e":1e400,"z":-0,"n":9007199254740993,"b":2}';
const TOOL = `{"type":"function","name":"look","description":"Looks.","parameters":{"type":"object","properties":{"n":{"type":"integer","maximum":9223372036854775807,"default":1.0}}}}`;

/** Texts of one side of a session, as they came. */
class Texts {
  readonly seen: string[] = [];

  constructor(ws: { on(event: 'message', take: (data: Buffer) => void): unknown }) {
    ws.on('message', (data) => void this.seen.push(data.toString('utf8')));
  }

  with(part: string): Promise<string> {
    return eventually(() => this.seen.find((text) => text.includes(part)));
  }
}

describe('F1 a realtime session keeps numbers, order and repeated names', () => {
  let edge: EdgeUnderTest;
  let server: WebSocketServer;

  beforeAll(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('connection', (ws) => ws.on('error', () => undefined));
    const { port } = server.address() as AddressInfo;
    const live = testModel(
      'acme/live',
      [{ provider: 'simulated', upstreamModel: 'sim-live', dialect: 'gemini-live' }],
      { model_type: 'audio', supports_realtime: true, supports_completions_api: false },
    );
    edge = await startEdge({
      models: [...REALTIME_MODELS, live],
      upstreams: async () => ({ simulated: `http://127.0.0.1:${port}` }),
    });
  });
  afterAll(async () => {
    await edge.close();
    for (const ws of server.clients) ws.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  async function session(open: () => RealtimeClient): Promise<{
    client: RealtimeClient;
    provider: WebSocket;
    heard: Texts;
    shown: Texts;
  }> {
    const joined = once(server, 'connection') as Promise<[WebSocket]>;
    const client = open();
    const shown = new Texts(client.ws);
    const [provider] = await joined;
    const heard = new Texts(provider);
    if (client.ws.readyState === client.ws.CONNECTING) await once(client.ws, 'open');
    return { client, provider, heard, shown };
  }

  it('of what the caller says, also where a session is changed on its way', async () => {
    const { client, heard } = await session(() => connect(edge));
    client.ws.send(
      `{"type":"session.update","session":{"type":"realtime","tools":[${TOOL}],"own":${ODD},` +
        `"audio":{"input":{"transcription":{"model":"acme/hears","own":${ODD}}}}}}`,
    );
    const update = await heard.with('sim-hear');
    expect(update).toContain(`"tools":[${TOOL}]`);
    expect(update.split(ODD)).toHaveLength(3);
    client.ws.send(`{"type":"response.create","response":{"metadata":${ODD},"tools":[${TOOL}]}}`);
    const created = await heard.with('response.create');
    expect(created).toContain(`"response":{"metadata":${ODD},"tools":[${TOOL}]}`);
    client.ws.send(`{"type":"conversation.item.create","item":{"type":"message","own":${ODD}}}`);
    expect(await heard.with('conversation.item.create')).toContain(ODD);
    client.ws.close();
  });

  it('of what the provider says, also where its money is taken away', async () => {
    const { client, provider, shown } = await session(() => connect(edge));
    provider.send(
      `{"type":"session.updated","session":{"type":"realtime","tools":[${TOOL}],"metadata":${ODD}}}`,
    );
    expect(await shown.with('session.updated')).toContain(`"tools":[${TOOL}],"metadata":${ODD}`);
    provider.send(`{"type":"response.created","response":{"id":"r1","metadata":${ODD}}}`);
    expect(await shown.with('response.created')).toContain(ODD);
    provider.send(
      `{"type":"response.done","response":{"id":"r1","status":"completed","metadata":${ODD},` +
        `"own":${ODD},"usage":{"input_tokens":3,"output_tokens":2,"cost":1.0}}}`,
    );
    const done = await shown.with('response.done');
    expect(done.split(ODD)).toHaveLength(3);
    expect(done).not.toContain('cost');
    client.ws.close();
  });

  it('of the session that a client secret was made for', async () => {
    const asked = `"type":"realtime","model":"acme/voice","tools":[${TOOL}],"own":${ODD}`;
    const path = '/v1/realtime/client_secrets';
    const answer = await edge.post(`{"session":{${asked}}}`, { path });
    const text = await answer.text();
    expect(text).toContain(asked);
    const { value } = JSON.parse(text) as { value: string };
    const { client, heard } = await session(
      () =>
        new RealtimeClient(
          new WebSocket(urlOf(edge, '', ''), ['realtime', `openai-insecure-api-key.${value}`]),
        ),
    );
    const update = await heard.with('session.update');
    expect(update).toContain(`"tools":[${TOOL}],"own":${ODD}`);
    client.ws.close();
  });

  it('of tools, their calls and their results with the Live API', async () => {
    const { client, provider, heard, shown } = await session(() => connect(edge, 'acme/live'));
    client.ws.send(`{"type":"session.update","session":{"type":"realtime","tools":[${TOOL}]}}`);
    client.say('Look.');
    const setup = await heard.with('functionDeclarations');
    expect(setup).toContain('"maximum":9223372036854775807,"default":1.0');
    provider.send('{"setupComplete":{}}');
    await heard.with('Look.');
    provider.send(`{"toolCall":{"functionCalls":[{"id":"c1","name":"look","args":${ODD}}]}}`);
    const call = JSON.parse(await shown.with('response.function_call_arguments.done')) as {
      call_id: string;
      arguments: string;
    };
    expect(call.arguments).toBe(ODD);
    client.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: call.call_id, output: ODD },
    });
    client.send({ type: 'response.create' });
    expect(await heard.with('functionResponses')).toContain(JSON.stringify(ODD));
    client.ws.close();
  });
});
