import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Pressure } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import WebSocket, { WebSocketServer } from 'ws';
import { EdgeConfig } from '../../config/edge.config.js';
import { startEdge, type EdgeUnderTest, type Json } from '../../edge.fixture.js';
import { codeOf, connect, RealtimeClient, REALTIME_MODELS, ownKey, urlOf } from './realtime.fixture.js';

describe('bounds of a realtime session', () => {
  const edges: EdgeUnderTest[] = [];
  afterAll(() => Promise.all(edges.map((edge) => edge.close())));

  async function bounded(
    config: Partial<EdgeConfig>,
    more: Pick<NonNullable<Parameters<typeof startEdge>[0]>, 'balanceUsd' | 'upstreams'> = {},
  ): Promise<EdgeUnderTest> {
    const edge = await startEdge({ models: REALTIME_MODELS, config, ...more });
    edges.push(edge);
    return edge;
  }

  it('RT-03 allows 10 sessions of a key, 60 minutes, 1,000,000 tokens and 5 idle minutes', () => {
    expect(new EdgeConfig()).toMatchObject({
      REALTIME_MAX_SESSIONS: 10,
      REALTIME_MAX_SECONDS: 3_600,
      REALTIME_MAX_TOKENS: 1_000_000,
      REALTIME_IDLE_SECONDS: 300,
    });
  });

  it('ERR-56 session_duration_exceeded', async () => {
    const client = connect(await bounded({ REALTIME_MAX_SECONDS: 0.1 }));
    expect(codeOf(await client.next('error'))).toBe('session_duration_exceeded');
    expect(await client.closed).toBe(4_431);
  });

  it('RT-01 a model that is billed by the minute bills the time after its last response too', async () => {
    const edge = await bounded({ REALTIME_MAX_SECONDS: 1.1 });
    const { key, records } = ownKey(edge, 'key_by_minute');
    const client = connect(edge, 'acme/by-minute', key);
    expect(await client.closed).toBe(4_431);
    const [record] = await records(1);
    const { audio_seconds: seconds } = record.usage as Json;
    expect(Number(seconds)).toBeGreaterThanOrEqual(1);
    expect(record).toMatchObject({ outcome: 'served', usage: { prompt_tokens: 0 } });
    expect(Number(record.cost_usd)).toBeCloseTo(Number(seconds), 9);
  });

  it('ERR-53 idle_timeout', async () => {
    const client = connect(await bounded({ REALTIME_IDLE_SECONDS: 0.1 }));
    expect(codeOf(await client.next('error'))).toBe('idle_timeout');
    expect(await client.closed).toBe(4_408);
  });

  it('ERR-52 connection_timeout for a client that answers no heartbeat', async () => {
    const edge = await bounded({ REALTIME_PING_SECONDS: 0.05 });
    const headers = { authorization: `Bearer ${edge.key}` };
    const client = new RealtimeClient(new WebSocket(urlOf(edge, 'acme/voice'), { headers, autoPong: false }));
    expect(codeOf(await client.next('error'))).toBe('connection_timeout');
    expect(await client.closed).toBe(4_432);
  });

  it('ERR-54 provider_error for a provider that answers no heartbeat; one that does is left alone', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const upstreams = async (): Promise<Record<string, string>> => ({
      simulated: `http://127.0.0.1:${port}`,
    });
    const config = { REALTIME_PING_SECONDS: 0.05 };
    const lost = connect(await bounded(config, { upstreams }));
    const { error } = (await lost.next('error')) as { error: Json };
    expect([error.code, error.message]).toEqual(['provider_error', expect.stringContaining('no heartbeat')]);
    expect(await lost.closed).toBe(4_502);
    const alive = connect(await bounded(config));
    for (let pings = 0; pings < 5; pings += 1) await once(alive.ws, 'ping');
    alive.send({ type: 'response.create' });
    await alive.next('response.done');
    alive.ws.close();
    for (const ws of server.clients) ws.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  it('U15 service_unavailable past what one account may have under way of events that are never whole', async () => {
    const edge = await bounded({});
    const pressure = edge.app.app.get(Pressure);
    const clients = Array.from({ length: 5 }, () => connect(edge));
    for (const client of clients) {
      await client.next('session.created');
      client.ws.send(Buffer.alloc(15 * 1_048_576, ' '), { binary: false, fin: false });
    }
    expect(await Promise.race(clients.map(({ closed }) => closed))).toBe(1_013);
    expect(clients.flatMap(({ events }) => events).filter(({ type }) => type === 'error')).toMatchObject([
      { error: { code: 'service_unavailable' } },
    ]);
    for (const { ws } of clients) ws.terminate();
    await eventually(() => pressure.bodyBytesInFlight === 0);
  });

  it('ERR-39 insufficient_quota for an account without credit', async () => {
    const client = connect(await bounded({}, { balanceUsd: 0 }));
    expect(codeOf(await client.next('error'))).toBe('insufficient_quota');
    expect(await client.closed).toBe(4_402);
  });

  it('ERR-55 service_draining: what is open is notified first and then closed with 1012', async () => {
    const edge = await startEdge({ models: REALTIME_MODELS, drainGraceMs: 100 });
    const client = connect(edge);
    await client.next('session.created');
    const closing = edge.close();
    expect(codeOf(await client.next('error'))).toBe('service_draining');
    expect(await client.closed).toBe(1_012);
    await closing;
  });
});
