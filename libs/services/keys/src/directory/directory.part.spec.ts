import { HEADER } from '@gateway/contracts';
import { FLEET_TOKEN } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

const asked = (method: 'GET' | 'POST', path: string, body?: object) =>
  keys.call(method, `/internal/${path}`, {
    headers: { [HEADER.fleetToken.toLowerCase()]: FLEET_TOKEN },
    ...(body ? { body } : {}),
  });

describe('the directory', () => {
  it('names keys, people and teams of the account that asks, and no others', async () => {
    const owner = await keys.person();
    const { orgId, accountId } = await keys.org(owner);
    const team = await keys.call('POST', `/v1/orgs/${orgId}/teams`, { as: owner, body: { name: 'Search' } });
    const key = await keys.call('POST', '/v1/keys', { as: owner, body: { label: 'Nightly', org_id: orgId } });
    const ids = {
      keys: [String(key.body.id), 'key_x'],
      users: [owner.userId],
      teams: [String(team.body.id)],
    };
    const { status, body } = await asked('POST', 'directory/names', { account_id: accountId, ...ids });
    expect(status).toBe(200);
    expect(body.keys).toEqual({ [ids.keys[0]]: 'Nightly' });
    expect(Object.keys(body.users as object)).toEqual([owner.userId]);
    expect(body.teams).toEqual({ [ids.teams[0]]: 'Search' });
    const other = await asked('POST', 'directory/names', { account_id: 'acct_other', ...ids });
    expect(other.body).toEqual({ keys: {}, users: {}, teams: {} });
  });

  it('knows the teams of a person and who pays for an organization, a person and an account', async () => {
    const owner = await keys.person();
    const { orgId, accountId } = await keys.org(owner);
    const team = await keys.call('POST', `/v1/orgs/${orgId}/teams`, { as: owner, body: { name: 'Search' } });
    const teamsOf = async () =>
      (await asked('GET', `directory/orgs/${orgId}/people/${owner.userId}/teams`)).body.teams;
    expect(await teamsOf()).toEqual([]);
    await keys.call('PUT', `/v1/teams/${String(team.body.id)}/members/${owner.userId}`, {
      as: owner,
      body: {},
    });
    expect(await teamsOf()).toEqual([team.body.id]);
    const payer = async (id: string) => (await asked('GET', `directory/payers/${id}`)).body.payer;
    expect(await payer(orgId)).toEqual({ accountId, orgId });
    expect(await payer(accountId)).toEqual({ accountId, orgId });
    expect(await payer(owner.userId)).toEqual({ accountId: owner.accountId, orgId: null });
    expect(await payer('org_unknown')).toBeNull();
    await keys.call('DELETE', `/v1/orgs/${orgId}`, { as: owner });
    expect(await payer(orgId)).toEqual({ accountId, orgId, isClosed: true });
  });

  it('gives the addresses of the owners of an organization', async () => {
    const owner = await keys.person();
    const { orgId } = await keys.org(owner);
    const { email } = await keys.database.prisma.user.findUniqueOrThrow({ where: { id: owner.userId } });
    const emailsOf = async (org: string) => (await asked('GET', `orgs/${org}/owners`)).body.emails;
    expect(await emailsOf(orgId)).toEqual([email]);
    expect(await emailsOf('org_unknown')).toEqual([]);
  });

  it('ERA-05 forgets what an account remembers of an end user, and nothing else', async () => {
    const owner = await keys.person();
    const items = { items: [{ text: 'likes tea' }] };
    for (const name of ['ada', 'bob'])
      expect((await keys.call('PUT', `/v1/memories/${name}`, { as: owner, body: items })).status).toBe(200);
    const rows = await keys.database.prisma.memory.findMany({ where: { account_id: owner.accountId } });
    expect(rows).toHaveLength(2);
    const [{ end_user_hash }] = rows;
    for (const account_id of ['acct_other', owner.accountId, owner.accountId])
      expect((await asked('POST', 'directory/forget', { account_id, end_user_hash })).status).toBe(204);
    const left = await keys.database.prisma.memory.findMany({ where: { account_id: owner.accountId } });
    expect(left.map((row) => row.end_user_hash)).toEqual([rows[1].end_user_hash]);
  });

  it('answers the fleet alone', async () => {
    expect((await keys.call('GET', '/internal/directory/payers/org_1')).status).not.toBe(200);
  });
});
