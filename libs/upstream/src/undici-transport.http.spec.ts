import { EventEmitter, once } from 'node:events';
import { SystemClock } from '@gateway/platform';
import { eventually, fixedClock } from '@gateway/testing';
import { collect, faultOf, TransportUnderTest } from './transport.fixture.js';

describe('UndiciTransport', () => {
  const clock = new SystemClock();
  const test = new TransportUnderTest();
  const send: TransportUnderTest['send'] = (...call) => test.send(...call);
  const upstream: TransportUnderTest['upstream'] = (listener) => test.upstream(listener);
  afterAll(() => test.close());

  it('sends the pieces in order and answers status, headers and body', async () => {
    const url = await upstream((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () =>
        response
          .writeHead(201, { 'x-a': 'b' })
          .end(`${request.headers['content-length']}:${Buffer.concat(parts).length}`),
      );
    });
    const small = await send(url, {}, [Buffer.from('ab'), Buffer.from('c')]);
    expect(small.status).toBe(201);
    expect(small.headers['x-a']).toBe('b');
    expect(Buffer.from(await small.bytes()).toString()).toBe('3:3');
    const large = await send(url, {}, [Buffer.alloc(200_000, 0x61), Buffer.alloc(200_000, 0x62)]);
    expect(Buffer.from(await large.bytes()).toString()).toBe('400000:400000');
  });

  it('U05 reports which deadline passed', async () => {
    const silent = await upstream(() => undefined);
    expect(await faultOf(send(silent, { firstByteTimeoutMs: 50, connectTimeoutMs: 50 }))).toBe(
      'timeout_first_byte',
    );
    expect(await faultOf(send(silent, { totalTimeoutMs: 50 }))).toBe('timeout_total');
    const stalls = await upstream((_request, response) => void response.writeHead(200).write('first'));
    expect(await faultOf(send(stalls, { idleTimeoutMs: 50 }).then(collect))).toBe('timeout_idle');
    expect(await faultOf(send(stalls, { idleTimeoutMs: 50 }).then((response) => response.bytes()))).toBe(
      'timeout_idle',
    );
  });

  it('ERR-61 reports a connection that was never made apart from one that broke', async () => {
    expect(await faultOf(send('http://127.0.0.1:1/v1'))).toBe('connect');
    expect(await faultOf(send('http://no-such-host.invalid/v1'))).toBe('connect');
    const resets = await test.connections((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await faultOf(send(resets))).toBe('reset');
    const cuts = await test.connections((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')),
    );
    expect(await faultOf(send(cuts).then(collect))).toBe('reset');
    const garbage = await test.connections((socket) =>
      socket.once('data', () => socket.end('not http at all\r\n\r\n')),
    );
    expect(await faultOf(send(garbage))).toBe('reset');
  });

  it('closes the upstream when the caller gives up, before and after the first byte', async () => {
    let closed = 0;
    let onClosed: () => void = () => undefined;
    const url = await upstream((request, response) => {
      request.socket.once('close', () => {
        closed += 1;
        onClosed();
      });
      if (request.headers['content-length'] === '3') response.writeHead(200).write('first');
    });
    const closing = (): Promise<void> => new Promise((resolve) => (onClosed = resolve));
    const before = new AbortController();
    const gone = closing();
    const pending = send(url, { signal: before.signal });
    clock.setTimer(30, () => before.abort());
    expect(await faultOf(pending)).toBe('aborted');
    await gone;
    const after = new AbortController();
    const response = await send(url, { signal: after.signal }, [Buffer.from('abc')]);
    const goneToo = closing();
    const reading = collect(response);
    after.abort();
    expect(await faultOf(reading)).toBe('aborted');
    await goneToo;
    expect(closed).toBe(2);
    expect(await faultOf(send(url, { signal: AbortSignal.abort() }))).toBe('aborted');
  });

  it('reports no abort before the other aborts of the turn are done', async () => {
    const arrived = new EventEmitter();
    const url = await upstream(() => arrived.emit('request'));
    const reported: string[] = [];
    const leavers = [new AbortController(), new AbortController()];
    const sent: Promise<unknown>[] = [];
    for (const { signal } of leavers) {
      const arrival = once(arrived, 'request');
      sent.push(faultOf(send(url, { signal })).then((fault) => reported.push(fault)));
      await arrival;
    }
    for (const leaver of leavers) {
      leaver.abort();
      for (let microtask = 0; microtask < 20; microtask += 1) await Promise.resolve();
      expect(reported).toEqual([]);
    }
    await Promise.all(sent);
    expect(reported).toEqual(['aborted', 'aborted']);
  });

  it('U08 refuses an answer past its bound', async () => {
    const url = await upstream((_request, response) => response.end(Buffer.alloc(2_000)));
    expect(await faultOf(send(url, { maxBytes: 1_999 }).then((response) => response.bytes()))).toBe(
      'too_large',
    );
    expect((await (await send(url, { maxBytes: 2_000 })).bytes()).byteLength).toBe(2_000);
  });

  it('pauses the upstream while nobody reads, and loses nothing', async () => {
    const size = 20_000_000;
    let written = 0;
    const url = await upstream((_request, response) => {
      const block = Buffer.alloc(100_000, 0x78);
      const write = (): void => {
        while (written < size) {
          written += block.length;
          if (!response.write(block)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    });
    const response = await send(url, { maxBytes: size });
    await clock.sleep(200);
    expect(written).toBeLessThan(size);
    expect((await collect(response)).length).toBe(size);
  });

  it('U05 counts the silence of the upstream only while somebody reads', async () => {
    const time = fixedClock('2026-11-21T00:00:00Z');
    const timed = new TransportUnderTest(time);
    const size = 20_000_000;
    let unsentNow = (): number => 0;
    let unsent = 0;
    const url = await timed.upstream((request, response) => {
      unsentNow = () => request.socket.writableLength;
      response.write(Buffer.alloc(size));
    });
    const response = await timed.send(url, { idleTimeoutMs: 1_000, maxBytes: size });
    // What is left to send stays the same: the reader is paused.
    await eventually(() => {
      const before = unsent;
      unsent = unsentNow();
      return unsent > 0 && unsent === before;
    });
    await time.advance(5_000);
    const chunks = response.chunks()[Symbol.asyncIterator]();
    let received = 0;
    while (received < size) received += (await chunks.next()).value?.length ?? 0;
    const silent = faultOf(chunks.next());
    await time.advance(1_100);
    expect(await silent).toBe('timeout_idle');
    await timed.close();
  });

  it('follows no redirect', async () => {
    const url = await upstream((_request, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    );
    expect((await send(url)).status).toBe(302);
  });
});
