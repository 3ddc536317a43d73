import { once } from 'node:events';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { collect, faultOf, TransportUnderTest } from './transport.fixture.js';

const OK = 'HTTP/1.1 200 OK\r\n';

/** One turn of the event loop: the transport reads what was written so far. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Answers of an upstream that breaks HTTP/1.1, or means to have two readers disagree about where an answer ends. */
const REFUSED: Record<string, string> = {
  'a length and chunks': `${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  'chunks and a length': `${OK}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  'two lengths': `${OK}content-length: 2\r\ncontent-length: 3\r\n\r\nok!`,
  'a list of lengths': `${OK}content-length: 2, 3\r\n\r\nok!`,
  'a signed length': `${OK}content-length: +2\r\n\r\nok`,
  'a negative length': `${OK}content-length: -2\r\n\r\nok`,
  'a hexadecimal length': `${OK}content-length: 0x2\r\n\r\nok`,
  'a length past 64 bits': `${OK}content-length: 99999999999999999999999\r\n\r\nok`,
  'an empty length': `${OK}content-length:\r\n\r\nok`,
  'a folded header': `${OK}x-a: 1\r\n b\r\ncontent-length: 2\r\n\r\nok`,
  'a bare LF': `${OK}x-a: 1\ncontent-length: 2\r\n\r\nok`,
  'a bare CR': `${OK}x-a: 1\rcontent-length: 2\r\n\r\nok`,
  'NUL in a value': `${OK}x-a: 1\0\r\ncontent-length: 2\r\n\r\nok`,
  'NUL in a name': `${OK}x\0a: 1\r\ncontent-length: 2\r\n\r\nok`,
  'a space before the colon': `${OK}content-length : 2\r\n\r\nok`,
  'a header without a name': `${OK}: 1\r\ncontent-length: 2\r\n\r\nok`,
  'no version': `200 OK\r\ncontent-length: 2\r\n\r\nok`,
  'version 9': `HTTP/9.9 200 OK\r\ncontent-length: 2\r\n\r\nok`,
  'no status': `HTTP/1.1\r\ncontent-length: 2\r\n\r\nok`,
  'an upgrade nobody asked for': `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n`,
  'a head of more than 16 KiB': `${OK}x-a: ${'a'.repeat(16_384)}\r\ncontent-length: 2\r\n\r\nok`,
  'headers of more than 16 KiB': `${OK}${'x-a: b\r\n'.repeat(5_000)}content-length: 2\r\n\r\nok`,
  'a chunk size that is none': `${OK}transfer-encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n`,
  'a chunk size past 64 bits': `${OK}transfer-encoding: chunked\r\n\r\n${'f'.repeat(17)}\r\nok\r\n0\r\n\r\n`,
  'a signed chunk size': `${OK}transfer-encoding: chunked\r\n\r\n+2\r\nok\r\n0\r\n\r\n`,
  'a chunk that is longer than its size': `${OK}transfer-encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n`,
  'a chunk size that ends with LF': `${OK}transfer-encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n`,
  'trailers of more than 16 KiB': `${OK}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${'x-a: b\r\n'.repeat(5_000)}\r\n`,
};

