import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { eventually } from '../eventually.js';
import { startFaultProxy, type FaultProxy } from './fault-proxy.js';

describe('startFaultProxy', () => {
  let server: Server;
  let served: Socket[];
  let proxy: FaultProxy;
  let clients: Socket[];

  beforeEach(async () => {
    served = [];
    clients = [];
    server = createServer({ allowHalfOpen: true }, (socket) => {
      served.push(socket.on('error', () => undefined));
      socket.on('data', (bytes: Buffer) => socket.write(bytes));
      socket.on('end', () => socket.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy = await startFaultProxy(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(async () => {
    for (const client of clients) client.destroy();
    await proxy.close();
    for (const socket of served) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** A caller of the echo server behind the proxy, with all that has come back. */
  function call(): { socket: Socket; chunks: Buffer[]; text(): string; end(): string | undefined } {
    const socket = connect(proxy.port, proxy.host);
    clients.push(socket);
    const chunks: Buffer[] = [];
    let end: string | undefined;
    socket.on('data', (bytes: Buffer) => chunks.push(bytes));
    socket.on('end', () => (end ??= 'end'));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => (end ??= code));
    return { socket, chunks, text: () => Buffer.concat(chunks).toString(), end: () => end };
  }

  it('passes bytes and the end both ways while it is healthy', async () => {
    const sent = 'x'.repeat(3_000_000);
    const caller = call();
    caller.socket.end(sent);
    await eventually(() => caller.end() === 'end');
    expect(caller.text() === sent).toBe(true);
    await eventually(() => proxy.open() === 0);
    expect(proxy.accepted()).toBe(1);
  });

  it('delays by the latency of each direction, without slowing what is under way together', async () => {
    proxy.set({ toServer: { latencyMs: 60 }, toClient: { latencyMs: 60 } });
    const caller = call();
    await once(caller.socket, 'connect');
    const startedMs = performance.now();
    for (let n = 0; n < 500; n += 1) {
      caller.socket.write('1234567890');
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => caller.text().length === 5_000, { intervalMs: 1 });
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThanOrEqual(118);
    // One after the other they would take 60 s.
    expect(tookMs).toBeLessThan(30_000);
  });

  it('gives one byte at a time', async () => {
    proxy.set({ toClient: { pieceBytes: 1, pieceIntervalMs: 1 } });
    const caller = call();
    caller.socket.write('abcdefghij');
    await eventually(() => caller.text() === 'abcdefghij');
    expect(caller.chunks.length).toBeGreaterThanOrEqual(5);
  });

  it('bounds the speed', async () => {
    proxy.set({ toClient: { bytesPerSecond: 10_000 } });
    const caller = call();
    const startedMs = performance.now();
    caller.socket.write('x'.repeat(3_000));
    await eventually(() => caller.text().length === 3_000);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(250);
  });

  it('keeps a stalled connection half-open, hides its end, and passes everything once healed', async () => {
    const caller = call();
    caller.socket.write('before ');
    await eventually(() => caller.text() === 'before ');
    proxy.set({ toClient: { isStalled: true } });
    caller.socket.write('after');
    const [connection] = served;
    await eventually(() => connection.bytesRead === 12);
    connection.end();
    await eventually(() => connection.writableFinished);
    // Whatever the server sent would have come back by now.
    await roundTrip();
    expect(caller.text()).toBe('before ');
    expect(caller.end()).toBeUndefined();
    proxy.set({});
    await eventually(() => caller.end() === 'end');
    expect(caller.text()).toBe('before after');
  });

  it.each([
    ['reset', 'ECONNRESET'],
    ['end', 'end'],
  ] as const)('cuts a connection by a %s after so many bytes', async (cutBy, seen) => {
    proxy.set({ toClient: { cutAfterBytes: 7, cutBy, pieceBytes: 2 } });
    const caller = call();
    caller.socket.write('0123456789');
    await eventually(() => caller.end() === seen);
    expect('0123456').toContain(caller.text());
    if (cutBy === 'end') expect(caller.text()).toBe('0123456');
  });

  it('resets new connections, or lets them hang, and resets all that are open', async () => {
    proxy.set({ connect: 'reset' });
    const refused = call();
    await eventually(() => refused.end() === 'ECONNRESET');
    proxy.set({ connect: 'hang' });
    const hanging = call();
    hanging.socket.write('hello');
    await roundTrip();
    expect(hanging.end()).toBeUndefined();
    expect(served).toHaveLength(1);
    proxy.set({});
    const healthy = call();
    healthy.socket.write('hello');
    await eventually(() => healthy.text() === 'hello');
    proxy.resetAll();
    await eventually(() => healthy.end() === 'ECONNRESET' && hanging.end() === 'ECONNRESET');
    await eventually(() => proxy.open() === 0);
  });

  it('passes a reset of the server on', async () => {
    const caller = call();
    caller.socket.write('hello');
    await eventually(() => caller.text() === 'hello');
    served[0].resetAndDestroy();
    await eventually(() => caller.end() === 'ECONNRESET');
  });

  it('resets the client where no server listens', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await new Promise((resolve) => other.close(resolve));
    const broken = await startFaultProxy(`http://127.0.0.1:${port}/v1`);
    const socket = connect(broken.port, broken.host);
    const failed = once(socket, 'error');
    await expect(failed).resolves.toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
    await broken.close();
  });

  /** Waits as long as bytes take from this process to the server and back, past the proxy. */
  async function roundTrip(): Promise<void> {
    const direct = connect((server.address() as AddressInfo).port, '127.0.0.1');
    direct.write('x');
    await once(direct, 'data');
    direct.destroy();
  }
});
