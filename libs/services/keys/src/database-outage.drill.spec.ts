import { applyMigrations } from '@gateway/database';
import { eventually, ownPostgres, type OwnServer } from '@gateway/testing';
import { FLEET_TOKEN, startKeysApp, type KeysApp } from './keys-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from './postgres/keys-database.js';

let server: OwnServer;
let keys: KeysApp;

beforeAll(async () => {
  server = await ownPostgres();
  await applyMigrations({ url: server.address, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  keys = await startKeysApp(server.address);
});

afterAll(async () => {
  await keys?.close();
  await server?.drop();
});

/** Number of answers by status: PostgreSQL's own processes outlive the killed one by a moment. */
const answered = new Map<number, number>();

async function resolve(): Promise<number> {
  const answer = await fetch(`${keys.url}/internal/principals/resolve`, {
    method: 'POST',
    headers: { 'x-fleet-token': FLEET_TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'key', digest: 'ab'.repeat(32) }),
  });
  answered.set(answer.status, (answered.get(answer.status) ?? 0) + 1);
  return answer.status;
}

describe('keys while PostgreSQL is away', () => {
  it('stays ready and alive, and says 503 of a key that it knew to be unknown, never 401', async () => {
    expect(await resolve()).toBe(401);
    server.kill();
    await eventually(async () => (await resolve()) === 503);
    for (const path of ['/readyz', '/healthz']) expect((await fetch(`${keys.url}${path}`)).status).toBe(200);
    const metrics = await (await fetch(`${keys.url}/metrics`)).text();
    const counted = (outcome: string): string =>
      `gateway_principal_resolutions_total{kind="key",outcome="${outcome}"}`;
    expect(metrics).toContain(`${counted('unauthorized')} ${answered.get(401)}\n`);
    expect(metrics).toContain(`${counted('service_unavailable')} ${answered.get(503)}\n`);

    await server.restart();
    await eventually(async () => (await resolve()) === 401);
  });

  it('K07 no endpoint says 401, 404 or 500 where its lookup fails: 503, whoever asks', async () => {
    const owner = await keys.person();
    const { orgId: org_id } = await keys.org(owner);
    const { body: made } = await keys.call('POST', '/v1/keys', { as: owner, body: { org_id } });
    const scopes = ['keys:read', 'keys:write', 'members:read'];
    const { body: admin } = await keys.call('POST', '/v1/admin-keys', {
      as: owner,
      body: { org_id, scopes },
    });
    server.kill();
    await eventually(async () => (await resolve()) === 503);
    const wrong: unknown[] = [];
    let asked = 0;
    const expectAway = async (method: string, path: string, as?: string, body?: object): Promise<void> => {
      const { status, text } = await keys.call(method as 'GET', path, { as, body });
      asked += 1;
      if (status !== 503) wrong.push([method, path, as?.slice(0, 4), status, text]);
    };
    for (const { method, path, access } of keys.routes) {
      const url = path.replaceAll(/:\w+/g, 'some_0');
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      if (access.session) await expectAway(method, url, owner.token, body);
      if (access.key) await expectAway(method, url, String(made.key), body);
      if (access.adminKey && scopes.includes(access.adminKey.scope))
        await expectAway(method, url, String(admin.key), body);
    }
    const password = 'a long enough password';
    await expectAway('POST', '/auth/login', undefined, { email: owner.email, password });
    await expectAway('POST', '/auth/refresh', undefined, { refresh_token: 'a-refresh-token' });
    await expectAway('POST', '/auth/invitations/accept', undefined, {
      token: 'a-token',
      name: 'A',
      password,
    });
    await expectAway('POST', '/auth/password/reset', undefined, { token: 'a-token', password });
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(80);
    await server.restart();
    await eventually(async () => (await resolve()) === 401);
  });
});
