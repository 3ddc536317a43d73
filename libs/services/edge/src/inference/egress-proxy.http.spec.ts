import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { ownCertificate } from '@gateway/testing';
import { hello, startEdge, type EdgeUnderTest } from '../edge.fixture.js';

/** The simulated provider behind TLS, and a proxy by which alone the edge may call it. */
describe('an edge whose way out is HTTPS_PROXY', () => {
  const own = ownCertificate();
  const servers: NetServer[] = [];
  const sockets = new Set<Socket>();
  let asked: string[] = [];
  let isOpen = true;
  let provider: string;
  let edge: EdgeUnderTest;

  async function listen(server: NetServer): Promise<number> {
    servers.push(server.on('connection', (socket: Socket) => void sockets.add(socket)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  function pipe(socket: Socket, port: number, begin?: (target: Socket) => void): void {
    const target = connect(port, '127.0.0.1', () => begin?.(target));
    sockets.add(target);
    for (const end of [socket, target]) end.on('error', () => end.destroy());
    target.pipe(socket).pipe(target);
  }

  function tunnels(): Server {
    return createServer().on('connect', ({ url = '' }: IncomingMessage, socket: Socket) => {
      asked.push(url);
      if (!isOpen) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      pipe(socket, Number(url.split(':')[1]), () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    });
  }

  beforeAll(async () => {
    setDefaultCACertificates([...getCACertificates('default'), own.cert]);
    const proxy = await listen(tunnels());
    edge = await startEdge({
      config: { HTTPS_PROXY: `http://127.0.0.1:${proxy}` },
      upstreams: async (sim) => {
        const plain = Number(new URL(sim.url).port);
        provider = `localhost:${await listen(createTlsServer(own, (socket) => pipe(socket, plain)))}`;
        return { simulated: `https://${provider}`, 'simulated-messages': 'https://provider.invalid' };
      },
    });
  });
  afterAll(async () => {
    await edge?.close();
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  });
  beforeEach(() => {
    asked = [];
    isOpen = true;
  });

  it('200 sends a chat to the provider through it, and bills it', async () => {
    const answer = await edge.post(hello('simulator/chat'));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ object: 'chat.completion' });
    expect(asked).toEqual([provider]);
    expect(await edge.record(answer)).toMatchObject({ provider: 'simulated', outcome: 'served' });
  });

  it('200 streams through it, too', async () => {
    const answer = await edge.post(hello('simulator/chat', { stream: true }));
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/data: \[DONE\]\s*$/);
  });

  it('502 knows no way around it where it refuses', async () => {
    isOpen = false;
    const answer = await edge.post(hello('simulator/claude'));
    expect(answer.status).toBe(502);
    await answer.text();
    expect(new Set(asked)).toEqual(new Set(['provider.invalid:443']));
  });
});
