import { createHmac } from 'node:crypto';
import type { UnitContent } from '@gateway/contracts';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { ScheduledJobs } from '../background/scheduled-jobs.js';
import { Erasures } from '../erasures/erasures.js';
import { FLEET_TOKEN, limitedKey, MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { unitContent } from './contents.fixture.js';
import { ContentsStore } from './contents.store.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

const DAY_MS = 86_400_000;
const random = new SystemRandom();
const [rsk, mak] = [mintSecret('rsk_', random), mintSecret('mak_', random)];
const tokenOf = (name: string): string => `eyJ${name}.eyJ${name}.${name}`;
const endUserKey = Buffer.alloc(32, 7).toString('base64');
const hashOf = (id: string): string =>
  createHmac('sha256', Buffer.alloc(32, 7)).update(id).digest('base64url');

let place: TestDatabase;
let app: UsageApp;
let store: ContentsStore;

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
  await app.app.get(ScheduledJobs, { strict: false }).stop();
  store = app.app.get(ContentsStore, { strict: false });
  const { principals } = app;
  const membership = { orgId: 'org_1', accountId: 'acct_1', teams: [] };
  for (const role of ['owner', 'admin', 'member'] as const)
    principals.add(
      tokenOf(role),
      sessionPrincipal({ userId: `usr_${role}`, memberships: [{ ...membership, role }] }),
    );
  const other = { orgId: 'org_2', accountId: 'acct_2', teams: [], role: 'owner' as const };
  principals.add(tokenOf('outsider'), sessionPrincipal({ memberships: [other] }));
  principals.add(tokenOf('super'), sessionPrincipal({ userId: 'usr_root', isSuperAdmin: true }));
  principals.add(rsk, limitedKey({ endUserKey }));
  principals.add(mak, {
    kind: 'admin_key',
    ...{ keyId: 'mak_1', createdBy: 'usr_1', expiresAtMs: null, orgId: 'org_1', accountId: 'acct_1' },
    ...{ accountVersion: 1, scopes: ['usage:read'] },
  });
});
afterAll(async () => {
  await app.close();
  await place.drop();
});
beforeEach(async () => {
  app.directory.audited.splice(0);
  app.directory.isUnavailable = false;
  await emptyTables(app.database.pool, 'request_content, content_purge, erasure, erased_end_user');
});

const keep = (...contents: Partial<UnitContent>[]) =>
  app.call('POST', '/internal/contents', FLEET_TOKEN, { contents: contents.map(unitContent) });
const read = (as: string, id = 'req_1') => app.call('GET', `/v1/usage/requests/${id}/content`, tokenOf(as));
const count = async (): Promise<number> =>
  Number((await app.database.pool.query('SELECT count(*) AS n FROM request_content')).rows[0].n);

describe('GET /v1/usage/requests/{id}/content', () => {
  it('AUTH-02 shows what was asked and answered to owners, admins and the member whose key it was', async () => {
    expect((await keep({ member_id: 'usr_member' })).status).toBe(204);
    const { status, body, headers } = await read('owner');
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      request_id: 'req_1',
      contents: [
        {
          unit: 0,
          endpoint: '/v1/chat/completions',
          created_at: expect.any(String),
          expires_at: expect.any(String),
          request: { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] },
          request_bytes: expect.any(Number),
          response: { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }] },
          response_bytes: expect.any(Number),
          redactions: 0,
        },
      ],
    });
    for (const as of ['admin', 'member']) expect((await read(as)).body).toEqual(body);
    const [{ created_at, expires_at }] = body.contents;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30 * DAY_MS);
  });

  it('F1 shows numbers, order and repeated names as they were written', async () => {
    const odd = '{"id":1234567890123456789,"b":1,"10":2,"rate":1.0,"e":1e400,"z":-0,"b":3}';
    await keep({ request: `{"tools":[${odd}]}`, response: odd });
    const { payload } = await app.app.inject({
      ...{ method: 'GET', url: '/v1/usage/requests/req_1/content' },
      headers: { authorization: `Bearer ${tokenOf('owner')}` },
    });
    expect(payload).toContain(`"request":{"tools":[${odd}]}`);
    expect(payload).toContain(`"response":${odd}`);
  });

  it('K14 is not found by anybody else, to the byte like an unknown one', async () => {
    await keep({});
    const strip = ({ status, body }: Awaited<ReturnType<typeof read>>) => [status, body.error];
    const unknown = strip(await read('owner', 'req_unknown'));
    expect(unknown[0]).toBe(404);
    for (const as of ['member', 'outsider', 'super']) expect(strip(await read(as))).toEqual(unknown);
    for (const id of ['%00', 'req_%00', '%F0%9F%98%80', "';--", 'x'.repeat(2_000)])
      expect((await read('owner', id)).status).toBe(404);
    expect(app.directory.audited).toEqual([]);
  });

  it('AUTH-02 takes sessions alone', async () => {
    await keep({});
    for (const as of [rsk, mak])
      for (const [method, path] of [
        ['GET', '/v1/usage/requests/req_1/content'],
        ['DELETE', '/v1/usage/contents?org_id=org_1'],
      ] as const)
        expect((await app.call(method, path, as)).status).toBe(403);
    expect((await app.call('POST', '/internal/contents', tokenOf('owner'), { contents: [] })).status).toBe(
      404,
    );
  });

  it('S04 each look is in the audit log of the organization, and without it there is no look', async () => {
    await keep({});
    const { headers } = await read('owner');
    expect(app.directory.audited).toEqual([
      expect.objectContaining({
        action: 'request_content.read',
        org_id: 'org_1',
        target_id: 'req_1',
        actor_id: 'usr_owner',
        request_id: headers['x-request-id'],
      }),
    ]);
    app.directory.isUnavailable = true;
    const refused = await read('owner');
    expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable']);
    expect(JSON.stringify(refused.body)).not.toContain('Hello');
  });
});

