import type { Answer, Person } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

let owner: Person;
let member: Person;
let other: Person;
let orgId: string;

beforeAll(async () => {
  owner = await keys.person();
  ({ orgId } = await keys.org(owner));
  member = await keys.person({ orgId, role: 'member' });
  other = await keys.person({ orgId, role: 'member' });
});

const path = (id?: string): string => `/v1/orgs/${orgId}/views${id === undefined ? '' : `/${id}`}`;
const VIEW = { page: '/usage', search: { metric: 'spend', by: 'team' } };
const make = (name: string, as: Person = member, more: object = {}): Promise<Answer> =>
  keys.call('POST', path(), { as, body: { ...VIEW, name, ...more } });
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];

const LETTERS = Array.from({ length: 31 }, (_, n) => 'a'.repeat(n + 1));

describe('views of an organization', () => {
  it('issue 41 one that a member keeps is read by everybody in it, and by nobody else', async () => {
    const made = await make('Teams');
    expect([made.status, made.body]).toMatchObject([
      201,
      { ...VIEW, name: 'Teams', org_id: orgId, created_by: member.userId },
    ]);
    await make('Failures', member, { page: '/requests', search: { status: 'error' } });
    const read = await keys.call('GET', `${path()}?page=/usage`, { as: other });
    expect(read.body).toMatchObject({ data: [made.body], total: 1, next_cursor: null });
    const stranger = await keys.person();
    expect(codeOf(await keys.call('GET', path(), { as: stranger }))).toEqual([404, 'not_found']);
    expect(codeOf(await make('Theirs', stranger))).toEqual([404, 'not_found']);
  });

  it('who made it, an owner or an admin changes it; it is in the audit log', async () => {
    const id = String((await make('Mine')).body.id);
    const patch = (as: Person, body: object): Promise<Answer> => keys.call('PATCH', path(id), { as, body });
    expect(codeOf(await patch(other, { name: 'Stolen' }))).toEqual([403, 'forbidden']);
    expect(codeOf(await keys.call('DELETE', path(id), { as: other }))).toEqual([403, 'forbidden']);
    expect((await patch(member, { search: { by: 'key' } })).body).toMatchObject({
      name: 'Mine',
      search: { by: 'key' },
    });
    expect((await patch(owner, { name: 'Ours' })).body).toMatchObject({
      name: 'Ours',
      search: { by: 'key' },
    });
    expect((await keys.call('DELETE', path(id), { as: owner })).status).toBe(204);
    expect(codeOf(await keys.call('DELETE', path(id), { as: owner }))).toEqual([404, 'not_found']);
    const where = { target_id: id };
    const rows = await keys.database.prisma.auditLog.findMany({ where, orderBy: { created_at: 'asc' } });
    expect(rows.map(({ action }) => action)).toEqual([
      'view.create',
      'view.update',
      'view.update',
      'view.delete',
    ]);
  });

  it('a name is once on a page, also where two take it at once', async () => {
    const answers = await Promise.all([make('Once'), make('Once', other)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect((await make('Once', member, { page: '/requests' })).status).toBe(201);
    const id = String((await make('Twice')).body.id);
    const renamed = await keys.call('PATCH', path(id), { as: member, body: { name: 'Once' } });
    expect(codeOf(renamed)).toEqual([409, 'conflict']);
  });

  it.each([
    ['a page that keeps none', { page: '/billing' }],
    ['a value that is no text', { search: { by: 1 } }],
    ['a name of no parameter', { search: { 'by<script>': 'x' } }],
    ['too many parameters', { search: Object.fromEntries(LETTERS.map((letter) => [`p_${letter}`, '1'])) }],
    ['too long a value', { search: { model: 'x'.repeat(4_000) } }],
    ['no name', { name: '' }],
  ])('422 for %s', async (_what, more) => {
    expect(codeOf(await make('Bad', member, more))).toEqual([422, 'validation_error']);
  });

  it('an organization has 100 of them', async () => {
    const mine = await keys.person();
    const { orgId: org_id } = await keys.org(mine);
    const now = new Date();
    await keys.database.prisma.savedView.createMany({
      data: Array.from({ length: 100 }, (_, n) => ({
        ...{ id: `view_${org_id}${n}`, org_id, page: '/usage', name: `View ${n}`, search: {} },
        ...{ created_by: mine.userId, created_at: now, updated_at: now },
      })),
    });
    const body = { ...VIEW, name: 'One more' };
    expect(codeOf(await keys.call('POST', `/v1/orgs/${org_id}/views`, { as: mine, body }))).toEqual([
      409,
      'conflict',
    ]);
  });
});
