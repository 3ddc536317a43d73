import { connect } from 'node:net';
import { BODY_LIMIT_BYTES } from '@gateway/contracts';
import { keyPrincipal } from '@gateway/testing';
import { mintSecret } from '../auth/secret.js';
import { SystemRandom } from '../time/system.js';
import { startProbe, type Probe } from '../boot/probe-app.fixture.js';

interface RawAnswer {
  status: number;
  headers: string;
  body: string;
}

/** Sends one request with a body of so many bytes over a socket and reads the answer to its end. */
function send(
  probe: Probe,
  request: { path: string; bytes: number; chunked: boolean; headers?: string[] },
): Promise<RawAnswer> {
  const { hostname, port } = new URL(probe.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head, ...rest] = text.split('\r\n\r\n');
      resolve({
        status: Number(head.split(' ')[1]),
        headers: head.toLowerCase(),
        body: rest.join('\r\n\r\n'),
      });
    });
    const framing = request.chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${request.bytes}`;
    const lines = [`POST ${request.path} HTTP/1.1`, 'Host: x', 'Connection: close', framing];
    const own = request.headers ?? [];
    const type = own.some((line) => line.startsWith('Content-Type'))
      ? []
      : ['Content-Type: application/json'];
    const head = [...lines, ...type, ...own];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const body = Buffer.alloc(request.bytes, 0x20);
    body.write('{"x":1}');
    if (!request.chunked) return void socket.write(body);
    const size = 1_048_576;
    for (let at = 0; at < body.length; at += size) {
      const chunk = body.subarray(at, at + size);
      socket.write(`${chunk.length.toString(16)}\r\n`);
      socket.write(chunk);
      socket.write('\r\n');
    }
    socket.write('0\r\n\r\n');
  });
}

describe('the size of a request body', () => {
  let probe: Probe;

  beforeAll(async () => {
    probe = await startProbe();
  });
  afterAll(() => probe.close());

  it.each([false, true])('LIM-13 accepts 33,554,432 bytes (chunked: %s)', async (chunked) => {
    const secret = mintSecret('rsk_', new SystemRandom());
    probe.principals.add(secret, keyPrincipal());
    const headers = [`Authorization: Bearer ${secret}`];
    const answer = await send(probe, { path: '/v1/guarded', bytes: BODY_LIMIT_BYTES, chunked, headers });
    expect(answer.status).toBe(201);
    expect(answer.headers).toContain('x-request-id: req_');
  });

  const refused = [
    ['an open path', '/v1/open', []],
    ['a guarded path with a wrong key', '/v1/widgets', ['Authorization: Bearer rsk_wrong']],
    ['a refused version header', '/v1/open', ['X-Service-Version: 1999-01']],
    ['an unknown path', '/no/such/path', []],
    ['a malformed address', '/v1/%zz', []],
    ['another content type', '/v1/open', ['Content-Type: text/plain']],
  ] as const;
  const cases = refused.flatMap((row) => [[...row, false] as const, [...row, true] as const]);

  it.each(cases)(
    'LIM-13 LIM-34 LIM-35 refuses one byte more with a plain page: %s (%s %j chunked: %s)',
    async (_name, path, headers, chunked) => {
      const before = await metricsOf(probe);
      const answer = await send(probe, { path, bytes: BODY_LIMIT_BYTES + 1, chunked, headers: [...headers] });
      expect(answer.status).toBe(413);
      expect(answer.headers).toContain('content-type: text/html');
      expect(answer.headers).not.toMatch(/x-request-id|x-service-version|access-control/);
      expect(answer.body).toContain('<h1>413 Request Entity Too Large</h1>');
      expect(answer.body).not.toContain('"error"');
      expect(await metricsOf(probe)).toEqual(before);
      expect(await metricsOf(probe)).not.toContainEqual(expect.stringContaining('status="413"'));
    },
  );
});

/** Counters of requests other than the reading of the metrics itself. */
async function metricsOf(probe: Probe): Promise<string[]> {
  const text = await (await fetch(`${probe.url}/metrics`)).text();
  return text
    .split('\n')
    .filter(
      (line) =>
        line.startsWith('gateway_http_request_duration_seconds_count') && !line.includes('"/metrics"'),
    );
}
