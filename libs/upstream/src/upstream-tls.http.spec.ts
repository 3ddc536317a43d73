import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { SystemClock } from '@gateway/platform';
import { ownCertificate } from '@gateway/testing';
import type { UpstreamTls } from './upstream-parts.js';
import { collect, faultOf, TransportUnderTest } from './transport.fixture.js';

const authority = ownCertificate();
const other = ownCertificate();
const client = ownCertificate();
const servers: Server[] = [];
const sockets = new Set<Socket>();
/** Targets of CONNECT that the proxy was asked for. */
let asked: string[] = [];
let open: string;
let closed: string;
let proxy: string;

function listen(server: Server): Promise<number> {
  servers.push(server.on('connection', (socket: Socket) => void sockets.add(socket)));
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
}

beforeAll(async () => {
  const answering = (options: object): Server =>
    createServer({ ...authority, ...options }, (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      request.resume().on('end', () => response.end(`to ${String(subject?.CN ?? 'anybody')}`));
    });
  open = `https://localhost:${await listen(answering({}))}`;
  closed = `https://localhost:${await listen(answering({ ca: client.cert, requestCert: true, rejectUnauthorized: true }))}`;
  const tunnel = createHttpServer().on('connect', ({ url = '' }, socket: Socket) => {
    asked.push(url);
    const target = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    for (const end of [target, socket]) end.on('error', () => end.destroy());
  });
  proxy = `http://127.0.0.1:${await listen(tunnel)}`;
});
beforeEach(() => {
  asked = [];
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

async function answerOf(url: string, tls: UpstreamTls | null, by?: string): Promise<string> {
  const own = tls === null ? undefined : new Map([[url, tls]]);
  const under = new TransportUnderTest(
    new SystemClock(),
    by === undefined ? undefined : { url: by, except: '' },
    own,
  );
  try {
    let text = '';
    const fault = await faultOf(
      under.send(`${url}/v1/chat`).then(async (response) => {
        text = await collect(response);
      }),
    );
    return fault === 'no fault' ? text : fault;
  } finally {
    await under.close();
  }
}

describe.each(['directly', 'through HTTPS_PROXY'])('issue 38 TLS of one upstream, called %s', (way) => {
  const by = (): string | undefined => (way === 'directly' ? undefined : proxy);

  it('trusts the authorities of its ca_file, and no other', async () => {
    expect(await answerOf(open, { ca: authority.cert }, by())).toBe('to anybody');
    for (const tls of [null, { ca: other.cert }]) expect(await answerOf(open, tls, by())).not.toMatch(/^to /);
    expect(asked).toEqual(way === 'directly' ? [] : Array.from({ length: 3 }, () => new URL(open).host));
  });

  it('presents its client certificate, without which such a server answers nothing', async () => {
    const { cert, key } = client;
    expect(await answerOf(closed, { ca: authority.cert, cert, key }, by())).toBe('to localhost');
    expect(await answerOf(closed, { ca: authority.cert }, by())).not.toMatch(/^to /);
    const { cert: foreign, key: foreignKey } = other;
    const wrong = { ca: authority.cert, cert: foreign, key: foreignKey };
    expect(await answerOf(closed, wrong, by())).not.toMatch(/^to /);
  });

  it('is that of its address alone', async () => {
    const under = new TransportUnderTest(
      new SystemClock(),
      by() === undefined ? undefined : { url: proxy, except: '' },
      new Map([[open, { ca: authority.cert }]]),
    );
    expect(await faultOf(under.send(`${closed}/v1/chat`))).not.toBe('no fault');
    await under.close();
  });
});
