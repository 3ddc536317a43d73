import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SystemClock } from '@gateway/platform';
import { TransportFailure } from '@gateway/providers';
import { ownCertificate } from '@gateway/testing';
import { collect, TransportUnderTest } from './transport.fixture.js';

const own = ownCertificate();
const sockets = new Set<Socket>();
const servers: Server[] = [];
/** What the proxy was asked, with the credential. */
let asked: string[] = [];
/** What it does with a CONNECT. */
let behaviour: 'tunnel' | 'refuse' | 'silent' = 'tunnel';
let upstream: string;
let proxy: string;

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
  upstream = `https://localhost:${await listen(answer)}`;
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

async function through(except: string, url = `${upstream}/v1/chat`): Promise<string> {
  const under = new TransportUnderTest(new SystemClock(), { url: proxy, except });
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
