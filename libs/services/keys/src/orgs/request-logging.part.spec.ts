import { HEADER, type KeyPrincipal } from '@gateway/contracts';
import { FLEET_TOKEN, type Person } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

let owner: Person;
let orgId: string;
let accountId: string;

const set = (request_logging: unknown, as = owner) =>
  keys.call('PATCH', `/v1/orgs/${orgId}`, { as, body: { request_logging } });

async function loggingOf(keyId: string, accountIds: readonly string[]): Promise<unknown> {
  const { status, body } = await keys.call('POST', '/internal/principals/by-id', {
    headers: { [HEADER.fleetToken.toLowerCase()]: FLEET_TOKEN },
    body: { key_id: keyId, account_ids: accountIds },
  });
  expect(status).toBe(200);
  return (body as unknown as KeyPrincipal).requestLogging;
}

async function begin(): Promise<void> {
  owner = await keys.person();
  ({ orgId, accountId } = await keys.org(owner));
}

describe('request_logging of an organization', () => {
  beforeEach(begin);

  it('is off until it is enabled; what is absent stays as it is', async () => {
    const { body } = await keys.call('GET', `/v1/orgs/${orgId}`, { as: owner });
    expect(body.request_logging).toEqual({ enabled: false, retention_days: 30, redact: true });
    const on = await set({ enabled: true, retention_days: 7 });
    expect([on.status, on.body.request_logging]).toEqual([
      200,
      { enabled: true, retention_days: 7, redact: true },
    ]);
    expect((await set({ redact: false })).body.request_logging).toEqual({
      enabled: true,
      retention_days: 7,
      redact: false,
    });
    expect((await set({ enabled: false })).body.request_logging).toMatchObject({ enabled: false });
  });

  it.each([
    { enabled: null },
    { enabled: 'yes' },
    { retention_days: 0 },
    { retention_days: 91 },
    { retention_days: 1.5 },
    { redact: 1 },
    null,
    true,
    [],
  ])('422 for %j', async (body) => {
    expect((await set(body)).status).toBe(422);
  });

  it('AUTH-02 is set by owners and admins of the organization, and by nobody from outside', async () => {
    const [admin, member] = await Promise.all(
      (['admin', 'member'] as const).map((role) => keys.person({ orgId, role })),
    );
    expect((await set({ enabled: true }, admin)).status).toBe(200);
    for (const as of [member, keys.admin]) expect((await set({ enabled: false }, as)).status).toBe(403);
    expect((await set({ enabled: false }, await keys.person())).status).toBe(404);
  });

  it('acts on the next request of every key of the organization, and of no other', async () => {
    const made = async (body: object): Promise<string> =>
      String((await keys.call('POST', '/v1/keys', { as: owner, body })).body.id);
    const [key, personal] = [await made({ org_id: orgId }), await made({})];
    expect(await loggingOf(key, [accountId])).toBeUndefined();
    await set({ enabled: true, retention_days: 3 });
    expect(await loggingOf(key, [accountId])).toEqual({ retentionDays: 3, redact: true });
    expect(await loggingOf(personal, [owner.accountId])).toBeUndefined();
    await set({ enabled: false });
    expect(await loggingOf(key, [accountId])).toBeUndefined();
  });

  it('a time that was shorter goes on for what was logged then; the fleet alone is answered', async () => {
    const ask = (org_ids: string[], headers: Record<string, string> = {}) =>
      keys.call('POST', '/internal/directory/content-promises', { headers, body: { org_ids } });
    const fleet = { [HEADER.fleetToken.toLowerCase()]: FLEET_TOKEN };
    const promises = async (): Promise<unknown> =>
      ((await ask([orgId, 'org_unknown'], fleet)).body.promises as Record<string, unknown>)[orgId];
    const now = (days: number) => ({ until: null, days });
    const ended = (days: number) => ({ until: expect.stringMatching(/^\d{4}-.*Z$/), days });
    expect(await promises()).toEqual([now(30)]);
    await set({ retention_days: 7 });
    expect(await promises()).toEqual([now(7)]);
    await set({ enabled: true, retention_days: 7 });
    await set({ retention_days: 90 });
    await set({ enabled: false });
    expect(await promises()).toEqual([ended(7), now(90)]);
    await Promise.all([set({ retention_days: 40 }), set({ redact: false })]);
    await set({ retention_days: 50 });
    expect(await promises()).toEqual([ended(7), ended(40), now(50)]);
    expect((await keys.call('DELETE', `/v1/orgs/${orgId}`, { as: owner })).status).toBe(204);
    expect(await promises()).toEqual([ended(7), ended(40), now(50)]);
    expect((await ask([orgId])).status).toBe(404);
    expect(
      (
        await ask(
          Array.from({ length: 501 }, () => orgId),
          fleet,
        )
      ).status,
    ).toBe(422);
  });

  it('S04 is in the audit log, and whether it went on or off', async () => {
    await set({ enabled: true });
    await set({ retention_days: 2 });
    await set({ enabled: false });
    const { body } = await keys.call('GET', `/v1/orgs/${orgId}/audit-log`, { as: owner });
    const rows = body.data as { action: string; changed_fields: string[] }[];
    expect(rows.filter(({ action }) => action === 'org.update').map((row) => row.changed_fields)).toEqual([
      ['request_logging', 'request_logging.off'],
      ['request_logging'],
      ['request_logging', 'request_logging.on'],
    ]);
  });

  it('S04 what another service notes is in the same log, once, and of the fleet alone', async () => {
    const action = {
      ...{ id: 'aud_content', created_at: '2026-11-01T12:00:00.000Z', org_id: orgId, request_id: 'req_1' },
      ...{ actor_kind: 'session', actor_id: owner.userId, ip: '192.0.2.1', action: 'request_content.read' },
      ...{ target_type: 'request', target_id: 'req_0', changed_fields: [] },
    };
    const note = (headers: Record<string, string> = {}) =>
      keys.call('POST', '/internal/directory/audit', { headers, body: action });
    expect((await note()).status).toBe(404);
    const fleet = { [HEADER.fleetToken.toLowerCase()]: FLEET_TOKEN };
    for (let n = 0; n < 2; n += 1) expect((await note(fleet)).status).toBe(204);
    const log = `/v1/orgs/${orgId}/audit-log?action=request_content.read`;
    const { body } = await keys.call('GET', log, { as: owner });
    expect(body.data).toEqual([
      expect.objectContaining({
        id: 'aud_content',
        actor: owner.userId,
        target: 'req_0',
        request_id: 'req_1',
      }),
    ]);
  });
});
