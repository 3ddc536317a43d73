import { TOPIC, type AccountEvent } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import type { Answer, Person } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

let owner: Person;
let admin: Person;
let member: Person;
let org: { orgId: string; accountId: string };

const path = (who?: Person): string =>
  `/v1/orgs/${org.orgId}/members${who === undefined ? '' : `/${who.userId}`}`;
const patch = (who: Person, body: object, as = owner): Promise<Answer> =>
  keys.call('PATCH', path(who), { as, body });
const remove = (who: Person, as = owner): Promise<Answer> => keys.call('DELETE', path(who), { as });
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];
const roles = async (): Promise<Record<string, string>> => {
  const { body } = await keys.call('GET', path(), { as: owner });
  const rows = body.data as { user_id: string; role: string }[];
  return Object.fromEntries(rows.map(({ user_id, role }) => [user_id, role]));
};

const LIMITS = {
  rpm_limit: 10,
  rpd_limit: 20,
  tpm_limit: 30,
  spend_cap_usd: '12.5',
  allowed_models: ['openai/*'],
  blocked_models: ['openai/gpt-5'],
};

async function begin(): Promise<void> {
  owner = await keys.person();
  org = await keys.org(owner);
  admin = await keys.person({ orgId: org.orgId, role: 'admin' });
  member = await keys.person({ orgId: org.orgId, role: 'member' });
}

