import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually, keyPrincipal } from '@gateway/testing';
import { mintSecret } from '../auth/secret.js';
import { startProbe, type Probe } from '../boot/probe-app.fixture.js';
import { SystemRandom } from '../time/system.js';
import { defaultPressureLimits } from './pressure.js';

const MIB = 1_048_576;
const NONE = { some: Infinity, all: Infinity };

describe('memory for bodies of known callers', () => {
  const sockets: Socket[] = [];
  let probe: Probe;
  let key: string;

  beforeAll(async () => {
    probe = await startProbe({
      pressure: { delayMs: NONE, rssBytes: NONE, bodyBytes: { some: 6 * MIB, all: 8 * MIB } },
    });
    key = mintSecret('rsk_', new SystemRandom());
    probe.principals.add(key, keyPrincipal());
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => probe.close());

  /** A request whose body of so many MiB is sent later. */
  interface Sender {
    body(): void;
    /** Ends a body in chunks. */
    end(): void;
    /** Waits for the status of the answer. */
    status(): Promise<number>;
  }

  async function begin(mebibytes: number, isChunked: boolean): Promise<Sender> {
    const body = JSON.stringify({ x: 'x'.repeat(mebibytes * MIB - 8) });
    const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
    const { hostname, port } = new URL(probe.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    let text = '';
    socket
      .setEncoding('latin1')
      .on('error', () => undefined)
      .on('data', (chunk: string) => (text += chunk));
    await once(socket, 'connect');
    const head = ['Host: x', 'Content-Type: application/json', `Authorization: Bearer ${key}`, framing];
    socket.write(`POST /v1/guarded HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
    return {
      body: () => void socket.write(isChunked ? `${body.length.toString(16)}\r\n${body}\r\n` : body),
      end: () => void socket.write(isChunked ? '0\r\n\r\n' : ''),
      status: () => eventually(() => /^HTTP\/1\.1 (\d+) /.exec(text)?.[1]).then(Number),
    };
  }

  const entered = (count: number): Promise<unknown> =>
    eventually(() => probe.drain.requestsInFlight === count);
  const nothingHeld = (): Promise<unknown> => eventually(() => probe.pressure.bodyBytesInFlight === 0);

  it.each([
    ['a declared length', false],
    ['chunks', true],
  ])('of bodies with %s that arrive at once, the one that passes the limit is 503', async (_, isChunked) => {
    const three = [await begin(5, isChunked), await begin(5, isChunked), await begin(5, isChunked)];
    await entered(3);
    for (const { body, end } of three) {
      body();
      end();
    }
    const statuses = await Promise.all(three.map(({ status }) => status()));
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
    expect(statuses).toContain(201);
    expect(new Set(statuses)).toEqual(new Set([201, 503]));
    await nothingHeld();
  });

  it('a body that is larger than the limit is read where it is there alone', async () => {
    const one = await begin(10, false);
    one.body();
    expect(await one.status()).toBe(201);
    await nothingHeld();
  });

  it.each([
    ['a declared length', false],
    ['chunks', true],
  ])(
    'serves the next request of the connection after a body with %s that nothing has read',
    async (_, isChunked) => {
      const { hostname, port } = new URL(probe.url);
      const socket = connect(Number(port), hostname).setEncoding('latin1');
      sockets.push(socket);
      let text = '';
      socket.on('data', (chunk: string) => (text += chunk));
      const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${MIB}`;
      const head = ['Host: x', 'Content-Type: json', `Authorization: Bearer ${key}`, framing];
      const body = 'x'.repeat(MIB);
      socket.write(`POST /v1/guarded HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
      socket.write(isChunked ? `${MIB.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body);
      await eventually(() => text.startsWith('HTTP/1.1 415 '));
      text = '';
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => text.includes('HTTP/1.1 200 '));
      await nothingHeld();
    },
  );

  it('413 for chunks that go on beyond the largest body after they were refused', async () => {
    const [first, second] = [await begin(5, true), await begin(40, true)];
    await entered(2);
    first.body();
    await eventually(() => probe.pressure.bodyBytesInFlight > 5 * MIB - 100);
    second.body();
    expect(await second.status()).toBe(413);
    first.end();
    expect(await first.status()).toBe(201);
    await nothingHeld();
  });
});

describe('the limit of bodies', () => {
  it.each([
    // Heaps that Node gives to containers of 1, 2, 3 and 16 GiB, and one for less than a body.
    [560, 72],
    [1_120, 165],
    [1_728, 256],
    [4_288, 256],
    [100, 32],
  ])('of a heap of %d MiB is %d MiB', (heap, bodies) => {
    const { all, some } = defaultPressureLimits(heap * MIB).bodyBytes;
    expect(Math.floor(all / MIB)).toBe(bodies);
    expect(some).toBe(all * 0.75);
  });
});
