import { eventually } from '@gateway/testing';
import type { Answer } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

let { password } = keys.first.admin;

const { email } = { email: 'admin@gateway.local' };
const login = (secret = password): Promise<Answer> =>
  keys.call('POST', '/auth/login', { body: { email, password: secret } });
const post = (path: string, body: object, as?: string): Promise<Answer> =>
  keys.call('POST', `/auth/password/${path}`, { body, as });
const me = (as: string): Promise<Answer> => keys.call('GET', '/auth/me', { as });
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];

/** Asks for a link and waits for its mail. */
async function link(): Promise<string> {
  const before = keys.mail.tokenFor(email);
  expect((await post('forgot', { email: email.toUpperCase() })).status).toBe(204);
  return eventually(() => {
    const token = keys.mail.tokenFor(email);
    return token === before ? null : token;
  });
}

describe('password', () => {
  it('204 a change ends every other session of the person and leaves this one', async () => {
    const [mine, other] = [await login(), await login()].map(({ body }) => String(body.token));
    const next = 'another password';
    const changed = await post('change', { current_password: password, new_password: next }, mine);
    expect(changed.status).toBe(204);
    expect([(await me(mine)).status, (await me(other)).status]).toEqual([200, 401]);
    expect([(await login()).status, (await login(next)).status]).toEqual([401, 200]);
    password = next;
  });

  it.each([
    [{ current_password: 'wrong', new_password: 'long enough' }, 'current_password'],
    [{ new_password: 'long enough' }, 'current_password'],
    [{ current_password: 'x', new_password: 5 }, 'new_password'],
  ])('422 names the field: %j', async (body, field) => {
    const answer = await post('change', body, String((await login()).body.token));
    expect(codeOf(answer)).toEqual([422, 'validation_error']);
    expect(answer.text).toContain(`"loc":["${field}"`);
  });

  it('AUTH-25 204 for a known and an unknown address; the link sets a password once and ends all sessions', async () => {
    const session = String((await login()).body.token);
    expect((await post('forgot', { email: 'nobody@example.com' })).status).toBe(204);
    const token = await link();
    expect((await post('reset', { token, password: 'short' })).status).toBe(422);
    const next = 'from the link';
    expect((await post('reset', { token, password: next })).status).toBe(204);
    expect((await me(session)).status).toBe(401);
    expect([(await login()).status, (await login(next)).status]).toEqual([401, 200]);
    password = next;
    const again = await post('reset', { token, password: 'once more' });
    expect(codeOf(again)).toEqual([422, 'unprocessable_entity']);
    expect(again.text).toContain('"loc":["token"');
    expect(keys.mail.sent.filter(({ to }) => to === 'nobody@example.com')).toEqual([]);
  });

  it('AUTH-25 of 8 at once with one link one is served, and a use voids the other links', async () => {
    const unused = await link();
    const token = await link();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => post('reset', { token, password: `password ${n}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(422)]);
    password = `password ${answers.findIndex(({ status }) => status === 204)}`;
    expect((await login()).status).toBe(200);
    expect((await post('reset', { token: unused, password: 'too late!' })).status).toBe(422);
  });

  it('AUTH-25 mails five links an hour to one person at most, and a link dies after an hour', async () => {
    await keys.database.prisma.passwordReset.deleteMany();
    const sent = keys.mail.sent.length;
    await Promise.all(Array.from({ length: 9 }, () => post('forgot', { email })));
    await eventually(() => keys.mail.sent.length === sent + 5);
    expect(await keys.database.prisma.passwordReset.count()).toBe(5);
    const token = keys.mail.tokenFor(email);
    await keys.database.prisma.passwordReset.updateMany({ data: { expires_at: new Date(0) } });
    expect((await post('reset', { token, password: 'too late!' })).status).toBe(422);
  });

  it('the audit log knows of each change, and nothing of the password', async () => {
    const rows = await keys.database.prisma.auditLog.findMany({ where: { target_type: 'user' } });
    expect(new Set(rows.map(({ action }) => action))).toEqual(
      new Set(['user.password_change', 'user.password_reset']),
    );
    expect(rows.every(({ actor_id }) => actor_id === keys.admin.userId)).toBe(true);
  });
});

describe('one’s own sessions', () => {
  it('lists those that live with what they were used by; ends one, then all others', async () => {
    const person = await keys.person();
    const second = await keys.signedIn(person.userId);
    const third = await keys.signedIn(person.userId);
    const list = async (): Promise<Record<string, unknown>[]> =>
      (await keys.call('GET', '/auth/sessions', { as: third })).body.data as Record<string, unknown>[];
    const all = await list();
    expect(all.map(({ current }) => current)).toEqual([true, false, false]);
    expect(Object.keys(all[0]).sort()).toEqual([
      'created_at',
      'current',
      'id',
      'ip',
      'last_used_at',
      'user_agent',
    ]);
    const gone = `/auth/sessions/${String(all[1].id)}`;
    expect((await keys.call('DELETE', gone, { as: await keys.person() })).status).toBe(404);
    expect((await keys.call('DELETE', gone, { as: third })).status).toBe(204);
    expect([(await me(second.token)).status, (await me(person.token)).status]).toEqual([401, 200]);
    expect((await keys.call('DELETE', '/auth/sessions', { as: third })).status).toBe(204);
    expect([(await me(person.token)).status, (await me(third.token)).status]).toEqual([401, 200]);
    expect(await list()).toHaveLength(1);
  });

  it('PATCH /auth/me answers the person; each field reads back, 422 names the one that is wrong', async () => {
    const person = await keys.person();
    const patch = (body: object): Promise<Answer> => keys.call('PATCH', '/auth/me', { as: person, body });
    const body = { name: 'Ada', time_zone: 'Asia/Kolkata', locale: 'de-AT' };
    const { userId: id, email: address } = person;
    expect((await patch(body)).body).toEqual({ id, email: address, ...body });
    expect((await me(person.token)).body.user).toEqual({ id, email: address, ...body });
    expect((await patch({ time_zone: null })).body).toMatchObject({ time_zone: null, locale: 'de-AT' });
    // Series and exports take none of the three zones.
    for (const [field, value] of [
      ['name', ''],
      ['time_zone', 'Mars/Base'],
      ['time_zone', '+05:30'],
      ['time_zone', 'IST'],
      ['locale', '!!'],
      ['email', 'x'],
    ]) {
      const refused = await patch({ [field]: value });
      expect([field, refused.status]).toEqual([field, 422]);
      expect(refused.text).toContain(`"loc":["${field}"`);
    }
  });

  it('a 101st login ends the oldest session', async () => {
    const person = await keys.person();
    for (let n = 0; n < 100; n += 1) await keys.signedIn(person.userId);
    expect((await me(person.token)).status).toBe(401);
  });
});
