import { newId, TOPIC, type AuditEntry, type ConsumedRecord } from '@gateway/contracts';
import { SystemRandom } from '@gateway/platform';
import { clock, keys } from '../fixed-clock.fixture.js';
import type { Answer, Person } from '../keys-app.fixture.js';
import { AuditConsumer } from './audit.consumer.js';

let owner: Person;
let org: { orgId: string; accountId: string };

const begin = async (): Promise<void> => {
  owner = await keys.person();
  org = await keys.org(owner);
};

interface Row {
  id: string;
  action: string;
}

const read = (query = '', as = owner): Promise<Answer> =>
  keys.call('GET', `/v1/orgs/${org.orgId}/audit-log${query}`, { as });
const actions = async (query = ''): Promise<string[]> =>
  ((await read(query)).body.data as Row[]).map(({ action }) => action);
const rename = (name: string, as = owner): Promise<Answer> =>
  keys.call('PATCH', `/v1/orgs/${org.orgId}`, { as, body: { name } });
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];

describe('GET /v1/orgs/{id}/audit-log', () => {
  beforeEach(begin);

  it('names who did what to what, from where and when', async () => {
    await rename('Audited');
    const { body, headers } = await read();
    expect(body).toMatchObject({ total: 1, limit: 50, offset: 0, next_cursor: null });
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^aud_/) as string,
        created_at: new Date(clock.now()).toISOString(),
        actor: owner.userId,
        actor_kind: 'session',
        actor_email: owner.email,
        action: 'org.update',
        target: org.orgId,
        target_type: 'org',
        target_name: 'Audited',
        ip: '127.0.0.1',
        changed_fields: ['name'],
        changes: [{ field: 'name', before: 'Another org', after: 'Audited' }],
        request_id: expect.stringMatching(/^req_/) as string,
      },
    ]);
    expect(headers['cache-control']).toBe('no-store');
  });

  it('keeps what a key, member, team and budget were before a change, and names each as it is now', async () => {
    const member = await keys.person({ orgId: org.orgId, role: 'member' });
    const patch = (path: string, body: object): Promise<Answer> =>
      keys.call('PATCH', path, { as: owner, body });
    const team = await keys.call('POST', `/v1/orgs/${org.orgId}/teams`, { as: owner, body: { name: 'T' } });
    await patch(`/v1/teams/${String(team.body.id)}`, { name: 'Search', spend_cap_usd: '25.50' });
    const made = { label: 'old', org_id: org.orgId };
    const key = await keys.call('POST', '/v1/keys', { as: owner, body: made });
    await patch(`/v1/keys/${String(key.body.id)}`, { label: 'new', rpm: 7, request_tags: { a: 'b' } });
    await keys.call('POST', `/v1/keys/${String(key.body.id)}/rotate`, { as: owner, body: {} });
    await patch(`/v1/orgs/${org.orgId}/members/${member.userId}`, { role: 'admin' });
    const { body, text } = await read();
    const said = (body.data as Record<string, unknown>[]).map(({ action, target_name, changes }) => [
      action,
      { target_name, changes },
    ]);
    expect(Object.fromEntries(said)).toMatchObject({
      'team.update': {
        target_name: 'Search',
        changes: [
          { field: 'name', before: 'T', after: 'Search' },
          { field: 'spend_cap_usd', before: null, after: '25.5' },
        ],
      },
      'api_key.update': {
        target_name: 'new',
        changes: [
          { field: 'label', before: 'old', after: 'new' },
          { field: 'rpm_limit', before: null, after: 7 },
        ],
      },
      'api_key.rotate': { target_name: 'new', changes: [] },
      'member.update': { changes: [{ field: 'role', before: 'member', after: 'admin' }] },
    });
    expect(text).not.toContain(String(key.body.key));
  });

  it('narrows by actor, action, since and until; a bare date covers its whole day', async () => {
    const admin = await keys.person({ orgId: org.orgId, role: 'admin' });
    await rename('one');
    // Rows of one millisecond have no order.
    await clock.advance(1);
    await keys.call('POST', `/v1/orgs/${org.orgId}/teams`, { as: admin, body: { name: 'T' } });
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    clock.step(new Date(clock.now() + 86_400_000).toISOString());
    await rename('two', await fresh(admin));
    expect(await actions()).toEqual(['org.update', 'team.create', 'org.update']);
    expect(await actions(`?actor=${admin.userId}`)).toEqual(['org.update', 'team.create']);
    expect(await actions('?action=team.create')).toEqual(['team.create']);
    expect(await actions(`?until=${day}`)).toEqual(['team.create', 'org.update']);
    expect(await actions(`?since=${new Date(clock.now()).toISOString()}`)).toEqual(['org.update']);
    expect(await actions(`?since=${day}&until=${day}&actor=${admin.userId}`)).toEqual(['team.create']);
  });

  /** The clock was moved past the life of the token. */
  async function fresh(person: Person): Promise<Person> {
    owner = await keys.signedIn(owner.userId);
    return keys.signedIn(person.userId);
  }

  it('EDGE-07 pages by cursor without a repeat or a loss, many rows of one millisecond included', async () => {
    for (let n = 0; n < 7; n += 1) await rename(`n${n}`);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await read(`?limit=3${cursor}`);
      seen.push(...(body.data as Row[]).map(({ id }) => id));
      cursor = body.next_cursor === null ? '' : `&cursor=${String(body.next_cursor)}`;
    } while (cursor !== '');
    expect([seen.length, new Set(seen).size]).toEqual([7, 7]);
    expect(seen).toEqual(seen.toSorted().toReversed());
  });

  it('login, logout and a stolen refresh token stand in it, of the person’s organizations and of no other', async () => {
    const { body, headers } = await keys.call('POST', '/auth/login', {
      body: { email: keys.first.admin.email, password: keys.first.admin.password },
      headers: { 'user-agent': 'spec' },
    });
    const refresh_token = /__Host-refresh=([^;]*)/.exec(headers['set-cookie'] ?? '')?.[1];
    await keys.call('POST', '/auth/refresh', { body: { refresh_token } });
    await clock.advance(31_000);
    await keys.call('POST', '/auth/refresh', { body: { refresh_token } });
    await clock.advance(1);
    const again = await keys.call('POST', '/auth/login', {
      body: { email: keys.first.admin.email, password: keys.first.admin.password },
    });
    await clock.advance(1);
    await keys.call('POST', '/auth/logout', { as: String(again.body.token) });
    const as = await keys.signedIn(keys.admin.userId);
    const log = await keys.call('GET', `/v1/orgs/${keys.first.orgId}/audit-log`, { as });
    const rows = log.body.data as Record<string, unknown>[];
    expect(rows.map(({ action }) => action)).toEqual([
      'auth.logout',
      'auth.login',
      'auth.refresh_reused',
      'auth.login',
    ]);
    const user = body.user as { id: string };
    expect(rows.every(({ actor, ip }) => actor === user.id && ip === '127.0.0.1')).toBe(true);
    expect(await actions()).toEqual([]);
  });

  it('owners and admins read it; nobody changes it', async () => {
    const member = await keys.person({ orgId: org.orgId, role: 'member' });
    await rename('kept');
    expect(codeOf(await read('', member))).toEqual([403, 'forbidden']);
    expect(codeOf(await read('', await keys.person()))).toEqual([404, 'not_found']);
    const { prisma } = keys.database;
    await expect(prisma.auditLog.deleteMany({ where: { org_id: org.orgId } })).rejects.toThrow(/append-only/);
    await expect(prisma.auditLog.updateMany({ data: { ip: 'x' } })).rejects.toThrow(/append-only/);
  });

  it('S04 what other services have changed stands in it once, however often it comes', async () => {
    const entry: AuditEntry = {
      id: newId('aud', clock, new SystemRandom()),
      created_at: new Date(clock.now()).toISOString(),
      org_id: org.orgId,
      actor_kind: 'session',
      actor_id: owner.userId,
      ip: '192.0.2.7',
      action: 'alert_channel.create',
      target_type: 'alert_channel',
      target_id: 'ch_1',
      changed_fields: ['destination'],
      request_id: 'req_1',
    };
    const recordOf = (data: object): ConsumedRecord => {
      const value = JSON.stringify({ specversion: '1.0', id: entry.id, type: TOPIC.audit, data });
      return { topic: TOPIC.audit, partition: 0, offset: '0', key: org.orgId, value };
    };
    const consumer = keys.app.get(AuditConsumer, { strict: false });
    const broken = recordOf({ ...entry, id: 7 });
    const dead = await consumer.entries([recordOf(entry), broken, recordOf({ ...entry, of_later: true })]);
    expect(dead.map(({ record }) => record)).toEqual([broken]);
    expect(await consumer.entries([recordOf(entry)])).toEqual([]);
    const { body } = await read('?action=alert_channel.create');
    expect(body.data).toEqual([
      expect.objectContaining({ id: entry.id, actor_email: owner.email, target: 'ch_1', ip: '192.0.2.7' }),
    ]);
    const elsewhere = await keys.person();
    const other = await keys.org(elsewhere);
    const theirs = await keys.call('GET', `/v1/orgs/${other.orgId}/audit-log`, { as: elsewhere });
    expect(theirs.body.data).toEqual([]);
  });

  const ODD_TIMES = ['since=2026-W47', 'until=2026-W47', 'since=20261120T100000Z', 'until=2026-325'];
  const WRONG = ['since=yesterday', 'until=2026-13-01', 'actor=', 'who=me', 'cursor=!'];
  it.each([...WRONG, ...ODD_TIMES])('422 for %s', async (query) =>
    expect(codeOf(await read(`?${query}`))).toEqual([422, 'validation_error']),
  );

  it('compares times as moments, whatever their offsets; one without an offset is of UTC', async () => {
    clock.step('2026-12-20T12:00:00.000Z');
    owner = await keys.signedIn(owner.userId);
    await rename('at noon');
    const between = async (since: string, until: string): Promise<number> =>
      (await actions(`?since=${encodeURIComponent(since)}&until=${encodeURIComponent(until)}`)).length;
    expect(await between('2026-12-20T13:30:00+02:00', '2026-12-20T12:30:00Z')).toBe(1);
    expect(await between('2026-12-20T08:00:00Z', '2026-12-20')).toBe(1);
    expect(await between('2026-12-20T12:00:00', '2026-12-20T12:00:00')).toBe(1);
    expect(await between('2026-12-20T12:30:00+02:00', '2026-12-20T11:59:59.999')).toBe(0);
  });

  it('400 bad_request for a since after until', async () => {
    expect(codeOf(await read('?since=2026-11-02&until=2026-11-01'))).toEqual([400, 'bad_request']);
  });
});

