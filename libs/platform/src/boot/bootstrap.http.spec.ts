import { BODY_LIMIT_BYTES, ERRORS } from '@gateway/contracts';
import { eventually, keyPrincipal } from '@gateway/testing';
import { connect } from 'node:net';
import { mintSecret } from '../auth/secret.js';
import { SystemRandom } from '../time/system.js';
import { PROBE_FLEET_TOKEN, PROBE_OTHER_FLEET_TOKEN, startProbe, type Probe } from './probe-app.fixture.js';

interface Answer {
  status: number;
  headers: Headers;
  body: {
    error: {
      code: string;
      message: string;
      details?: object[];
      supported_versions?: string[];
      type?: string;
    };
    request_id: string;
    type?: string;
  };
}

const secret = mintSecret('rsk_', new SystemRandom());
const scopedSecret = mintSecret('rsk_', new SystemRandom());
const suspendedSecret = mintSecret('rsk_', new SystemRandom());
const JSON_TYPE = { 'content-type': 'application/json' };

let probe: Probe;

beforeAll(async () => {
  probe = await startProbe();
  const { principals } = probe;
  principals.add(secret, keyPrincipal());
  principals.add(scopedSecret, keyPrincipal({ permissions: ['inference:write'], apiVersion: '2026-09' }));
  principals.add(suspendedSecret, keyPrincipal({ status: 'suspended' }));
});
afterAll(() => probe.close());

async function call(path: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(`${probe.url}${path}`, init);
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
}

function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  return call(path, { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } });
}

function bearer(text: string): Record<string, string> {
  return { authorization: `Bearer ${text}` };
}

function expectEnvelope(answer: Answer, status: number, code: string): void {
  expect(answer.status).toBe(status);
  expect(answer.body.error.code).toBe(code);
  expect(Object.keys(ERRORS)).toContain(code);
  expect(answer.body.error.message.length).toBeGreaterThan(0);
  expect(answer.body.request_id).toMatch(/^req_[0-9a-f-]{36}$/);
  expect(answer.headers.get('x-request-id')).toBe(answer.body.request_id);
  expect(answer.headers.get('x-service-version')).toMatch(/^\d{4}-\d{2}$/);
  expect(answer.headers.get('content-type')).toContain('application/json');
}

