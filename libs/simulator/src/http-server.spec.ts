import { connect } from 'node:net';
import fc from 'fast-check';
import { parseRequest, type WireRequest } from './http-parse.js';
import { serveHttp, type HttpServer } from './http-server.js';
import { sendWhole } from './reply.js';

function parsed(bytes: Buffer): WireRequest {
  const found = parseRequest(bytes, 0);
  if (found.kind !== 'request') throw new Error(`not a request: ${found.kind}`);
  return found.request;
}

function chunked(body: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)};a=b\r\n`), part, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\ntrailer: x\r\n\r\n')]);
}

describe('parseRequest', () => {
  it('reads a chunked body of any bytes in any chunks, and asks for more at every cut', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(),
        (content, size, cut) => {
          const body = Buffer.from(content);
          const whole = Buffer.concat([
            Buffer.from('POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n'),
            chunked(body, size),
          ]);
          expect(parsed(whole).body.equals(body)).toBe(true);
          expect(parseRequest(whole.subarray(0, cut % whole.length), 0).kind).toBe('more');
        },
      ),
    );
  });

  it('joins repeated headers and refuses what is no request', () => {
    expect(parsed(Buffer.from('GET / HTTP/1.1\r\nA: 1\r\na: 2\r\n\r\n')).headers).toEqual({ a: '1, 2' });
    for (const bad of ['nonsense\r\n\r\n', 'GET / HTTP/2\r\n\r\n', 'GET / HTTP/1.1\r\nno colon\r\n\r\n']) {
      expect(parseRequest(Buffer.from(bad), 0)).toEqual({ kind: 'bad', status: 400 });
    }
    const chunk = 'POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n';
    expect(parseRequest(Buffer.from(chunk), 0)).toEqual({ kind: 'bad', status: 400 });
  });

  it('bounds the head and the body', () => {
    expect(parseRequest(Buffer.alloc(70_000, 'a'), 0)).toEqual({ kind: 'bad', status: 431 });
    const huge = Buffer.from('POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n');
    expect(parseRequest(huge, 0)).toEqual({ kind: 'bad', status: 413 });
  });
});

describe('serveHttp', () => {
  let server: HttpServer;
  beforeAll(async () => {
    server = await serveHttp({ host: '127.0.0.1', port: 0 }, (exchange) => {
      const { path, body } = exchange.request;
      setImmediate(() => sendWhole(exchange, 200, 'text/plain', `${path}=${body.toString()}`));
    });
  });
  afterAll(() => server.close());

  function talk(pieces: readonly string[], onContinue = ''): Promise<string> {
    return new Promise((resolve) => {
      let received = '';
      const socket = connect(server.port, '127.0.0.1', () => {
        const next = (at: number): void => {
          if (at < pieces.length) socket.write(pieces[at], () => setImmediate(() => next(at + 1)));
        };
        next(0);
      });
      socket.on('data', (part) => {
        received += part.toString();
        if (onContinue !== '' && received.endsWith('Continue\r\n\r\n')) socket.write(onContinue);
      });
      socket.on('close', () => resolve(received));
    });
  }
  const bodies = (received: string): string[] => received.match(/\/\w=[xyz]*/g) ?? [];
  const post = (path: string, body: string, more = ''): string =>
    `POST ${path} HTTP/1.1\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`;

  it('answers pipelined requests in order, one by one, and closes when asked', async () => {
    const all = post('/a', 'x') + post('/b', '') + post('/c', 'zz', 'connection: close\r\n');
    expect(bodies(await talk([all]))).toEqual(['/a=x', '/b=', '/c=zz']);
  });

  it('puts a request together from single bytes', async () => {
    expect(bodies(await talk([...post('/a', 'xyz', 'connection: close\r\n')]))).toEqual(['/a=xyz']);
  });

  it('answers 100-continue once before the body', async () => {
    const head = post('/a', 'x', 'expect: 100-continue\r\nconnection: close\r\n').slice(0, -1);
    const received = await talk([head], 'x');
    expect(received.match(/100 Continue/g)).toHaveLength(1);
    expect(bodies(received)).toEqual(['/a=x']);
  });

  it('closes after an HTTP/1.0 request and after a bad one', async () => {
    expect(bodies(await talk(['GET /a HTTP/1.0\r\n\r\n']))).toEqual(['/a=']);
    expect(await talk(['nonsense\r\n\r\n'])).toMatch(/^HTTP\/1.1 400 /);
  });
});