describe('the members of an organization', () => {
  beforeEach(begin);

  describe('members', () => {
    it('ORG-04 the list names everybody with role, limits and teams; each field written reads back', async () => {
      const changed = await patch(member, { role: 'admin', ...LIMITS }, admin);
      expect(changed.status).toBe(200);
      const { created_at, ...rest } = changed.body;
      expect(rest).toEqual({
        org_id: org.orgId,
        user_id: member.userId,
        email: member.email,
        name: 'A person',
        role: 'admin',
        teams: [],
        ...LIMITS,
      });
      expect((await keys.call('GET', path(member), { as: member })).body).toEqual({ created_at, ...rest });
      const { body } = await keys.call('GET', path(), { as: member });
      expect(body).toMatchObject({ total: 3, limit: 50, offset: 0, next_cursor: null });
      expect(body.data).toContainEqual({ created_at, ...rest });
      const cleared = await patch(
        member,
        Object.fromEntries(Object.keys(LIMITS).map((name) => [name, null])),
      );
      expect(cleared.body).toMatchObject({ role: 'admin', rpm_limit: null, allowed_models: null });
      const audit = await keys.database.prisma.auditLog.findMany({
        where: { org_id: org.orgId, action: 'member.update' },
        orderBy: { created_at: 'asc' },
      });
      expect(audit.map(({ actor_id, target_id }) => [actor_id, target_id])).toEqual([
        [admin.userId, member.userId],
        [owner.userId, member.userId],
      ]);
      expect(audit[0].changed_fields).toEqual(['role', ...Object.keys(LIMITS)].sort());
    });

    it('EDGE-07 the list is sorted by name, role, cap and date, in pages that are found by offset', async () => {
      await patch(member, { spend_cap_usd: '2' });
      await patch(admin, { spend_cap_usd: '10' });
      const sorted = async (query: string): Promise<unknown[]> => {
        const { body } = await keys.call('GET', `${path()}?${query}`, { as: owner });
        expect(body.next_cursor).toBeNull();
        return (body.data as { user_id: string }[]).map(({ user_id: id }) => id);
      };
      const all = [owner.userId, admin.userId, member.userId];
      expect(await sorted('sort=spend_cap_usd')).toEqual([member.userId, admin.userId, owner.userId]);
      expect(await sorted('sort=-spend_cap_usd')).toEqual([admin.userId, member.userId, owner.userId]);
      expect(await sorted('sort=-role')).toEqual([owner.userId, member.userId, admin.userId]);
      expect(await sorted('sort=created_at')).toEqual(all);
      // All have one name: the id decides, and no page repeats a row.
      const byName = [
        ...(await sorted('sort=name&limit=2')),
        ...(await sorted('sort=name&limit=2&offset=2')),
      ];
      expect(byName).toEqual([...all].sort());
      const first = await keys.call('GET', `${path()}?limit=1`, { as: owner });
      for (const query of ['sort=email', `sort=name&cursor=${String(first.body.next_cursor)}`])
        expect((await keys.call('GET', `${path()}?${query}`, { as: owner })).status).toBe(422);
    });

    it('LIM-03 a limit takes effect on the keys of the member, whoever holds them', async () => {
      const made = await keys.call('POST', '/v1/keys', { as: member, body: { org_id: org.orgId } });
      await patch(member, { rpm_limit: 7, allowed_models: ['openai/*'] });
      const own = await keys.call('GET', '/v1/key', { as: String(made.body.key) });
      expect(own.body.limits).toMatchObject({ effective_rpm_limit: 7, binding: { rpm: 'member' } });
    });

    it('R3 R11 LIM-23 the limits of a key show what its organization paid, and its key what is left under every cap', async () => {
      const made = await keys.call('POST', '/v1/keys', {
        as: member,
        body: { org_id: org.orgId, spend_cap_usd: '5' },
      });
      const left = async (): Promise<unknown> => {
        const own = await keys.call('GET', '/v1/key', { as: String(made.body.key) });
        return (own.body.remaining as { spend_usd: unknown }).spend_usd;
      };
      expect(await left()).toBe('5');
      await patch(member, { spend_cap_usd: '0.6' });
      const spent = keys.funds.spentByScope;
      spent.set(`member ${member.userId}`, '0.95');
      spent.set(`member ${member.userId} of ${org.accountId}`, '0.45');
      const read = await keys.call('GET', `/v1/keys/${String(made.body.id)}/limits`, { as: owner });
      const { scopes } = read.body as { scopes: Record<string, unknown> };
      expect(scopes.member).toMatchObject({ spend_cap_usd: '0.6', spent_usd: '0.45' });
      expect(await left()).toBe('0.15');
      await patch(member, { spend_cap_usd: '0.01' });
      expect(await left()).toBe('0');
      keys.funds.isUnavailable = true;
      expect(await left()).toBeNull();
      keys.funds.isUnavailable = false;
      await patch(member, { spend_cap_usd: null });
    });

    it.each([
      [{ rpm_limit: 1_001 }, 'rpm_limit'],
      [{ rpd_limit: 0 }, 'rpd_limit'],
      [{ spend_cap_usd: 5 }, 'spend_cap_usd'],
      [{ role: 'boss' }, 'role'],
      [{ role: null }, 'role'],
      [{ rol: 'member' }, 'rol'],
      [{ blocked_models: ['x'] }, 'blocked_models'],
    ])('422 names the field: %j', async (body, field) => {
      const answer = await patch(member, body);
      expect(codeOf(answer)).toEqual([422, 'validation_error']);
      expect(answer.text).toContain(`"loc":["${field}"`);
    });

    it('AUTH-29 a role that changes takes effect on a token already issued', async () => {
      const create = (): Promise<Answer> =>
        keys.call('POST', `/v1/orgs/${org.orgId}/teams`, { as: member, body: { name: 'T' } });
      expect((await create()).status).toBe(403);
      await patch(member, { role: 'admin' });
      expect((await create()).status).toBe(201);
      await remove(member);
      expect((await create()).status).toBe(404);
    });
  });

  describe('ownership', () => {
    it('ORG-05 the owner hands it on and becomes an admin; there is one owner at any time', async () => {
      expect((await patch(member, { role: 'owner' })).body.role).toBe('owner');
      expect(await roles()).toEqual({
        [owner.userId]: 'admin',
        [admin.userId]: 'admin',
        [member.userId]: 'owner',
      });
      expect(codeOf(await patch(admin, { role: 'owner' }, owner))).toEqual([403, 'forbidden']);
      expect((await remove(owner, member)).status).toBe(204);
      const rows = await keys.database.prisma.auditLog.findMany({
        where: { org_id: org.orgId, action: 'org.transfer' },
      });
      expect(rows).toMatchObject([{ actor_id: owner.userId, target_id: member.userId }]);
    });

    it('ORG-05 of two at once to different people one is done', async () => {
      const answers = await Promise.all([patch(admin, { role: 'owner' }), patch(member, { role: 'owner' })]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
      expect(Object.values(await roles()).filter((role) => role === 'owner')).toHaveLength(1);
    });

    it('ORG-05 409 conflict for an owner who leaves, is demoted or removed, by whomever', async () => {
      for (const as of [owner, admin]) {
        expect(codeOf(await patch(owner, { role: 'admin' }, as))).toEqual([409, 'conflict']);
        expect(codeOf(await remove(owner, as))).toEqual([409, 'conflict']);
      }
      expect((await patch(owner, { rpm_limit: 5 })).body).toMatchObject({ role: 'owner', rpm_limit: 5 });
    });

    it('ORG-05 403 for an admin who hands it on, to themselves too', async () => {
      expect(codeOf(await patch(admin, { role: 'owner' }, admin))).toEqual([403, 'forbidden']);
      expect(codeOf(await patch(member, { role: 'owner' }, admin))).toEqual([403, 'forbidden']);
    });
  });

  describe('who leaves', () => {
    it('LIM-23 a removed member’s keys keep working and stay attributed; the removal is announced', async () => {
      const made = await keys.call('POST', '/v1/keys', { as: member, body: { org_id: org.orgId, rpm: 50 } });
      await patch(member, { rpm_limit: 9 });
      expect((await remove(member, admin)).status).toBe(204);
      const own = await keys.call('GET', '/v1/key', { as: String(made.body.key) });
      expect([own.status, own.body.created_by]).toEqual([200, member.userId]);
      expect(own.body.limits).toMatchObject({ effective_rpm_limit: 9 });
      const data = await eventually(() =>
        keys.events
          .dataOf<AccountEvent<'member.removed'>>(TOPIC.account)
          .find((event) => event.type === 'member.removed' && event.data.user_id === member.userId),
      );
      expect(data).toMatchObject({ org_id: org.orgId, data: { user_id: member.userId, role: 'member' } });
      expect(codeOf(await remove(member))).toEqual([404, 'not_found']);
      expect((await keys.call('GET', path(), { as: owner })).body.total).toBe(2);
    });

    it('EVT-08 a member leaves by themselves, which is announced, and removes nobody else', async () => {
      expect(codeOf(await remove(admin, member))).toEqual([403, 'forbidden']);
      expect((await remove(member, member)).status).toBe(204);
      expect((await keys.call('GET', path(), { as: member })).status).toBe(404);
      const left = await eventually(() =>
        keys.events
          .dataOf<AccountEvent<'member.removed'>>(TOPIC.account)
          .find((event) => event.type === 'member.removed' && event.data.user_id === member.userId),
      );
      expect(left).toMatchObject({ org_id: org.orgId, data: { user_id: member.userId, role: 'member' } });
    });

    it('who joins again has the limits that their keys were counted against meanwhile', async () => {
      await patch(member, { rpm_limit: 9 });
      await remove(member);
      await keys.call('POST', `/v1/orgs/${org.orgId}/invitations`, {
        as: owner,
        body: { email: member.email, role: 'admin' },
      });
      const token = await eventually(() => keys.mail.tokenFor(member.email) || null);
      const body = { token, password: 'x' };
      await keys.database.prisma.user.update({ where: { id: member.userId }, data: { password_hash: null } });
      expect(codeOf(await keys.call('POST', '/auth/invitations/accept', { body }))[0]).toBe(422);
      const long = { ...body, password: 'long enough' };
      expect((await keys.call('POST', '/auth/invitations/accept', { body: long })).status).toBe(200);
      const { body: record } = await keys.call('GET', path(member), { as: owner });
      expect(record).toMatchObject({ role: 'admin', rpm_limit: 9 });
    });
  });

  it('EDGE-07 pages go on by cursor without a repeat or a loss; q and role narrow', async () => {
    for (let n = 0; n < 5; n += 1) await keys.person({ orgId: org.orgId, role: 'member' });
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await keys.call('GET', `${path()}?limit=3${cursor}`, { as: owner });
      expect(body.total).toBe(8);
      seen.push(...(body.data as { user_id: string }[]).map(({ user_id }) => user_id));
      cursor = body.next_cursor === null ? '' : `&cursor=${String(body.next_cursor)}`;
    } while (cursor !== '');
    expect(new Set(seen).size).toBe(8);
    const narrowed = async (query: string): Promise<unknown> =>
      (await keys.call('GET', `${path()}?${query}`, { as: owner })).body.total;
    expect(await narrowed(`q=${admin.email.slice(4, 20).toUpperCase()}`)).toBeGreaterThanOrEqual(1);
    expect([await narrowed('role=admin'), await narrowed('q=nobody')]).toEqual([1, 0]);
    expect([await narrowed('q=a%20PERSON'), await narrowed('q=a_person'), await narrowed('q=%25')]).toEqual([
      8, 0, 0,
    ]);
    const first = await keys.call('GET', `${path()}?limit=3`, { as: owner });
    const foreign = [`/v1/orgs/${(await keys.org(owner)).orgId}/members`, `/v1/orgs/${org.orgId}/teams`];
    for (const list of [...foreign, `/v1/orgs/${org.orgId}/audit-log`, `${path()}?role=member`]) {
      const cursor = `${list.includes('?') ? '&' : '?'}cursor=${String(first.body.next_cursor)}`;
      const answer = await keys.call('GET', `${list}${cursor}`, { as: owner });
      expect([list, ...codeOf(answer)]).toEqual([list, 422, 'validation_error']);
      expect(answer.text).toContain('"loc":["cursor"]');
    }
    for (const query of ['cursor=x', 'cursor=', 'limit=201', 'role=boss', 'page=2'])
      expect((await keys.call('GET', `${path()}?${query}`, { as: owner })).status).toBe(422);
  });

  it('ORG-03 DELETE of an organization is 409 while a key is active; then it is gone for everybody', async () => {
    const made = await keys.call('POST', '/v1/keys', { as: member, body: { org_id: org.orgId } });
    const whole = `/v1/orgs/${org.orgId}`;
    expect(codeOf(await keys.call('DELETE', whole, { as: owner }))).toEqual([409, 'conflict']);
    expect(codeOf(await keys.call('DELETE', whole, { as: admin }))).toEqual([403, 'forbidden']);
    await keys.call('DELETE', `/v1/keys/${String(made.body.id)}`, { as: member });
    expect((await keys.call('DELETE', whole, { as: owner })).status).toBe(204);
    for (const as of [owner, admin, member, keys.admin])
      expect(codeOf(await keys.call('GET', whole, { as }))).toEqual([404, 'not_found']);
    expect((await keys.call('GET', '/auth/me', { as: member })).body.memberships).toEqual([]);
    expect((await keys.call('GET', '/v1/orgs?limit=200', { as: keys.admin })).text).not.toContain(org.orgId);
    const late = await keys.call('POST', `/v1/keys/${String(made.body.id)}/reactivate`, { as: owner });
    expect(codeOf(late)).toEqual([404, 'not_found']);
  });
});
