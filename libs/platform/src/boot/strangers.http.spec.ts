import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually, keyPrincipal } from '@gateway/testing';
import { mintSecret } from '../auth/secret.js';
import { SystemRandom } from '../time/system.js';
import { startProbe, type Probe } from './probe-app.fixture.js';

const MIB = 1_048_576;
const UNKNOWN = `Authorization: Bearer ${mintSecret('rsk_', new SystemRandom())}\r\n`;

describe('bodies of callers without a valid credential', () => {
  const sockets: Socket[] = [];
  let probe: Probe;
  let key: string;

  beforeAll(async () => {
    probe = await startProbe({
      pressure: {
        delayMs: { some: Infinity, all: Infinity },
        rssBytes: { some: Infinity, all: Infinity },
        bodyBytes: { some: 192 * MIB, all: 256 * MIB },
      },
    });
    key = mintSecret('rsk_', new SystemRandom());
    probe.principals.add(key, keyPrincipal());
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => probe.close());

  /** Sends the head of a POST and answers the socket, with the text that comes back on it. */
  async function begin(path: string, head: string): Promise<{ socket: Socket; text: () => string }> {
    const { hostname, port } = new URL(probe.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    let text = '';
    socket
      .setEncoding('latin1')
      .on('error', () => undefined)
      .on('data', (chunk: string) => (text += chunk));
    await once(socket, 'connect');
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${head}\r\n`);
    return { socket, text: () => text };
  }

  const known = (): Promise<Response> =>
    fetch(`${probe.url}/v1/guarded`, {
      method: 'POST',
      body: JSON.stringify({ x: 'y'.repeat(20_000) }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    });

  it.each(['', 'Authorization: Bearer rsk_short\r\n', UNKNOWN])(
    'AUTH-14 401 before a byte of the body was sent, and idle ones that declared 32 MiB keep nobody out (%j)',
    async (authorization) => {
      const length = `Content-Length: ${32 * MIB}\r\n`;
      const idle = await Promise.all(
        Array.from({ length: 20 }, () => begin('/v1/guarded', authorization + length)),
      );
      await eventually(() => idle.every(({ text }) => /^HTTP\/1\.1 401 /.test(text())));
      expect((await known()).status).toBe(201);
      expect(probe.pressure.bodyBytesInFlight).toBe(0);
    },
  );

  it('AUTH-14 a chunked body of an unknown key is dropped as it comes, and its answer follows its end', async () => {
    const { socket, text } = await begin('/v1/guarded', `${UNKNOWN}Transfer-Encoding: chunked\r\n`);
    const chunk = `${MIB.toString(16)}\r\n${' '.repeat(MIB)}\r\n`;
    for (let sent = 0; sent < 24; sent += 1) if (!socket.write(chunk)) await once(socket, 'drain');
    expect([text(), probe.pressure.bodyBytesInFlight, probe.pressure.refusesUnauthenticated]).toEqual([
      '',
      0,
      false,
    ]);
    socket.write('0\r\n\r\n');
    await eventually(() => /^HTTP\/1\.1 401 /.test(text()));
  });

  it('a public path takes 16 MiB of all strangers together, 503 past it, and all of it again when they have left', async () => {
    const large = async (mebibytes: number): Promise<number> => {
      const body = JSON.stringify({ x: 'x'.repeat(mebibytes * MIB) });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${probe.url}/v1/open`, { method: 'POST', body, headers })).status;
    };
    expect(await large(15)).toBe(201);
    const idle = await begin('/v1/open', `Content-Length: ${32 * MIB}\r\n`);
    idle.socket.write(' '.repeat(8 * MIB));
    await eventually(async () => (await large(9)) === 503);
    expect((await known()).status).toBe(201);
    idle.socket.destroy();
    await eventually(async () => (await large(15)) === 201);
  });
});
