import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SystemClock } from '@gateway/platform';
import { TransportFailure } from '@gateway/providers';
import { ownCertificate } from '@gateway/testing';
import WebSocket, { WebSocketServer } from 'ws';
import { proxiedAgent } from './egress-proxy.js';
import { collect, TransportUnderTest } from './transport.fixture.js';

const own = ownCertificate();
const sockets = new Set<Socket>();
const servers: Server[] = [];
/** Requests to the proxy, with the credential. */
let asked: string[] = [];
/** Reaction of the proxy to a CONNECT. */
let behaviour: 'tunnel' | 'refuse' | 'silent' = 'tunnel';
let upstream: string;
let proxy: string;
/** The same, which speaks TLS itself. */
let secured: string;

function listen(server: Server): Promise<number> {
  servers.push(server.on('connection', (socket: Socket) => void sockets.add(socket)));
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
}

function onConnect(request: IncomingMessage, socket: Socket): void {
  const { url = '', headers } = request;
  asked.push(`${url} ${headers['proxy-authorization'] ?? ''}`.trim());
  if (behaviour === 'silent') return;
  if (behaviour === 'refuse') return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  const target = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    target.pipe(socket).pipe(target);
  });
  for (const end of [target, socket]) end.on('error', () => end.destroy());
}

beforeAll(async () => {
  setDefaultCACertificates([...getCACertificates('default'), own.cert]);
  const answer = createServer(own, (request, response) => {
    request.resume().on('end', () => response.end(`answer of ${request.url}`));
  });
  new WebSocketServer({ server: answer }).on('connection', (ws) => ws.send('of the provider'));
  upstream = `https://localhost:${await listen(answer)}`;
  secured = `https://user:p%40ss@localhost:${await listen(createServer(own).on('connect', onConnect))}`;
  proxy = `http://user:p%40ss@127.0.0.1:${await listen(createHttpServer().on('connect', onConnect))}`;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});
beforeEach(() => {
  asked = [];
  behaviour = 'tunnel';
});

/** The first message of a WebSocket, or why none came. */
function heard(url: string): Promise<string> {
  const ws = new WebSocket(`${upstream.replace('https', 'wss')}/v1/realtime`, {
    agent: proxiedAgent({ url, except: '' }),
    handshakeTimeout: 1_000,
  });
  return new Promise<string>((resolve) => {
    ws.on('message', (message: Buffer) => resolve(String(message)));
    ws.on('error', (failure) => resolve(`failed: ${failure.message}`));
  }).finally(() => ws.terminate());
}

async function through(except: string, url = `${upstream}/v1/chat`, by = proxy): Promise<string> {
  const under = new TransportUnderTest(new SystemClock(), { url: by, except });
  try {
    return await collect(await under.send(url));
  } finally {
    await under.close();
  }
}

describe('HTTPS_PROXY', () => {
  it('carries a call to a provider by CONNECT, with the proxy’s own credential', async () => {
    expect(await through('')).toBe('answer of /v1/chat');
    const credential = Buffer.from('user:p@ss').toString('base64');
    expect(asked).toEqual([`${new URL(upstream).host} Basic ${credential}`]);
  });

  it('may speak TLS itself', async () => {
    expect(await through('', `${upstream}/v1/chat`, secured)).toBe('answer of /v1/chat');
    expect(asked).toHaveLength(1);
  });

  it('carries a WebSocket, too, whether it speaks TLS itself or not', async () => {
    expect([await heard(proxy), await heard(secured)]).toEqual(['of the provider', 'of the provider']);
    const credential = Buffer.from('user:p@ss').toString('base64');
    expect(asked).toEqual(Array.from({ length: 2 }, () => `${new URL(upstream).host} Basic ${credential}`));
  });

  it.each(['refuse', 'silent'] as const)(
    'that answers the CONNECT of a WebSocket with "%s" ends it',
    async (how) => {
      behaviour = how;
      expect(await heard(proxy)).toMatch(/^failed: (?!.*p@ss)/);
    },
  );

  it('is left out for hosts of NO_PROXY, and for addresses without TLS', async () => {
    expect(await through('other.example,localhost')).toBe('answer of /v1/chat');
    const plain = createHttpServer((request, response) =>
      request.resume().on('end', () => response.end('plain')),
    );
    expect(await through('', `http://localhost:${await listen(plain)}/`)).toBe('plain');
    expect(asked).toEqual([]);
  });

  it.each(['refuse', 'silent'] as const)(
    'that answers a CONNECT with "%s" is a failure to connect',
    async (how) => {
      behaviour = how;
      const failure = await through('').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(TransportFailure);
      expect((failure as TransportFailure).fault).toMatch(/^(connect|timeout_connect)$/);
      expect(String(failure)).not.toContain('p@ss');
    },
  );
});