describe('U08 answers that break HTTP', () => {
  const test = new TransportUnderTest();
  afterAll(() => test.close());

  /** Answers each request of a connection with the next text. */
  function answering(...texts: string[]): (socket: Socket) => void {
    return (socket) => {
      const left = [...texts];
      socket.on('data', () => socket.write(left.shift() ?? '', 'latin1'));
    };
  }

  it.each(Object.entries(REFUSED))('%s is refused, and the connection is closed', async (_name, text) => {
    let closed: Promise<unknown> = Promise.resolve();
    const url = await test.connections((socket) => {
      closed = once(socket, 'close');
      answering(text)(socket);
    });
    expect(await faultOf(test.send(url).then(collect))).toBe('reset');
    await closed;
  });

  it('skips what comes before the answer, as long as the first byte may take', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n';
    const some = await test.connections(answering(`${hints}${hints}${OK}content-length: 2\r\n\r\nok`));
    expect(await collect(await test.send(some))).toBe('ok');
    const endless = await test.connections((socket) => {
      const pour = (): void => {
        if (!socket.destroyed && socket.write(hints)) setImmediate(pour);
        else socket.once('drain', pour);
      };
      socket.once('data', pour);
    });
    expect(await faultOf(test.send(endless, { connectTimeoutMs: 50, firstByteTimeoutMs: 50 }))).toBe(
      'timeout_first_byte',
    );
  });

  it('holds nothing of a chunk extension without end, and gives it up when the body stays silent', async () => {
    const url = await test.connections((socket) => {
      const pour = (): void => {
        if (socket.destroyed) return;
        if (socket.write('a'.repeat(65_536))) setImmediate(pour);
        else socket.once('drain', pour);
      };
      socket.once('data', () => {
        socket.write(`${OK}transfer-encoding: chunked\r\n\r\n2;`);
        pour();
      });
    });
    expect(await faultOf(test.send(url, { idleTimeoutMs: 100 }).then(collect))).toBe('timeout_idle');
  });

  it('gives no request the rest of an earlier answer', async () => {
    const planted = `${OK}content-length: 7\r\n\r\nplanted`;
    let connections = 0;
    const url = await test.connections((socket) => {
      connections += 1;
      const own = `${OK}content-length: 3\r\n\r\nown`;
      answering(...(connections === 1 ? [`${own}${planted}`] : [own, own]))(socket);
    });
    for (let n = 0; n < 3; n += 1) expect(await collect(await test.send(url))).toBe('own');
    expect(connections).toBeGreaterThan(1);
  });

  it('gives no request an answer that came before it was sent', async () => {
    const own = `${OK}content-length: 3\r\n\r\nown`;
    const sockets: Socket[] = [];
    const url = await test.connections((socket) => {
      sockets.push(socket);
      answering(own, own)(socket);
    });
    expect(await collect(await test.send(url))).toBe('own');
    const closed = sockets[0] && once(sockets[0], 'close');
    sockets[0]?.write(`${OK}content-length: 7\r\n\r\nplanted`);
    expect(await collect(await test.send(url))).toBe('own');
    await closed;
    expect(sockets).toHaveLength(2);
  });

  it('sends on a new connection where the upstream closed the idle one, and never the same bytes twice', async () => {
    let requests = 0;
    const url = await test.connections((socket) => {
      socket.on('data', () => {
        requests += 1;
        socket.end(`${OK}content-length: 2\r\n\r\nok`);
      });
    });
    for (let n = 0; n < 3; n += 1) {
      expect(await collect(await test.send(url))).toBe('ok');
      await turn();
    }
    expect(requests).toBe(3);
    let seen = 0;
    const cuts = await test.connections((socket) => {
      socket.on('data', () => {
        seen += 1;
        if (seen === 1) socket.write(`${OK}content-length: 2\r\n\r\nok`);
        else socket.destroy();
      });
    });
    expect(await collect(await test.send(cuts))).toBe('ok');
    expect(await faultOf(test.send(cuts))).toBe('reset');
    expect(seen).toBe(2);
  });

  it('reads the same answer however it is cut, and the next one on the same connection', async () => {
    let answer = '';
    let cuts: number[] = [];
    let connections = 0;
    const url = await test.connections((socket) => {
      connections += 1;
      const write = async (): Promise<void> => {
        const edges = [...new Set(cuts.map((cut) => cut % answer.length))].sort((a, b) => a - b);
        for (const [at, edge] of [0, ...edges].entries()) {
          socket.write(answer.slice(edge, edges[at]), 'latin1');
          await turn();
        }
      };
      socket.on('data', () => void write());
    });
    const piece = fc.string({ minLength: 1, maxLength: 40, unit: 'binary-ascii' });
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 6 }),
        fc.boolean(),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (pieces, isChunked, at) => {
          const chunks = pieces.map((text) => `${text.length.toString(16)};x=y\r\n${text}\r\n`).join('');
          answer = isChunked
            ? `${OK}transfer-encoding: chunked\r\n\r\n${chunks}0\r\nx-a: b\r\n\r\n`
            : `${OK}content-length: ${pieces.join('').length}\r\n\r\n${pieces.join('')}`;
          cuts = at;
          expect(await collect(await test.send(url))).toBe(pieces.join(''));
          await turn();
        },
      ),
      { numRuns: 200 },
    );
    expect(connections).toBe(1);
  });

  it('offers HTTP/1.1 only, and the name of the host, to a provider behind TLS', async () => {
    let hello = '';
    const url = await test.connections((socket) => {
      socket.once('data', (bytes: Buffer) => {
        hello = bytes.toString('latin1');
        socket.destroy();
      });
    });
    const secure = url.replace('http://127.0.0.1', 'https://localhost');
    expect(await faultOf(test.send(secure))).toBe('connect');
    expect(hello).toContain('\x08http/1.1');
    expect(hello).not.toContain('\x02h2');
    expect(hello).toContain('localhost');
  });
});
