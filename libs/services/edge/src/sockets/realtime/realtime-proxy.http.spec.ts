import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { eventually, ownCertificate } from '@gateway/testing';
import { startEdge, type EdgeUnderTest } from '../../edge.fixture.js';
import { connect, ownKey, REALTIME_MODELS } from './realtime.fixture.js';

describe('a realtime session of an edge whose way out is HTTPS_PROXY', () => {
  const asked: string[] = [];
  let proxy: Server;
  let edge: EdgeUnderTest;

  beforeAll(async () => {
    proxy = createServer().on('connect', ({ url = '' }, socket) => {
      asked.push(url);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    edge = await startEdge({
      models: REALTIME_MODELS,
      config: { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` },
      upstreams: async () => ({ simulated: 'https://provider.invalid' }),
    });
  });
  afterAll(async () => {
    await edge.close();
    proxy.close();
  });

  it('RT-01 reaches its provider by the proxy alone', async () => {
    const { key } = ownKey(edge, 'key_realtime_proxy');
    const client = connect(edge, 'acme/voice', key);
    client.say('Hello');
    await eventually(() => asked.includes('provider.invalid:443'));
    await client.closed;
  });
});

describe('issue 38 a realtime session with a provider whose address has an authority of its own', () => {
  const authority = ownCertificate();
  const other = ownCertificate();
  let server: Server;
  let upgrades = 0;

  beforeAll(async () => {
    server = createTlsServer(authority).on('upgrade', (_request, socket) => {
      upgrades += 1;
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => server.close());

  it.each([
    ['reaches it with its ca_file', authority.cert, 1],
    ['sends nothing where its certificate is of another one', other.cert, 0],
  ])('%s', async (_promise, ca, reached) => {
    upgrades = 0;
    const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
    const credential = { kind: 'api_key' as const, key: 'sim-key' };
    const edge = await startEdge({
      models: REALTIME_MODELS,
      upstreams: async () => ({ simulated: { baseUrl, credential, tls: { ca } } }),
    });
    try {
      const client = connect(edge, 'acme/voice', ownKey(edge, 'key_realtime_tls').key);
      client.say('Hello');
      await client.closed;
      expect(upgrades > 0).toBe(reached > 0);
    } finally {
      await edge.close();
    }
  });
});
