import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { ownCertificate } from '@gateway/testing';
import { readFeed } from './feed-address.js';

const authority = ownCertificate();
const stranger = ownCertificate();
const servers: Server[] = [];
const sockets = new Set<Socket>();
/** Targets of CONNECT that the proxy was asked for. */
let asked: string[] = [];
let feed: string;
let proxy: string;

function listen(server: Server): Promise<number> {
  servers.push(server.on('connection', (socket: Socket) => void sockets.add(socket)));
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
}

beforeAll(async () => {
  const answering = createServer(authority, (_, response) => void response.end('the document'));
  feed = `https://localhost:${await listen(answering)}/feed.json`;
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

const read = async (ca: string | null, by: { url: string; except: string } | null): Promise<string> =>
  (await readFeed({ url: feed, ca, proxy: by, timeoutMs: 5_000 })).toString();

describe('https address of a feed', () => {
  it('issue 37 is read by its own authority, straight and through a proxy', async () => {
    await expect(read(authority.cert, null)).resolves.toBe('the document');
    expect(asked).toEqual([]);
    await expect(read(authority.cert, { url: proxy, except: '' })).resolves.toBe('the document');
    expect(asked).toEqual([new URL(feed).host]);
  });

  it('issue 37 goes past the proxy where NO_PROXY names its host', async () => {
    await expect(read(authority.cert, { url: proxy, except: 'localhost' })).resolves.toBe('the document');
    expect(asked).toEqual([]);
  });

  it.each([null, { except: '' }])('issue 37 is refused by another authority, proxy %j', async (by) => {
    const through = by === null ? null : { url: proxy, ...by };
    await expect(read(stranger.cert, through)).rejects.toThrow('could not be read');
    await expect(read(null, through)).rejects.toThrow('could not be read');
  });
});
