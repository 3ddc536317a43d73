import { jest } from '@jest/globals';
import { ApiError, TOPIC, type AuditEntry } from '@gateway/contracts';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { eventually, keyPrincipal, sessionPrincipal } from '@gateway/testing';
import { Destinations } from './channels/destinations.js';
import { startOnOwnDatabase, type NotificationsApp, type Person } from './notifications.fixture.js';

let app: NotificationsApp;
let owner: Person;

beforeAll(async () => {
  app = await startOnOwnDatabase();
});
afterAll(() => app.close());
beforeEach(() => (owner = app.person()));

const webhook = (destination = app.receiver.url) => ({
  channel_type: 'webhook',
  destination,
  is_enabled: true,
});
const create = (body: object, as: Person | string = owner) => app.call('POST', '/alerts/channels', as, body);
const locOf = (answer: { body: { error: { details: { loc: string[] }[] } } }) =>
  answer.body.error.details[0].loc;

describe('channels', () => {
  it('ALERT-01 ALERT-05 ALERT-06 ALERT-17 HOOK-17 W12 POST answers the record with its secret once', async () => {
    const made = await create(webhook());
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^chn_/),
      org_id: owner.orgId,
      channel_type: 'webhook',
      destination: app.receiver.url,
      is_enabled: true,
      verified_at: null,
      disabled_reason: null,
      signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const { id, signing_secret: secret } = made.body;
    const patched = await app.call('PATCH', `/alerts/channels/${id}`, owner, { is_enabled: false });
    const listed = await app.call('GET', '/alerts', owner);
    for (const { text } of [patched, listed]) {
      expect(text).not.toContain('signing_secret');
      expect(text).not.toContain(secret);
    }
    const { rows } = await app.database.pool.query(
      `SELECT * FROM (SELECT row_to_json(s)::text AS text FROM signing_secret s
        UNION ALL SELECT row_to_json(i)::text FROM idempotency i
        UNION ALL SELECT row_to_json(a)::text FROM audit_log a) t WHERE text LIKE '%' || $1 || '%'`,
      [secret],
    );
    expect(rows).toEqual([]);
  });

  it.each([
    ['ALERT-02 422 for another channel_type', { channel_type: 'sms' }, 'channel_type'],
    ['ALERT-02 422 without channel_type', { channel_type: undefined }, 'channel_type'],
    ['ALERT-03 422 for a webhook to an e-mail address', { destination: 'a@example.com' }, 'destination'],
    ['ALERT-03 422 without a destination', { destination: undefined }, 'destination'],
    ['HOOK-11 422 for another scheme', { destination: 'ftp://1.1.1.1/x' }, 'destination'],
    ['HOOK-11 422 for what is no URL', { destination: 'hooks' }, 'destination'],
    ['HOOK-12 422 for localhost', { destination: 'https://localhost/x' }, 'destination'],
    ['HOOK-12 422 for a private address', { destination: 'http://10.0.0.1/x' }, 'destination'],
    ['HOOK-12 422 for loopback', { destination: 'http://127.0.0.1/x' }, 'destination'],
    ['HOOK-12 422 for link-local', { destination: 'http://169.254.169.254/latest' }, 'destination'],
    ['422 for a switch that is no boolean', { is_enabled: 'yes' }, 'is_enabled'],
    ['422 for a field that is not known', { name: 'x' }, 'name'],
  ])('%s', async (_promise, change, field) => {
    const refused = await create({ ...webhook(), ...change });
    expect([refused.status, locOf(refused)]).toEqual([422, [field]]);
  });

  it('ALERT-18 HOOK-11 HOOK-12 PATCH changes destination and switch, under the rules of create', async () => {
    const { id } = (await create(webhook())).body;
    const patch = (body: object) => app.call('PATCH', `/alerts/channels/${id}`, owner, body);
    const moved = await patch({ destination: `${app.receiver.url}/other` });
    expect([moved.status, moved.body.destination]).toEqual([200, `${app.receiver.url}/other`]);
    expect((await patch({ is_enabled: false })).body.is_enabled).toBe(false);
    for (const destination of ['http://192.168.1.1/', 'gopher://1.1.1.1/', 'http://[::1]/', ''])
      expect([destination, (await patch({ destination })).status]).toEqual([destination, 422]);
    expect((await patch({ channel_type: 'email' })).status).toBe(422);
    expect((await app.call('GET', '/alerts', owner)).body.channels[0].destination).toBe(
      `${app.receiver.url}/other`,
    );
  });

  it('ALERT-19 404 for whatever meets a channel that is being deleted, however close together they come', async () => {
    const { id } = await app.channel(owner);
    const [delivery] = await deliveriesOfTest(id);
    const other = await app.channel(owner);
    const made = (channel_id: string) => ({ channel_id, alert_type: 'api_key.created' });
    const policy = await app.call('POST', '/alerts/policies', owner, made(other.id));
    const path = `/alerts/channels/${id}`;
    // Held back, so that all of them have found the channel before it goes.
    const holder = await app.database.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM channel WHERE id = $1 FOR UPDATE', [id]);
    const answers = [
      app.call('DELETE', path, owner),
      app.call('DELETE', path, owner),
      app.call('POST', `${path}/test`, owner),
      app.call('POST', `/alerts/deliveries/${delivery}/redeliver`, owner),
      app.call('POST', '/alerts/policies', owner, made(id)),
      app.call('PATCH', `/alerts/policies/${String(policy.body.id)}`, owner, { channel_id: id }),
    ];
    await waiting(answers.length);
    await holder.query('DELETE FROM channel WHERE id = $1', [id]);
    await holder.query('COMMIT');
    holder.release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses).toEqual([404, 404, 404, 404, 422, 422]);
  });

  it('ALERT-19 DELETE waits for what is being sent, whose outcome is written first', async () => {
    const { id } = await app.channel(owner);
    const [delivery] = await deliveriesOfTest(id);
    await app.database.pool.query(`UPDATE delivery SET status = 'sending' WHERE id = $1`, [delivery]);
    const sender = await app.database.pool.connect();
    await sender.query('BEGIN');
    await sender.query(`UPDATE delivery SET status = 'retrying' WHERE id = $1`, [delivery]);
    const gone = app.call('DELETE', `/alerts/channels/${id}`, owner);
    await waiting(1);
    await sender.query('UPDATE channel SET failing_since = now() WHERE id = $1', [id]);
    await sender.query('COMMIT');
    sender.release();
    expect((await gone).status).toBe(204);
  });

  /** Ids of the one delivery of a test event to the channel. */
  async function deliveriesOfTest(channelId: string): Promise<string[]> {
    const { body } = await app.call('POST', `/alerts/channels/${channelId}/test`, owner);
    await app.deliver();
    return [String(body.id)];
  }

  /** Waits until so many statements of this database wait for a lock. */
  async function waiting(count: number): Promise<void> {
    await eventually(async () => {
      const { rows } = await app.database.pool.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows[0].n >= count ? true : null;
    });
  }

  it('ST-10 POST rotate-secret answers another secret', async () => {
    const { id, signing_secret: first } = (await create(webhook())).body;
    const rotated = await app.call('POST', `/alerts/channels/${id}/rotate-secret`, owner);
    expect([rotated.status, rotated.body.id]).toEqual([200, id]);
    expect(rotated.body.signing_secret).toMatch(/^whsec_/);
    expect(rotated.body.signing_secret).not.toBe(first);
  });

  it('ALERT-16 AUTH-21 GET lists channels and policies of the org, to any member, and no other org’s', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    await app.channel(app.person(), 'api_key.created');
    for (const role of ['owner', 'admin', 'member'] as const) {
      const listed = await app.call('GET', '/alerts', app.person(role, owner.orgId));
      expect(listed.status).toBe(200);
      expect(Object.keys(listed.body)).toEqual(['channels', 'policies']);
      expect(listed.body.channels.map((channel: { id: string }) => channel.id)).toEqual([id]);
      expect(listed.body.policies).toHaveLength(1);
    }
  });

  it('AUTH-20 403 for a member who would create, change, rotate, test or delete', async () => {
    const { id, policies } = await app.channel(owner, 'api_key.created');
    const member = app.person('member', owner.orgId);
    const calls: [Parameters<typeof app.call>[0], string, object?][] = [
      ['POST', '/alerts/channels', webhook()],
      ['PATCH', `/alerts/channels/${id}`, { is_enabled: false }],
      ['DELETE', `/alerts/channels/${id}`],
      ['POST', `/alerts/channels/${id}/rotate-secret`],
      ['POST', `/alerts/channels/${id}/test`],
      ['POST', '/alerts/policies', { channel_id: id, alert_type: 'api_key.revoked', is_enabled: true }],
      ['PATCH', `/alerts/policies/${policies[0]}`, { is_enabled: false }],
      ['DELETE', `/alerts/policies/${policies[0]}`],
    ];
    for (const [method, path, body] of calls) {
      const refused = await app.call(method, path, member, body);
      expect([method, path, refused.status]).toEqual([method, path, 403]);
      const stranger = await app.call(method, path, app.person(), body);
      if (path.includes(id) || path.includes(policies[0]))
        expect([path, stranger.status]).toEqual([path, 404]);
    }
  });

  it('AUTH-03 403 for an rsk_ key, 401 without a credential; an admin key with the scope is its org’s admin', async () => {
    const [key, admin] = (['rsk_', 'mak_'] as const).map((prefix) => mintSecret(prefix, new SystemRandom()));
    app.principals.add(key, keyPrincipal({ orgId: owner.orgId }));
    const scopes = ['alerts:read', 'alerts:write'];
    const ids = { keyId: 'mak_1', orgId: owner.orgId, accountId: 'acct_1', accountVersion: 1 };
    app.principals.add(admin, { kind: 'admin_key', ...ids, scopes } as never);
    expect((await app.call('GET', '/alerts', key)).status).toBe(403);
    expect((await create(webhook(), key)).status).toBe(403);
    expect((await app.call('GET', '/alerts', null)).status).toBe(401);
    const made = await create(webhook(), admin);
    expect([made.status, made.body.org_id]).toEqual([201, owner.orgId]);
  });

  it('422 of a person in several orgs who names none, 403 for one that is not theirs', async () => {
    const membership = (orgId: string) => ({
      orgId,
      accountId: `a_${orgId}`,
      role: 'owner' as const,
      teams: [],
    });
    const twice = 'header.twice.signature';
    app.principals.add(twice, sessionPrincipal({ memberships: [membership('org_a'), membership('org_b')] }));
    expect(locOf(await app.call('GET', '/alerts', twice))).toEqual(['org_id']);
    expect((await app.call('GET', '/alerts?org_id=org_b', twice)).status).toBe(200);
    expect((await create({ ...webhook(), org_id: 'org_a' }, twice)).body.org_id).toBe('org_a');
    expect((await app.call('GET', `/alerts?org_id=${owner.orgId}`, twice)).status).toBe(403);
  });

  it('R5 a policy without org_id is of the organization that its channel names, for who is in several', async () => {
    const membership = (orgId: string) => ({
      orgId,
      accountId: `a_${orgId}`,
      role: 'owner' as const,
      teams: [],
    });
    const twice = 'header.several.signature';
    app.principals.add(twice, sessionPrincipal({ memberships: [membership('org_c'), membership('org_d')] }));
    const channel = await create({ ...webhook(), org_id: 'org_d' }, twice);
    const body = { channel_id: String(channel.body.id), alert_type: 'api_key.revoked', is_enabled: true };
    const made = await app.call('POST', '/alerts/policies', twice, body);
    expect([made.status, made.body.org_id]).toEqual([201, 'org_d']);
    const foreign = await app.call('POST', '/alerts/policies', twice, { ...body, channel_id: 'chn_none' });
    expect([foreign.status, locOf(foreign)]).toEqual([422, ['org_id']]);
  });

  it.each([
    ['webhook', 'http://127.0.0.1/\r\nX: y'],
    ['webhook', 'http://127.0.0.1/\tx'],
    ['email', '"a\r\nBcc:x"@b.test'],
  ])('A6 422 for a %s with control characters: %j', async (channel_type, destination) => {
    const answer = await create({ channel_type, destination });
    expect([answer.status, locOf(answer)]).toEqual([422, ['destination']]);
  });

  it('A6 a webhook is kept as the URL parser writes it', async () => {
    const typed = app.receiver.url.replace('http://', 'HTTP://').concat('?a=b c');
    const { status, body } = await create(webhook(typed));
    expect([status, body.destination]).toEqual([201, new URL(typed).href]);
  });

  it('an Idempotency-Key makes one channel, and its second answer has no secret', async () => {
    const ask = () =>
      app.app.inject({
        method: 'POST',
        url: '/alerts/channels',
        headers: { authorization: `Bearer ${owner.token}`, 'idempotency-key': 'once' },
        payload: webhook(),
      });
    const first = (await ask()).json<Record<string, unknown>>();
    // Its address is looked up no more: the answer is there, whatever a name server says by now.
    const judge = jest
      .spyOn(app.app.get(Destinations), 'require')
      .mockRejectedValue(new ApiError('service_unavailable'));
    const second = (await ask()).json<Record<string, unknown>>();
    judge.mockRestore();
    expect(second.id).toBe(first.id);
    expect(second).not.toHaveProperty('signing_secret');
  });

  it('S04 each write leaves one row in the audit log, which nobody changes', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    await app.call('PATCH', `/alerts/channels/${id}`, owner, { is_enabled: false });
    await app.call('DELETE', `/alerts/channels/${id}`, owner);
    const { rows } = await app.database.pool.query<{ action: string }>(
      'SELECT action FROM audit_log WHERE org_id = $1 ORDER BY created_at, id',
      [owner.orgId],
    );
    expect(rows.map(({ action }) => action).sort()).toEqual([
      'alert_channel.create',
      'alert_channel.delete',
      'alert_channel.update',
      'alert_policy.create',
    ]);
    await expect(app.database.pool.query('DELETE FROM audit_log')).rejects.toThrow('append-only');
  });

  it('S04 each write leaves for the log that the organization reads, redelivery included', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    const test = await app.call('POST', `/alerts/channels/${id}/test`, owner);
    await app.deliver();
    await app.call('POST', `/alerts/deliveries/${String(test.body.id)}/redeliver`, owner);
    const { rows } = await app.database.pool.query<{ value: string }>(
      'SELECT value FROM outbox WHERE topic = $1 AND key = $2',
      [TOPIC.audit, owner.orgId],
    );
    const entries = rows.map(({ value }) => (JSON.parse(value) as { data: AuditEntry }).data);
    expect(entries.map(({ action, actor_id }) => [action, actor_id]).toSorted()).toEqual([
      ['alert_channel.create', owner.userId],
      ['alert_channel.test', owner.userId],
      ['alert_delivery.redeliver', owner.userId],
      ['alert_policy.create', owner.userId],
    ]);
  });
});
