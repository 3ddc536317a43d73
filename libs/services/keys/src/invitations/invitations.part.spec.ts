import { TOPIC, type AccountEvent } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import type { Answer, Person } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

let owner: Person;
let org: { orgId: string; accountId: string };
let numbered = 0;

const PASSWORD = 'correct horse battery';

/** An address each, because waits are counted by it. */
function newAddress(): string {
  numbered += 1;
  return `Invited${numbered}@Example.com`;
}

const invite = (body: object, as = owner): Promise<Answer> =>
  keys.call('POST', `/v1/orgs/${org.orgId}/invitations`, { as, body });

/** The token of the mailed link; `before` is that of an earlier one. */
function tokenFor(email: string, before = ''): Promise<string> {
  return eventually(() => {
    const token = keys.mail.tokenFor(email.toLowerCase());
    return token === before ? null : token;
  });
}

async function invited(role = 'member', email = newAddress()): Promise<{ email: string; token: string }> {
  const before = keys.mail.tokenFor(email.toLowerCase());
  expect((await invite({ email, role })).status).toBe(201);
  return { email, token: await tokenFor(email, before) };
}

const accept = (body: object): Promise<Answer> =>
  keys.call('POST', '/auth/invitations/accept', { body: { password: PASSWORD, name: 'Ada', ...body } });

const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];
const fieldOf = ({ body }: Answer): unknown =>
  (body.error as { details?: { loc: unknown[] }[] }).details?.[0]?.loc;

async function begin(): Promise<void> {
  owner = await keys.person();
  org = await keys.org(owner);
}