describe('every answer', () => {
  it('EDGE-01 VER-01 VER-06 VER-13 names the request, anew each time, and the version served', async () => {
    const [first, second] = await Promise.all([call('/v1/open'), call('/v1/open')]);
    expect(first.status).toBe(200);
    expect(first.headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(first.headers.get('x-request-id')).not.toBe(second.headers.get('x-request-id'));
    expect(first.headers.get('x-service-version')).toBe('2026-08');
  });

  it('EDGE-01 never takes a caller’s own X-Request-Id', async () => {
    const answer = await call('/v1/open', {
      headers: { 'x-request-id': 'req_mine', 'request-id': 'req_mine' },
    });
    expect(answer.headers.get('x-request-id')).not.toBe('req_mine');
  });

  it('VER-14 EDGE-01 also one that a handler wrote by itself', async () => {
    const answer = await fetch(`${probe.url}/v1/hijacked`, { headers: { 'x-service-version': '2026-09' } });
    expect(await answer.text()).toBe('raw');
    expect(answer.headers.get('x-service-version')).toBe('2026-09');
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });

  it.each([
    ['/v1/nothing', 404, 'not_found'],
    ['/v1/missing', 404, 'not_found'],
    ['/v2/models', 404, 'not_found'],
    ['/v1/%zz', 400, 'bad_request'],
    ['/v1/broken', 500, 'internal_error'],
    ['/v1/evaluate', 401, 'unauthorized'],
  ])(
    'ERR-01 ERR-02 ERR-03 ERR-07 VER-01 VER-14 is an envelope with headers: %s',
    async (path, status, code) => {
      expectEnvelope(await call(path), status, code);
    },
  );

  it('ERR-31 404 says whether a path has no endpoint, or a resource is not there, and of no internal path that it is', async () => {
    const paths = ['/v1/missing', '/v1/nothing', '/internal/nothing', '/internal/secret'];
    const errors = (await Promise.all(paths.map((path) => call(path)))).map(({ body }) => body.error);
    expect(errors[0].message).toContain('resource');
    expect(errors[1].message).toContain('/docs');
    expect(errors.slice(2)).toEqual([errors[1], errors[1]]);
  });
});

describe('the version header', () => {
  it('VER-02 VER-13 pins the request it comes with', async () => {
    const answer = await call('/v1/open', { headers: { 'x-service-version': '2026-09' } });
    expect(answer.headers.get('x-service-version')).toBe('2026-09');
  });

  it.each([
    ['VER-09 unsupported', '2031-01'],
    ['VER-10 malformed', 'latest'],
    ['VER-10 malformed', '2026-9'],
    ['VER-11 empty', ''],
  ])(
    '%s: ERR-06 ERR-26 400 with the served versions, answered in the baseline (%j)',
    async (_name, value) => {
      const answer = await call('/v1/open', { headers: { 'x-service-version': value } });
      expectEnvelope(answer, 400, 'invalid_api_version');
      expect(answer.body.error.supported_versions).toEqual(['2026-08', '2026-09']);
      expect(answer.headers.get('x-service-version')).toBe('2026-08');
    },
  );

  it.each([
    [['2026-09', '2026-08'], 400],
    [['2026-09', '2026-09'], 200],
  ])('ERR-26 sent twice: %j', async (values, status) => {
    const lines = values.map((value) => `X-Service-Version: ${value}\r\n`).join('');
    const answer = await rawRequest(`GET /v1/open HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}\r\n`);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
  });

  it('AUTH-18 is looked at before the key', async () => {
    const headers = { ...bearer('rsk_wrong'), 'x-service-version': '1999-01' };
    expectEnvelope(await call('/v1/evaluate', { headers }), 400, 'invalid_api_version');
    expectEnvelope(await call('/v1/nothing', { headers }), 400, 'invalid_api_version');
  });

  it('gives way to nothing but applies the key’s pin where there is none', async () => {
    const pinned = await post('/v1/widgets', '{"name":"a"}', bearer(scopedSecret));
    expect(pinned.headers.get('x-service-version')).toBe('2026-09');
    const named = await post('/v1/widgets', '{"name":"a"}', {
      ...bearer(scopedSecret),
      'x-service-version': '2026-08',
    });
    expect(named.headers.get('x-service-version')).toBe('2026-08');
  });
});

describe('the order of rejections', () => {
  const malformed = '{"name": ';

  it('AUTH-14 ERR-44 401 without a credential, before the body is judged', async () => {
    expectEnvelope(await post('/v1/widgets', malformed), 401, 'unauthorized');
  });

  it.each([
    ['too short', 'rsk_short'],
    ['another character', `${secret.slice(0, -1)}~`],
    ['too long', `${secret}x`],
    ['another prefix', `xsk_${secret.slice(4)}`],
    ['no key at all', 'a.b'],
  ])('AUTH-15 ERR-44 401 for a malformed key: %s', async (_name, text) => {
    expectEnvelope(await post('/v1/widgets', malformed, bearer(text)), 401, 'unauthorized');
  });

  it('KEY-36 401 for a checksum that does not match, without a lookup', async () => {
    const lookups = probe.principals.lookups;
    const wrong = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`;
    expectEnvelope(await post('/v1/widgets', '{}', bearer(wrong)), 401, 'unauthorized');
    expect(probe.principals.lookups).toBe(lookups);
  });

  it('ERR-36 403 for a suspended key, before the body is judged', async () => {
    expectEnvelope(await post('/v1/widgets', malformed, bearer(suspendedSecret)), 403, 'forbidden');
  });

  it('ERR-36 403 names the scope that a scoped key lacks', async () => {
    const answer = await call('/v1/evaluate', { headers: bearer(scopedSecret) });
    expect(answer.headers.get('x-service-version')).toBe('2026-09');
    expectEnvelope(answer, 403, 'forbidden');
    expect(answer.body.error.message).toContain('evaluate:write');
  });

  it('ERR-36 403 for a kind of credential that the endpoint does not take', async () => {
    expectEnvelope(await call('/v1/admin', { headers: bearer(secret) }), 403, 'forbidden');
  });

  it('takes the key in x-api-key as well', async () => {
    const answer = await post('/v1/widgets', '{"name":"a"}', { 'x-api-key': secret });
    expect(answer.status).toBe(201);
  });

  it('EDGE-02 ERR-35 422 for malformed JSON, with its place', async () => {
    const answer = await post('/v1/widgets', malformed, bearer(secret));
    expectEnvelope(answer, 422, 'validation_error');
    expect(answer.body.error.details).toMatchObject([{ type: 'json_invalid', loc: ['body'] }]);
  });

  it('EDGE-02 422 for a body that is not JSON by its type', async () => {
    const answer = await post('/v1/widgets', 'name=a', { ...bearer(secret), 'content-type': 'text/plain' });
    expectEnvelope(answer, 422, 'validation_error');
    expect(answer.body.error.details).toMatchObject([{ loc: ['header', 'content-type'] }]);
  });

  it('415 for a body with a Content-Encoding', async () => {
    const answer = await post('/v1/widgets', '{"name":"a"}', {
      ...bearer(secret),
      'content-encoding': 'gzip',
    });
    expectEnvelope(answer, 415, 'invalid_input');
  });

  it('EDGE-06 ERR-05 ERR-35 422 names an unknown field and each wrong one', async () => {
    const answer = await post('/v1/widgets', '{"name": 4, "colour": "red"}', bearer(secret));
    expectEnvelope(answer, 422, 'validation_error');
    const details = answer.body.error.details ?? [];
    expect(details).toContainEqual({
      type: 'unknown_field',
      loc: ['colour'],
      msg: 'This field is not known.',
    });
    expect(details).toContainEqual({ type: 'wrong_type', loc: ['name'], msg: 'name must be a string' });
  });

  it('ERR-11 a refused request is refused again', async () => {
    const first = await post('/v1/widgets', '{"colour": 1}', bearer(secret));
    const second = await post('/v1/widgets', '{"colour": 1}', bearer(secret));
    expect(second.body.error).toEqual(first.body.error);
  });

  it('EDGE-07 422 for a page over 200', async () => {
    const page = await call('/v1/list');
    expect(page.body).toEqual({ data: [], total: 0, limit: 50, offset: 0 });
    expect((await call('/v1/list?limit=200&offset=3')).body).toMatchObject({ limit: 200, offset: 3 });
    expectEnvelope(await call('/v1/list?limit=201'), 422, 'validation_error');
  });

  it('answers Anthropic’s envelope on /v1/messages, 400 for a schema fault', async () => {
    const answer = await post('/v1/messages', '{"name": 4}');
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'invalid_request_error' },
    });
  });
});

describe('failures of ours', () => {
  it('ERR-51 500 shows nothing of the cause', async () => {
    const answer = await call('/v1/broken');
    expectEnvelope(answer, 500, 'internal_error');
    expect(JSON.stringify(answer.body)).not.toMatch(/hunter2|postgres|at /);
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });

  it('503, never 401, where the caller could not be looked up', async () => {
    probe.principals.isUnavailable = true;
    const answer = await call('/v1/evaluate', { headers: bearer(secret) });
    probe.principals.isUnavailable = false;
    expect(answer.status).toBe(503);
    expect(answer.body.error.code).toBe('service_unavailable');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(answer.headers.get('x-should-retry')).toBe('true');
  });

  it('reads a record again that is older than the account, before it refuses or serves', async () => {
    const { reloads } = probe.principals;
    probe.versions.set('acct_1', 2);
    await call('/v1/evaluate', { headers: bearer(scopedSecret) });
    expect(probe.principals.reloads).toBe(reloads + 1);
    probe.versions.set('acct_1', 1);
    await call('/v1/evaluate', { headers: bearer(scopedSecret) });
    expect(probe.principals.reloads).toBe(reloads + 1);
  });
});

describe('routes', () => {
  it('internal ones need the fleet’s token and look unknown from outside', async () => {
    for (const headers of [{}, { 'x-fleet-token': 'guess' }])
      expectEnvelope(await call('/internal/secret', { headers }), 404, 'not_found');
    for (const token of [PROBE_FLEET_TOKEN, PROBE_OTHER_FLEET_TOKEN])
      expect((await call('/internal/secret', { headers: { 'x-fleet-token': token } })).status).toBe(200);
  });

  it('registered by hand are guarded by their config.access', async () => {
    expectEnvelope(await call('/v1/raw'), 401, 'unauthorized');
    expectEnvelope(await call('/v1/raw', { headers: bearer(suspendedSecret) }), 403, 'forbidden');
    expect((await call('/v1/raw', { headers: bearer(secret) })).body).toEqual({ key: 'key_1' });
  });

  it('are listed with who may call them', () => {
    expect(probe.routes).toContainEqual({
      method: 'POST',
      path: '/v1/widgets',
      access: { key: true, session: true, adminKey: { scope: 'keys:write' } },
    });
    expect(probe.routes).toContainEqual({ method: 'GET', path: '/v1/raw', access: { key: true } });
  });

  it('stop the start where one declares nothing', async () => {
    await expect(startProbe({ unguarded: true })).rejects.toThrow('GET /v1/forgotten');
  });

  it('VER-15 VER-27 answer a preflight of any origin and expose the version', async () => {
    const preflight = await fetch(`${probe.url}/v1/widgets`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-service-version',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,x-service-version');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, PATCH, DELETE');
    const answer = await call('/v1/missing', { headers: { origin: 'https://app.example' } });
    const exposed = answer.headers.get('access-control-expose-headers') ?? '';
    for (const name of [
      'X-Service-Version',
      'X-Request-Id',
      'Deprecation',
      'Sunset',
      'Link',
      'Retry-After',
    ]) {
      expect(exposed.split(', ')).toContain(name);
    }
    const other = await fetch(`${probe.url}/healthz`, { headers: { origin: 'https://app.example' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('are of the type they say, and kept by nobody, unless a handler says so', async () => {
    for (const path of ['/v1/open', '/v1/missing']) {
      const answer = await call(path);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('count as 499 where the caller leaves in the middle of its body', async () => {
    const { hostname, port } = new URL(probe.url);
    const socket = connect(Number(port), hostname);
    socket.write('POST /v1/open HTTP/1.1\r\nhost: probe\r\ncontent-type: application/json\r\n');
    socket.write('content-length: 100\r\n\r\n{"half":');
    await eventually(async () => (await metricsText()).includes('requests_in_flight 2'));
    socket.destroy();
    await eventually(async () => {
      expect(await metricsText()).toContain('count{method="POST",route="/v1/open",status="499"} 1');
      return true;
    });
  });

  it('EDGE-02 refuse unbounded JSON before parsing it', async () => {
    const deep = `${'['.repeat(65)}${']'.repeat(65)}`;
    expectEnvelope(await post('/v1/widgets', deep, bearer(secret)), 422, 'validation_error');
    expect(deep.length).toBeLessThan(BODY_LIMIT_BYTES);
  });

  it('answer liveness, readiness and metrics', async () => {
    expect((await call('/healthz')).status).toBe(200);
    expect((await call('/readyz')).status).toBe(200);
    const metrics = await (await fetch(`${probe.url}/metrics`)).text();
    expect(metrics).toContain(
      'gateway_http_request_duration_seconds_count{method="GET",route="/v1/open",status="200"}',
    );
    expect(metrics).toContain('nodejs_eventloop_lag_mean_seconds');
    expect(metrics).toContain('gateway_http_requests_in_flight');
  });
});

async function metricsText(): Promise<string> {
  return (await fetch(`${probe.url}/metrics`)).text();
}

function rawRequest(text: string): Promise<string> {
  const { hostname, port } = new URL(probe.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (answer += chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
