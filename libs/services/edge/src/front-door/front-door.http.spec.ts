import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { BODY_LIMIT_BYTES } from '@gateway/contracts';
import {
  startUpstreamDouble,
  type ScriptedAnswer,
  type SeenRequest,
  type UpstreamDouble,
} from '@gateway/testing';
import { CONNECTION_AGE_MS } from '@gateway/platform';
import { startEdge, type EdgeUnderTest } from '../edge.fixture.js';

describe('the front door', () => {
  let edge: EdgeUnderTest;
  let owner: UpstreamDouble;
  let seen: SeenRequest[];

  beforeAll(async () => {
    owner = await startUpstreamDouble(({ headers }): ScriptedAnswer => {
      const [how, only] = String(headers['x-how'] ?? '').split(' ');
      const isFaulty = only !== 'first' || seen.length === 1;
      if (how === 'cut' && isFaulty) return { fault: 'reset' };
      const leave: Record<string, string> = how === 'leave' ? { connection: 'close' } : {};
      if ((how === 'leave' || how === 'overloaded') && isFaulty)
        return { status: 503, headers: { ...leave, 'retry-after': '1' }, body: '{}' };
      const kept: Record<string, string> = how === 'keep' ? { 'cache-control': 'public, max-age=60' } : {};
      return {
        status: 201,
        headers: { 'x-request-id': 'req_of_the_owner', ...kept },
        json: { by: 'owner' },
      };
    });
    seen = owner.seen;
    const services = { keys: owner.url, catalogue: owner.url, usage: 'http://127.0.0.1:1' };
    edge = await startEdge({ frontDoor: services });
  });
  afterAll(async () => {
    await edge.close();
    await owner.close();
  });
  beforeEach(() => void seen.splice(0));

  /** A request line as it stands, for paths that fetch would tidy up. */
  function raw(path: string): Promise<string> {
    const { hostname, port } = new URL(edge.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          `GET ${path} HTTP/1.1\r\nhost: edge\r\nconnection: close\r\nx-fleet-token: stolen\r\n\r\n`,
        ),
      );
      let text = '';
      socket.on('data', (part) => (text += part.toString()));
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
  }

  it('vouches for the address of the caller, whatever the caller says of itself', async () => {
    const lies = { 'x-client-address': '203.0.113.9 proof', 'x-forwarded-for': '203.0.113.9' };
    await fetch(`${edge.url}/v1/keys`, { headers: lies });
    expect(seen[0].headers['x-client-address']).toMatch(/^127\.0\.0\.1 [\w-]{43}$/);
    expect(seen[0].headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  it('names the host that the caller asked, whatever the caller says of itself', async () => {
    await fetch(`${edge.url}/v1/keys`, { headers: { 'x-forwarded-host': 'evil.example' } });
    expect(seen[0].headers['x-forwarded-host']).toBe(new URL(edge.url).host);
    expect(seen[0].headers.host).not.toBe(new URL(edge.url).host);
  });

  it('passes a query on as it came, also one that cannot be decoded', async () => {
    for (const query of ['label=%zz', 'a=../b', '%ff', 'q=a%20b&q=']) {
      expect(await raw(`/v1/keys?${query}`)).toMatch(/^HTTP\/1\.1 201 /);
      expect(seen.at(-1)?.path).toBe(`/v1/keys?${query}`);
    }
  });

  it('passes method, path, query, body and headers on, and the answer back', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await fetch(`${edge.url}/v1/keys/k%2F1?limit=2&q=a%20b`, {
        method,
        headers: {
          authorization: 'Bearer x',
          'content-type': 'application/json',
          'x-own': 'yes',
          'idempotency-key': 'i',
        },
        body: '{"a":1}',
      });
      expect(answer.status).toBe(201);
      expect(answer.headers.get('x-request-id')).toBe('req_of_the_owner');
      expect(await answer.json()).toEqual({ by: 'owner' });
    }
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'PUT', 'PATCH', 'DELETE']);
    for (const one of seen) {
      expect(one).toMatchObject({ path: '/v1/keys/k%2F1?limit=2&q=a%20b', body: Buffer.from('{"a":1}') });
      expect(one.headers).toMatchObject({
        authorization: 'Bearer x',
        'x-own': 'yes',
        'idempotency-key': 'i',
      });
      expect(one.headers['x-forwarded-for']).toBeDefined();
    }
  });

  it('what comes back is of the type it says, and kept by nobody unless the owner says so; so are rejections of its own', async () => {
    const ask = async (path: string, how = ''): Promise<unknown[]> => {
      const { headers, status } = await fetch(`${edge.url}${path}`, { headers: { 'x-how': how } });
      return [status, headers.get('x-content-type-options'), headers.get('cache-control')];
    };
    expect(await ask('/v1/keys')).toEqual([201, 'nosniff', 'no-store']);
    expect(await ask('/v1/public/models', 'keep')).toEqual([201, 'nosniff', 'public, max-age=60']);
    expect(await ask('/v1/keys', 'cut')).toEqual([503, 'nosniff', 'no-store']);
    expect(await ask('/v1/nowhere')).toEqual([404, 'nosniff', 'no-store']);
  });

  it('passes on a body that its caller held back until 100 Continue', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { expect: '100-continue', 'content-type': 'application/json', 'content-length': 7 };
      const sent = request(`${edge.url}/v1/keys`, { method: 'POST', headers });
      sent.on('continue', () => sent.end('{"a":1}'));
      sent.on('response', (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode));
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
    expect(status).toBe(201);
    expect(seen).toMatchObject([{ method: 'POST', body: Buffer.from('{"a":1}') }]);
    expect(seen[0].headers.expect).toBeUndefined();
  });

  it('keeps an encoded slash of a model id, and a body that is no JSON is the owner’s to refuse', async () => {
    await fetch(`${edge.url}/v1/models/openai%2Fgpt`);
    await fetch(`${edge.url}/v1/keys`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'not json',
    });
    expect(seen.map(({ path, body }) => [path, body.toString()])).toEqual([
      ['/v1/models/openai%2Fgpt', ''],
      ['/v1/keys', 'not json'],
    ]);
  });

  it('never forwards the fleet’s token, nor anything to /internal', async () => {
    await raw('/v1/keys/one');
    expect(seen).toHaveLength(1);
    expect(seen[0].headers['x-fleet-token']).toBeUndefined();
    const climbing = [
      '/v1/keys/../../internal/x',
      '/v1/keys/%2e%2e/%2E./internal/x',
      '/v1/keys/..%2f..%2finternal/x',
      '/v1/keys/..\\..\\internal/x',
    ];
    const answers = await Promise.all(['/internal/principals/resolve', '//internal/x', ...climbing].map(raw));
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 404/);
    expect(seen).toHaveLength(1);
    await raw('/v1/keys//evil.example/x');
    expect(seen.at(-1)?.path).toBe('/v1/keys//evil.example/x');
  });

  it('VER-14 503 with the envelope where the owner is away, which says what is, 404 where nobody owns the path', async () => {
    const away = await fetch(`${edge.url}/v1/usage/summary`);
    expect(away.status).toBe(503);
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(away.headers.get('x-service-version')).toBe('2026-08');
    expect(await away.json()).toMatchObject({
      error: {
        code: 'service_unavailable',
        message: 'Usage, limits in use and billing are unavailable for the moment.',
      },
      request_id: away.headers.get('x-request-id'),
    });
    const nowhere = await fetch(`${edge.url}/v1/nowhere`);
    expect(nowhere.status).toBe(404);
    expect(await nowhere.json()).toMatchObject({ error: { code: 'not_found' } });
  });

  it('sends a read once more that a leaving replica refused or cut, and nothing to one that has too much to do', async () => {
    const send = async (method: string, how: string): Promise<[number, number]> => {
      seen.splice(0);
      const { status } = await fetch(`${edge.url}/v1/keys`, { method, headers: { 'x-how': how } });
      return [status, seen.length];
    };
    expect(await send('GET', 'leave first')).toEqual([201, 2]);
    expect(await send('GET', 'cut first')).toEqual([201, 2]);
    expect(await send('GET', 'cut')).toEqual([503, 2]);
    expect(await send('GET', 'leave')).toEqual([503, 2]);
    expect(await send('GET', 'overloaded')).toEqual([503, 1]);
    expect(await send('POST', 'leave first')).toEqual([503, 1]);
    expect(await send('POST', 'cut first')).toEqual([503, 1]);
  });

  it('AUTH-18 a bad version header never reaches the owner', async () => {
    const refused = await fetch(`${edge.url}/v1/keys`, { headers: { 'x-service-version': '1' } });
    expect(refused.status).toBe(400);
    expect(seen).toEqual([]);
  });

  it('LIM-13 LIM-34 413 on forwarded paths, declared or not', async () => {
    const declared = await fetch(`${edge.url}/v1/keys`, {
      method: 'POST',
      body: Buffer.alloc(BODY_LIMIT_BYTES + 1),
    });
    expect(declared.status).toBe(413);
    expect(declared.headers.get('content-type')).toContain('text/html');
    const chunked = await new Promise<{ status: number; id: unknown }>((resolve, reject) => {
      const sent = request(`${edge.url}/v1/keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      sent.on('error', reject);
      sent.on('response', (answer) => {
        answer.resume();
        resolve({ status: answer.statusCode ?? 0, id: answer.headers['x-request-id'] });
      });
      sent.end(Buffer.alloc(BODY_LIMIT_BYTES + 1, 0x20));
    });
    expect(chunked).toEqual({ status: 413, id: undefined });
    expect(seen).toEqual([]);
  });

  it('replaces kept connections to an owner, so that a new replica of it gets its share', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((incoming, answer) => {
      sockets.add(incoming.socket);
      answer.end('{}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const keys = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const door = await startEdge({ frontDoor: { keys } });
    const { now } = Date;
    try {
      for (let n = 0; n < 3; n += 1) await (await fetch(`${door.url}/v1/keys`)).text();
      expect(sockets.size).toBe(1);
      const later = Date.now() + CONNECTION_AGE_MS + 1;
      Date.now = () => later;
      await (await fetch(`${door.url}/v1/keys`)).text();
      expect(sockets.size).toBe(2);
    } finally {
      Date.now = now;
      await door.close();
      server.close();
    }
  });
});
