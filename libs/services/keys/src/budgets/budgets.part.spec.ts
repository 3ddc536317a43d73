import type { Person } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

describe('GET /v1/orgs/{id}/budgets', () => {
  let owner: Person;
  beforeEach(async () => {
    owner = await keys.person();
  });
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await keys.call('POST', path, { as: owner, body });
    expect([path, answer.status]).toEqual([path, 201]);
    return String(answer.body.id);
  };

  it('200 lists every cap with its spend, the most used first, and nothing without a cap', async () => {
    const org = await made('/v1/orgs', { name: 'Acme', spend_cap_usd: '1000' });
    const team = await made(`/v1/orgs/${org}/teams`, { name: 'Search', spend_cap_usd: '100' });
    await made(`/v1/orgs/${org}/teams`, { name: 'No cap' });
    const key = await made('/v1/keys', { label: 'staging', org_id: org, spend_cap_usd: '10' });
    await made('/v1/keys', { label: 'free', org_id: org });
    const { rows } = await keys.database.pool.query<{ id: string }>(
      'SELECT id FROM account WHERE org_id = $1',
      [org],
    );
    for (const [scope, usd] of [
      [`key ${key}`, '2.5'],
      [`team ${team}`, '78'],
      [`org ${org}`, '90'],
    ])
      keys.funds.spentByScope.set(`${scope} of ${rows[0].id}`, usd);
    const { status, body } = await keys.call('GET', `/v1/orgs/${org}/budgets?limit=2`, { as: owner });
    expect([status, body]).toEqual([
      200,
      {
        data: [
          {
            ...{ scope: 'team', id: team, team_id: null, name: 'Search' },
            ...{ spend_cap_usd: '100', spent_usd: '78', used: 0.78 },
          },
          {
            ...{ scope: 'key', id: key, team_id: null, name: 'staging' },
            ...{ spend_cap_usd: '10', spent_usd: '2.5', used: 0.25 },
          },
        ],
        total: 3,
        limit: 2,
        offset: 0,
        is_partial: false,
      },
    ]);
  });

  it('200 without a cap, and asks the ledger nothing', async () => {
    const org = await made('/v1/orgs', { name: 'Acme' });
    const before = keys.funds.calls;
    const { body } = await keys.call('GET', `/v1/orgs/${org}/budgets`, { as: owner });
    expect(body).toEqual({ data: [], total: 0, limit: 50, offset: 0, is_partial: false });
    expect(keys.funds.calls).toBe(before);
  });
});
