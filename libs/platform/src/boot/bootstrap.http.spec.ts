import { PROBE_FLEET_TOKEN, probeKey, startProbe, type Probe } from './probe-app.fixture.js';
import { mintSecret, secretDigest } from '../auth/secret.js';
import { SystemRandom } from '../time/system-random.js';

describe('a service made by bootstrap', () => {
  let probe: Probe;
  const secret = mintSecret('rsk_', new SystemRandom());
  const bearer = { authorization: `Bearer ${secret}` };

  beforeAll(async () => {
    probe = await startProbe();
    probe.principals.principals.set(secretDigest(secret), probeKey());
  });
  afterAll(() => probe.close());

  it('EDGE-01 VER-06 VER-13 names request and version on every answer', async () => {
    const answer = await fetch(`${probe.url}/v1/open`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(answer.headers.get('x-service-version')).toBe('2026-08');
  });

  it('ERR-31 VER-14 answers an unknown path with the envelope', async () => {
    const answer = await fetch(`${probe.url}/v1/nothing-here`, {
      headers: { 'x-service-version': '2026-09' },
    });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('x-service-version')).toBe('2026-09');
    const body = (await answer.json()) as { error: { code: string }; request_id: string };
    expect(body.error.code).toBe('not_found');
    expect(body.request_id).toBe(answer.headers.get('x-request-id'));
  });

  it('internal routes need the fleet token', async () => {
    expect((await fetch(`${probe.url}/internal/secret`)).status).toBe(404);
    const headers = { 'x-fleet-token': PROBE_FLEET_TOKEN };
    expect((await fetch(`${probe.url}/internal/secret`, { headers })).status).toBe(200);
  });

  it('creates with a key', async () => {
    const answer = await fetch(`${probe.url}/v1/widgets`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'a' }),
    });
    expect(await answer.json()).toEqual({ kind: 'key', name: 'a' });
    expect(answer.status).toBe(201);
  });
});