describe('super admins', () => {
  beforeEach(begin);
  const path = '/v1/admin/super-admins';
  const grant = (body: object): Promise<Answer> => keys.call('POST', path, { as: keys.admin, body });
  const revoke = (who: Person, as = keys.admin): Promise<Answer> =>
    keys.call('DELETE', `${path}/${who.userId}`, { as });

  beforeEach(async () => {
    keys.admin = await keys.signedIn(keys.admin.userId);
  });

  it('AUTH-31 ERR-23 201 by id or address, 409 conflict for one who is one already, at once in force', async () => {
    const person = await keys.person();
    expect((await keys.call('GET', path, { as: person })).status).toBe(403);
    const granted = await grant({ email: person.email.toUpperCase() });
    expect([granted.status, granted.body]).toEqual([
      201,
      { user_id: person.userId, email: person.email, granted_at: new Date(clock.now()).toISOString() },
    ]);
    expect(codeOf(await grant({ user_id: person.userId }))).toEqual([409, 'conflict']);
    expect((await keys.call('GET', path, { as: person })).body.data).toContainEqual(granted.body);
    expect((await revoke(person)).status).toBe(204);
    expect((await keys.call('GET', path, { as: person })).status).toBe(403);
    expect(codeOf(await revoke(person))).toEqual([404, 'not_found']);
  });

  it('AUTH-31 ERR-23 409 conflict for the last one, and of two who revoke each other at once one stays', async () => {
    expect(codeOf(await revoke(keys.admin))).toEqual([409, 'conflict']);
    const second = await keys.person();
    await grant({ user_id: second.userId });
    const answers = await Promise.all([revoke(second), revoke(keys.admin, second)]);
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(await keys.database.prisma.user.count({ where: { is_super_admin: true } })).toBe(1);
    await keys.database.prisma.user.update({
      where: { id: keys.admin.userId },
      data: { is_super_admin: true },
    });
    await keys.database.prisma.user.update({
      where: { id: second.userId },
      data: { is_super_admin: false },
    });
  });

  it.each([
    [{}, 'user_id', 'validation_error'],
    [{ email: 'x' }, 'email', 'validation_error'],
    [{ email: 'nobody@example.com' }, 'email', 'unprocessable_entity'],
    [{ user_id: 'usr_0' }, 'user_id', 'unprocessable_entity'],
  ])('422 names the field: %j', async (body, field, code) => {
    const answer = await grant(body);
    expect(codeOf(answer)).toEqual([422, code]);
    expect(answer.text).toContain(`"loc":["${field}"`);
  });
});
