import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@gateway/testing';
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