describe('what is kept', () => {
  it('S01 S02 is sealed, without credentials and without personal data where that is asked for', async () => {
    const secret = `sk-${'planted-0123456789'}`;
    const request = JSON.stringify({ messages: [{ content: `${secret} ada@example.com` }], user: 'ada' });
    await keep({ request }, { request, request_id: 'req_2', redact: false });
    const { rows } = await app.database.pool.query<{ sealed: Buffer }>('SELECT * FROM request_content');
    for (const text of [JSON.stringify(rows), ...rows.map(({ sealed }) => sealed.toString('latin1'))])
      for (const word of ['planted', 'messages', 'example.com', 'Hi']) expect(text).not.toContain(word);
    const contentOf = async (id: string): Promise<string> =>
      (await read('owner', id)).body.contents[0].request.messages[0].content;
    expect(await contentOf('req_1')).toBe('[redacted] [redacted]');
    expect(await contentOf('req_2')).toBe('[redacted] ada@example.com');
  });

  it('S02 a row that was moved, and a byte that was turned, do not open', async () => {
    await keep({}, { request_id: 'req_2' });
    await app.database.pool.query(
      `UPDATE request_content SET (sealed, wrapped_key) = (SELECT sealed, wrapped_key FROM request_content WHERE request_id = 'req_1')
       WHERE request_id = 'req_2'`,
    );
    const moved = await read('owner', 'req_2');
    expect([moved.status, moved.body.error.code]).toEqual([500, 'internal_error']);
    await app.database.pool.query(
      `UPDATE request_content SET sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)`,
    );
    expect((await read('owner')).status).toBe(500);
  });

  it('is any JSON, with NUL, lone surrogates and streams, and nothing where it is none', async () => {
    const request = '{"input": "a\\u0000b \\ud800 \\ud83d\\ude00"}';
    const response =
      'data: {"choices": [{"index": 0, "delta": {"content": "a\\u0000"}}]}\n\ndata: [DONE]\n\n';
    await keep({ request, response });
    const [first] = (await read('owner')).body.contents;
    expect([first.request, first.response.choices[0].message]).toEqual([
      { input: 'a\u0000b \ud800 😀' },
      { content: 'a\u0000' },
    ]);
    await keep({
      request_id: 'req_2',
      request: 'not json',
      request_bytes: 8,
      response: null,
      response_bytes: 9e6,
    });
    expect((await read('owner', 'req_2')).body.contents[0]).toMatchObject({
      request: null,
      request_bytes: 8,
      response: null,
      response_bytes: 9e6,
    });
  });

  it('is kept once however often it comes, the units of a request together', async () => {
    await keep({}, {});
    await keep({ unit: 1 }, {});
    expect(await count()).toBe(2);
    expect((await read('owner')).body.contents.map(({ unit }: { unit: number }) => unit)).toEqual([0, 1]);
  });

  it('is gone when its days are over', async () => {
    const ago = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
    await keep(
      { request_id: 'req_old', created_at: ago(31) },
      { request_id: 'req_short', created_at: ago(2), retention_days: 1 },
      { request_id: 'req_long', created_at: ago(31), retention_days: 90 },
    );
    expect((await read('owner', 'req_old')).status).toBe(404);
    await store.removeOld();
    expect(await count()).toBe(1);
    expect((await read('owner', 'req_long')).status).toBe(200);
  });
});

