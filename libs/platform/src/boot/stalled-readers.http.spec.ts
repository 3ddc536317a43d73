import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@gateway/testing';
import { LARGE_BYTES, startProbe, type Probe } from './probe-app.fixture.js';

/** Far above what a busy machine makes of the rests of a slow reader. */
const STALL_MS = 1_500;
const REST_MS = STALL_MS / 10;
/** Bytes that a slow reader reads at once before it rests. */
const STEP_BYTES = 1_048_576;

describe('readers of an answer that is larger than the kernel takes', () => {
  let probe: Probe;
  beforeAll(async () => (probe = await startProbe({ stallMs: STALL_MS })));
  afterAll(() => probe.close());

  async function ask(): Promise<Socket> {
    const { hostname, port } = new URL(probe.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).pause();
    await once(socket, 'connect');
    socket.write('GET /v1/large HTTP/1.1\r\nHost: x\r\n\r\n');
    return socket;
  }

  it('U06 one that reads nothing is closed, and its answer let go of', async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, ask));
    await eventually(() => probe.drain.requestsInFlight > 0);
    await eventually(() => probe.drain.requestsInFlight === 0);
    for (const socket of sockets) {
      let bytes = 0;
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
      await eventually(() => socket.closed);
      expect(bytes).toBeLessThan(LARGE_BYTES);
    }
  });

  it('U06 one that reads slowly gets everything, however long it takes', async () => {
    const socket = await ask();
    let bytes = 0;
    const startedMs = performance.now();
    socket.on('data', (chunk: Buffer) => {
      const isOver = Math.floor((bytes + chunk.length) / STEP_BYTES) > Math.floor(bytes / STEP_BYTES);
      bytes += chunk.length;
      if (!isOver) return;
      socket.pause();
      setTimeout(() => socket.resume(), REST_MS);
    });
    socket.resume();
    await eventually(() => bytes > LARGE_BYTES || socket.closed);
    expect(bytes).toBeGreaterThan(LARGE_BYTES);
    socket.destroy();
    expect(performance.now() - startedMs).toBeGreaterThan(STALL_MS);
  });

  it('U06 a connection whose answer was read stays open for the next request', async () => {
    const { hostname, port } = new URL(probe.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    const request = 'GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n';
    socket.write(request);
    await eventually(() => text.includes('{"ok":true}'));
    await new Promise((resolve) => setTimeout(resolve, 3 * STALL_MS));
    socket.write(request);
    await eventually(() => text.split('{"ok":true}').length === 3);
    socket.destroy();
  });
});
