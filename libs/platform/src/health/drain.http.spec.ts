import { eventually, HeldClock, keyPrincipal } from '@gateway/testing';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { mintSecret } from '../auth/secret.js';
import { SystemClock, SystemRandom } from '../time/system.js';
import { LATE_MS } from './drain.js';
import { startProbe, type Probe } from '../boot/probe-app.fixture.js';

/** A response that is read bit by bit. */
class Stream {
  text = '';
  private waiting: (() => void)[] = [];
  private constructor(readonly socket: Socket) {
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      this.text += chunk;
      for (const wake of this.waiting.splice(0)) wake();
    });
  }

  static open(probe: Probe, path: string): Stream {
    const { hostname, port } = new URL(probe.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return new Stream(socket);
  }

  async until(part: string): Promise<string> {
    while (!this.text.includes(part)) await new Promise<void>((wake) => this.waiting.push(wake));
    return this.text;
  }
}

async function getAll(
  probe: Probe,
  path: string,
): Promise<{ status: number; headers: Headers; body: unknown }> {
  const answer = await fetch(`${probe.url}${path}`);
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

async function get(probe: Probe, path: string, agent: Agent): Promise<IncomingMessage> {
  const asking = request(`${probe.url}${path}`, { agent }).end();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer;
}

describe('a drain', () => {
  it('U09 refuses new requests, is not ready at once, lives on, and lets a stream finish', async () => {
    const probe = await startProbe({ drainGraceMs: 20_000 });
    const stream = Stream.open(probe, '/v1/slow');
    await stream.until('first');
    const closed = probe.close();

    expect((await getAll(probe, '/readyz')).status).toBe(503);
    expect((await getAll(probe, '/healthz')).status).toBe(200);
    const refused = await getAll(probe, '/v1/open');
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ error: { code: 'service_draining' } });
    expect(refused.headers.get('connection')).toBe('close');
    expect(refused.headers.get('x-should-retry')).toBe('true');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(5);

    probe.slow.forEach((end) => end());
    await stream.until(' last');
    await closed;
    stream.socket.destroy();
  });

  it('U09 503 answers a request that has arrived and is not read yet when it begins, instead of cutting it off', async () => {
    const probe = await startProbe();
    const { hostname, port } = new URL(probe.url);
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    await once(socket, 'connect');
    // The server has accepted it once it answers another.
    expect((await getAll(probe, '/healthz')).status).toBe(200);
    let answered = '';
    socket.on('data', (piece: string) => (answered += piece));
    socket.write('GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n');
    await Promise.all([probe.close(), once(socket, 'close')]);
    expect(answered).toMatch(/^HTTP\/1\.1 503 /);
    expect(answered).toContain('service_draining');
  });

  describe('with a time in which new requests are served', () => {
    const ACCEPT_MS = 12_345;
    const ANSWERS = { '/v1/open': 200, '/v1/hijacked': 200, '/v1/nowhere': 404, '/v1/%00': 404 };

    async function startHeld(): Promise<{ probe: Probe; clock: HeldClock; late: HeldClock }> {
      const late = new HeldClock(new SystemClock(), LATE_MS);
      const clock = new HeldClock(late, ACCEPT_MS);
      const probe = await startProbe({ clock, drainAcceptMs: ACCEPT_MS, drainGraceMs: 20_000 });
      return { clock, late, probe };
    }

    it('U09 200 with Connection: close on kept and new connections, whoever writes the answer, while /readyz is 503', async () => {
      const { probe, clock, late } = await startHeld();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const kept = await get(probe, '/v1/open', agent);
      expect([kept.statusCode, kept.headers.connection]).toEqual([200, 'keep-alive']);
      const closed = probe.close();
      await clock.sleeping;

      expect((await getAll(probe, '/readyz')).status).toBe(503);
      expect((await getAll(probe, '/healthz')).status).toBe(200);
      for (const [path, status] of Object.entries(ANSWERS)) {
        const { statusCode, headers } = await get(probe, path, agent);
        expect([path, statusCode, headers.connection]).toEqual([path, status, 'close']);
      }
      const stream = Stream.open(probe, '/v1/slow');
      expect(await stream.until('first')).toContain('Connection: close');

      clock.wake();
      await late.sleeping;
      late.wake();
      await once(probe.drain.begun, 'abort');
      await expect(get(probe, '/healthz', new Agent())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      probe.slow.forEach((end) => end());
      expect(await stream.until(' last')).toContain('first');
      await closed;
      agent.destroy();
      stream.socket.destroy();
    });

    it('U09 200 on a connection that was made before the listener was closed, whose request comes shortly after', async () => {
      const { probe, clock, late } = await startHeld();
      const { hostname, port } = new URL(probe.url);
      const busy = connect(Number(port), hostname).setEncoding('utf8');
      await once(busy, 'connect');
      const closed = probe.close();
      await clock.sleeping;
      clock.wake();
      await late.sleeping;
      await expect(get(probe, '/healthz', new Agent())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      busy.write('GET /v1/open HTTP/1.1\r\nHost: x\r\n\r\n');
      const [answered] = (await once(busy, 'data')) as [string];
      expect(answered).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i);
      late.wake();
      await closed;
    });

    it('closes the connection of a request that was under way when it began', async () => {
      const { probe, clock, late } = await startHeld();
      const secret = mintSecret('rsk_', new SystemRandom());
      probe.principals.add(secret, keyPrincipal());
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
      const sending = request(`${probe.url}/v1/guarded`, { method: 'POST', headers });
      const sent = once(sending, 'response') as Promise<[IncomingMessage]>;
      sending.write('{');
      await eventually(() => probe.drain.requestsInFlight === 1);
      const closed = probe.close();
      await clock.sleeping;
      sending.end('}');
      const [{ statusCode, headers: answered }] = await sent;
      expect([statusCode, answered.connection]).toEqual([201, 'close']);
      clock.wake();
      await late.sleeping;
      late.wake();
      await closed;
    });

    it('does not end sooner where nothing is under way, and says so to idle connections by closing them', async () => {
      const { probe, clock, late } = await startHeld();
      const { hostname, port } = new URL(probe.url);
      const idle = connect(Number(port), hostname);
      await once(idle, 'connect');
      const state = { isClosed: false };
      const closed = probe.close().then(() => (state.isClosed = true));
      await clock.sleeping;
      expect((await getAll(probe, '/v1/open')).status).toBe(200);
      expect([state.isClosed, idle.closed]).toEqual([false, false]);
      clock.wake();
      await late.sleeping;
      late.wake();
      await Promise.all([closed, once(idle.resume(), 'close')]);
    });
  });

  it('reports what still runs when the grace is over, and then ends', async () => {
    const probe = await startProbe({ drainGraceMs: 30 });
    const stream = Stream.open(probe, '/v1/slow');
    await stream.until('first');
    const { deadline } = probe.drain;
    deadline.addEventListener('abort', () => probe.slow.forEach((end) => end()));
    await probe.close();
    expect(deadline.aborted).toBe(true);
    expect(await stream.until(' last')).toContain('first');
    stream.socket.destroy();
  });

  it('closes once, however often it is asked', async () => {
    const probe = await startProbe();
    await Promise.all([probe.close(), probe.close()]);
    await expect(fetch(`${probe.url}/healthz`)).rejects.toThrow();
  });
});