describe('POST /v1/end-users/erasures', () => {
  it('ERA-01 S10 removes the contents of an end user, and what was on its way does not bring them back', async () => {
    const own = { end_user_hash: hashOf('ada') };
    await keep(own, { ...own, request_id: 'req_2', account_id: 'acct_2', org_id: 'org_2' });
    await keep({ request_id: 'req_3', end_user_hash: hashOf('bob') });
    const { status } = await app.call('POST', '/v1/end-users/erasures', rsk, { end_user_id: 'ada' });
    expect(status).toBe(202);
    const ids = async (): Promise<string[]> => {
      const { rows } = await app.database.pool.query<{ request_id: string }>(
        'SELECT request_id FROM request_content ORDER BY 1',
      );
      return rows.map(({ request_id }) => request_id);
    };
    expect(await ids()).toEqual(['req_2', 'req_3']);
    await keep({ ...own, created_at: new Date(Date.now() - 60_000).toISOString() });
    expect(await ids()).toEqual(['req_2', 'req_3']);
    await keep({ ...own, created_at: new Date(Date.now() + 60_000).toISOString() });
    expect(await ids()).toEqual(['req_1', 'req_2', 'req_3']);
  });

  it('ERA-05 looks again for what was being written', async () => {
    await app.call('POST', '/v1/end-users/erasures', rsk, { end_user_id: 'ada' });
    await keep({ created_at: '2026-11-01T00:00:00Z', retention_days: 90 });
    await app.database.pool.query('UPDATE request_content SET end_user_hash = $1', [hashOf('ada')]);
    await app.database.pool.query(`UPDATE erasure SET completed_at = completed_at - interval '61 s'`);
    await app.app.get(Erasures, { strict: false }).advance();
    expect(await count()).toBe(0);
  });
});

describe('DELETE /v1/usage/contents', () => {
  const remove = (as: string, org = 'org_1') =>
    app.call('DELETE', `/v1/usage/contents?org_id=${org}`, tokenOf(as));

  it('hides at once and removes what an organization has logged so far, with a row in its audit log', async () => {
    await keep({}, { request_id: 'req_2', account_id: 'acct_2', org_id: 'org_2' });
    for (const as of ['member', 'outsider', 'super']) expect((await remove(as)).status).toBe(403);
    expect((await app.call('DELETE', '/v1/usage/contents', tokenOf('owner'))).status).toBe(422);
    app.directory.isUnavailable = true;
    expect((await remove('admin')).status).toBe(503);
    expect((await read('owner')).status).toBe(503);
    app.directory.isUnavailable = false;
    expect((await remove('admin')).status).toBe(204);
    expect(app.directory.audited.map(({ action, org_id }) => [action, org_id])).toEqual([
      ['request_content.remove', 'org_1'],
    ]);
    expect((await read('owner')).status).toBe(404);
    await keep({ created_at: new Date(Date.now() - 60_000).toISOString() });
    await store.removeOld();
    expect(await count()).toBe(1);
    expect((await read('outsider', 'req_2')).status).toBe(200);
    await keep({ created_at: new Date(Date.now() + 60_000).toISOString() });
    expect((await read('owner')).status).toBe(200);
  });
});

describe('without USAGE_KEK', () => {
  it('nothing is kept, and everything else is served', async () => {
    const bare = await startUsageApp(place.url, { settings: { USAGE_KEK: undefined } });
    try {
      const { status } = await bare.call('POST', '/internal/contents', FLEET_TOKEN, {
        contents: [unitContent()],
      });
      expect([status, await count()]).toEqual([204, 0]);
    } finally {
      await bare.close();
    }
  });

  it('S02 a key that is not the one before is refused at the start; with the one before it takes over', async () => {
    const [other, own] = [9, 5].map((byte) => Buffer.alloc(32, byte).toString('base64'));
    await expect(startUsageApp(place.url, { settings: { USAGE_KEK: other } })).rejects.toThrow(
      /USAGE_KEK is not .*: restore it, or the file that USAGE_SECRETS_FILE names .* from a backup/,
    );
    await keep({});
    const rotated = await startUsageApp(place.url, {
      settings: { USAGE_KEK: other, USAGE_KEK_PREVIOUS: own },
    });
    try {
      rotated.principals.add(
        tokenOf('owner'),
        sessionPrincipal({
          memberships: [{ orgId: 'org_1', accountId: 'acct_1', teams: [], role: 'owner' }],
        }),
      );
      const path = '/v1/usage/requests/req_1/content';
      expect((await rotated.call('GET', path, tokenOf('owner'))).status).toBe(200);
    } finally {
      await rotated.close();
    }
    const after = await startUsageApp(place.url, { settings: { USAGE_KEK: other } });
    await after.close();
    const back = await startUsageApp(place.url, { settings: { USAGE_KEK: own, USAGE_KEK_PREVIOUS: other } });
    await back.close();
  });
});