describe('invitations', () => {
  beforeEach(begin);

  it('ORG-06 201 mails a link that lives 7 days; the list shows it and no answer its token', async () => {
    const email = newAddress();
    const made = await invite({ email, role: 'admin' });
    expect(made.status).toBe(201);
    const { id, created_at, expires_at, ...rest } = made.body;
    const shown = { org_id: org.orgId, email: email.toLowerCase(), role: 'admin', created_by: owner.userId };
    expect([id, rest]).toEqual([expect.stringMatching(/^inv_/), shown]);
    expect(Date.parse(String(expires_at)) - Date.parse(String(created_at))).toBe(7 * 86_400_000);
    const list = await keys.call('GET', `/v1/orgs/${org.orgId}/invitations`, { as: owner });
    expect(list.body).toEqual({ data: [made.body], total: 1, limit: 50, offset: 0, next_cursor: null });
    const token = await tokenFor(email);
    expect(keys.mail.sent.at(-1)?.text).toContain(`http://127.0.0.1:8080/dashboard/invite#token=${token}`);
    expect(made.text + list.text).not.toContain(token);
    const stored = await keys.database.prisma.$queryRaw<{ all: string }[]>`
      SELECT string_agg(i::text, ' ') AS all FROM invitation i`;
    expect(stored[0].all).not.toContain(token);
    await eventually(async () => (await keys.database.prisma.mail.count()) === 0);
  });

  it.each(['Evil\r\nBcc: x@y.test', 'Evil http://phish.test', 'Evil WWW.phish.test', 'a\u2028b'])(
    'A4 422 for a name that a mail to a stranger would obey: %j',
    async (name) => {
      const renamed = await keys.call('PATCH', `/v1/orgs/${org.orgId}`, { as: owner, body: { name } });
      expect([codeOf(renamed), fieldOf(renamed)]).toEqual([[422, 'validation_error'], ['name']]);
      expect(codeOf(await keys.call('POST', '/v1/orgs', { as: owner, body: { name } }))[0]).toBe(422);
      expect(codeOf(await keys.call('PATCH', '/auth/me', { as: owner, body: { name } }))[0]).toBe(422);
    },
  );

  it('A4 a name of an earlier release stands in the mail on one line and without a link', async () => {
    const name = 'Evil\r\nBcc: a@b.test http://phish.test/x';
    await keys.database.prisma.org.update({ where: { id: org.orgId }, data: { name } });
    const { email } = await invited();
    const mail = keys.mail.sent.find(({ to }) => to === email.toLowerCase());
    expect(mail?.text.split('\n')[0]).toMatch(
      / invites you to join Evil Bcc: a@b\.test … on Model Gateway\.$/,
    );
    expect(mail?.subject).not.toContain('phish');
  });

  it('A4 429 for the sixth invitation to one address in a day, from whichever organizations', async () => {
    const email = newAddress();
    for (let sent = 0; sent < 5; sent += 1) {
      owner = await keys.person();
      org = await keys.org(owner);
      expect((await invite({ email, role: 'member' })).status).toBe(201);
    }
    owner = await keys.person();
    org = await keys.org(owner);
    const sixth = await invite({ email, role: 'member' });
    expect([codeOf(sixth), Number(sixth.headers['retry-after']) > 0]).toEqual([
      [429, 'rate_limit_exceeded'],
      true,
    ]);
    expect((await invite({ email: newAddress(), role: 'member' })).status).toBe(201);
  });

  it('A4 of many invitations to one address at once, from as many organizations, five are sent', async () => {
    const email = newAddress();
    const orgs = [];
    for (let n = 0; n < 8; n += 1) {
      const by = await keys.person();
      orgs.push({ by, org: await keys.org(by) });
    }
    const body = { email, role: 'member' };
    const answers = await Promise.all(
      orgs.map(({ by, org: { orgId } }) =>
        keys.call('POST', `/v1/orgs/${orgId}/invitations`, { as: by, body }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 201, 201, 429, 429, 429]);
  });

  it('A4 429 for a person who has sent 200 within the hour, in whichever organization', async () => {
    const by = await keys.person();
    const [first, second] = [await keys.org(by), await keys.org(by)];
    const { body } = await keys.call('GET', `/v1/orgs/${first.orgId}/members`, { as: by });
    const [{ user_id }] = body.data as { user_id: string }[];
    const at = new Date();
    await keys.database.prisma.invitation.createMany({
      data: Array.from({ length: 200 }, (_, n) => ({
        ...{
          id: `inv_by_${first.orgId}_${n}`,
          org_id: first.orgId,
          email: `a${n}@many.test`,
          role: 'member',
        },
        ...{
          token_digest: `${first.orgId}_${n}`,
          created_by: user_id,
          created_at: at,
          expires_at: at,
        },
      })),
    });
    const refused = await keys.call('POST', `/v1/orgs/${second.orgId}/invitations`, {
      as: by,
      body: { email: newAddress(), role: 'member' },
    });
    expect([codeOf(refused), String((refused.body.error as { message: string }).message)]).toEqual([
      [429, 'rate_limit_exceeded'],
      'A person sends at most 200 invitations an hour.',
    ]);
  });

  it('ORG-06 AUTH-26 a new person accepts once: logged in, a member at once, and announced', async () => {
    const { email, token } = await invited('admin');
    const joined = await accept({ token });
    expect([joined.status, Object.keys(joined.body).sort()]).toEqual([
      200,
      ['expires_at', 'token', 'token_type', 'user'],
    ]);
    expect(joined.headers['set-cookie']).toMatch(/^__Host-refresh=/);
    const user = joined.body.user as { id: string };
    expect(user).toMatchObject({ email: email.toLowerCase(), name: 'Ada' });
    const me = await keys.call('GET', '/auth/me', { as: String(joined.body.token) });
    expect(me.body.memberships).toEqual([{ org_id: org.orgId, role: 'admin', teams: [] }]);
    const login = { email, password: PASSWORD };
    expect((await keys.call('POST', '/auth/login', { body: login })).status).toBe(200);
    const data = await eventually(() =>
      keys.events
        .dataOf<AccountEvent<'member.added'>>(TOPIC.account)
        .find((event) => event.type === 'member.added' && event.data.user_id === user.id),
    );
    expect(data).toMatchObject({ org_id: org.orgId, data: { user_id: user.id, role: 'admin' } });
    const again = await accept({ token });
    expect([codeOf(again), fieldOf(again)]).toEqual([[422, 'unprocessable_entity'], ['token']]);
  });

  it('AUTH-26 a known person gives the password they have, and keeps their name', async () => {
    const email = newAddress();
    const first = await invited('member', email);
    expect((await accept({ token: first.token })).status).toBe(200);
    org = await keys.org(owner);
    const { token } = await invited('member', email);
    expect(codeOf(await accept({ token, password: 'not the password' }))).toEqual([401, 'unauthorized']);
    const joined = await accept({ token, name: 'Eve' });
    expect([joined.status, joined.body.user]).toEqual([200, expect.objectContaining({ name: 'Ada' })]);
  });

  it('of 8 requests with one link at once one is served', async () => {
    const { token } = await invited();
    const answers = await Promise.all(Array.from({ length: 8 }, () => accept({ token })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { total } = (await keys.call('GET', `/v1/orgs/${org.orgId}/members`, { as: owner })).body;
    expect(total).toBe(2);
  });

  it('a newer invitation and a withdrawal void the link, 8 days end it', async () => {
    const email = newAddress();
    const first = await invited('member', email);
    const second = await invited('admin', email);
    expect(second.token).not.toBe(first.token);
    expect(codeOf(await accept({ token: first.token }))).toEqual([422, 'unprocessable_entity']);
    const { body } = await keys.call('GET', `/v1/orgs/${org.orgId}/invitations`, { as: owner });
    const [{ id }] = body.data as { id: string }[];
    const gone = `/v1/orgs/${org.orgId}/invitations/${id}`;
    expect((await keys.call('DELETE', gone, { as: owner })).status).toBe(204);
    expect((await keys.call('DELETE', gone, { as: owner })).status).toBe(404);
    expect(codeOf(await accept({ token: second.token }))).toEqual([422, 'unprocessable_entity']);
    const old = await invited();
    await keys.database.prisma.invitation.updateMany({ data: { expires_at: new Date(0) } });
    expect(codeOf(await accept({ token: old.token }))).toEqual([422, 'unprocessable_entity']);
  });

  it('409 conflict for who is a member already', async () => {
    expect(codeOf(await invite({ email: owner.email, role: 'member' }))).toEqual([409, 'conflict']);
    const person = await keys.person();
    const { prisma } = keys.database;
    await prisma.user.update({ where: { id: person.userId }, data: { password_hash: null } });
    const { token } = await invited('member', person.email);
    // As the identity provider lets somebody in; the owner has handed the organization on to them since.
    const member = {
      org_id: org.orgId,
      user_id: person.userId,
      role: 'admin',
      source: 'oidc',
      created_at: new Date(),
    };
    await prisma.membership.create({ data: member });
    const path = `/v1/orgs/${org.orgId}/members/${person.userId}`;
    expect((await keys.call('PATCH', path, { as: owner, body: { role: 'owner' } })).status).toBe(200);
    expect(codeOf(await accept({ token }))).toEqual([409, 'conflict']);
    expect((await keys.call('GET', path, { as: owner })).body.role).toBe('owner');
  });

  it.each([
    ['an owner', { email: 'a@example.com', role: 'owner' }, 'role'],
    ['no role', { email: 'a@example.com' }, 'role'],
    ['no address', { email: 'nobody', role: 'member' }, 'email'],
    ['a field that is not known', { email: 'a@example.com', role: 'member', rol: 1 }, 'rol'],
  ])('422 names the field: %s', async (_name, body, field) => {
    const answer = await invite(body);
    expect([codeOf(answer), fieldOf(answer)]).toEqual([[422, 'validation_error'], [field]]);
  });

  it('422 names the field of who accepts: a new person without a name, a password too short', async () => {
    const { token } = await invited();
    expect(fieldOf(await accept({ token, name: undefined }))).toEqual(['name']);
    expect(fieldOf(await accept({ token, password: 'short' }))).toEqual(['password']);
    expect((await accept({ token })).status).toBe(200);
  });

  it('a mail server that is away delays the mail and loses none', async () => {
    keys.mail.isUnavailable = true;
    const email = newAddress();
    expect((await invite({ email, role: 'member' })).status).toBe(201);
    const { prisma } = keys.database;
    await eventually(async () => (await prisma.mail.count({ where: { attempts: 1 } })) === 1);
    keys.mail.isUnavailable = false;
    const [{ sealed }] = await prisma.mail.findMany();
    expect(Buffer.from(sealed).toString('latin1')).not.toContain('token=');
    await prisma.mail.updateMany({ data: { next_at: new Date(0) } });
    await invited();
    await tokenFor(email);
  });
});