describe('readiness', () => {
  it('names what is missing and never asks a dependency', async () => {
    const probe = await startProbe();
    const state = { writable: false };
    probe.readiness.add('journal', () => state.writable || 'The journal cannot be written.');
    expect(await getAll(probe, '/readyz')).toMatchObject({
      status: 503,
      body: { faults: { journal: 'The journal cannot be written.' } },
    });
    expect((await getAll(probe, '/healthz')).status).toBe(200);
    state.writable = true;
    expect((await getAll(probe, '/readyz')).status).toBe(200);
    await probe.close();
  });
});

describe('pressure', () => {
  const none = { some: Infinity, all: Infinity };

  it('U15 503 refuses everything but the platform’s own paths and files in memory, with our envelope', async () => {
    const probe = await startProbe({
      pressure: { delayMs: none, rssBytes: { some: 1, all: 1 }, bodyBytes: none },
    });
    // Memory is measured once a second.
    await eventually(async () => (await getAll(probe, '/v1/open')).status === 503);
    expect(probe.pressure.refusesSome).toBe(true);
    const refused = await getAll(probe, '/v1/open');
    expect(refused.body).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(refused.headers.get('x-service-version')).toBe('2026-08');
    expect(refused.headers.get('x-request-id')).toMatch(/^req_/);
    expect((await getAll(probe, '/healthz')).status).toBe(200);
    expect((await fetch(`${probe.url}/v1/file`)).status).toBe(200);
    expect((await getAll(probe, '/v1/nowhere')).status).toBe(503);
    await probe.close();
  });

  it('U15 counts large bodies as they arrive, lets go of them, and refuses while too much is held', async () => {
    const probe = await startProbe({
      pressure: { delayMs: none, rssBytes: none, bodyBytes: { some: 1, all: 10 } },
    });
    const secret = mintSecret('rsk_', new SystemRandom());
    probe.principals.add(secret, keyPrincipal());
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    const sending = request(`${probe.url}/v1/guarded`, { method: 'POST', headers });
    const sent = once(sending, 'response') as Promise<[IncomingMessage]>;
    sending.write('{');
    await eventually(() => probe.pressure.bodyBytesInFlight === 1);
    const small = (): Promise<Response> =>
      fetch(`${probe.url}/v1/guarded`, { method: 'POST', body: '{"x":1}', headers });
    expect((await small()).status).toBe(201);
    sending.write(Buffer.alloc(20_000, 0x20));
    await eventually(() => probe.pressure.bodyBytesInFlight === 20_001);
    expect((await small()).status).toBe(503);
    sending.end('}');
    expect((await sent)[0].statusCode).toBe(201);
    await eventually(() => probe.pressure.bodyBytesInFlight === 0);
    expect((await small()).status).toBe(201);
    await probe.close();
  });
});
