import { eventually } from '@gateway/testing';
import { START_MS } from './harness/modes.js';
import { mailedToken, ownOrganization, type OwnOrganization } from './harness/own-organization.js';
import { ask, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const UNLIMITED = {
  rpm_limit: null,
  rpd_limit: null,
  tpm_limit: null,
  spend_cap_usd: null,
  allowed_models: null,
  blocked_models: null,
};

/**
 * Suite that sets limits over HTTP and meets them with the next request: each scope above a key, by the way of its
 * owner.
 */
describe('limits of every scope', () => {
  let gateway: OwnOrganization;
  let owner: PersonSession;
  let member: PersonSession;
  let memberId: string;
  let teamId: string;
  /** Keys of the member in the team, and of the owner. */
  let own: { id: string; key: string };
  let ownersKey: string;

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    owner = await logIn(gateway);
    const email = `${owner.orgId}@example.com`;
    const password = 'a long enough password';
    await done(owner, 'POST', `/v1/orgs/${owner.orgId}/invitations`, { email, role: 'member' });
    const token = await mailedToken(gateway, email, 'invite');
    await fetch(`${gateway.url}/auth/invitations/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, name: 'A member', password }),
    });
    member = await logIn({ url: gateway.url, admin: { email, password } });
    memberId = String((await done(member, 'GET', '/auth/me')).user.id);
    teamId = String((await done(owner, 'POST', `/v1/orgs/${owner.orgId}/teams`, { name: 'A team' })).id);
    await done(owner, 'PUT', `/v1/teams/${teamId}/members/${memberId}`, {});
    own = await member.createKey('of the member', { team_id: teamId });
    ownersKey = (await owner.createKey('of the owner')).key;
  }, START_MS);

  async function done(as: PersonSession, method: string, path: string, body?: object): Promise<Body> {
    const answer = await as.call(method, path, body);
    const text = await answer.text();
    expect([path, answer.status < 300, text]).toEqual([path, true, expect.any(String)]);
    return text === '' ? {} : (JSON.parse(text) as Body);
  }

  /** `200`, or the status with the code, and the scope and metric where a limit refused. */
  async function chat(key: string, model = 'simulator/chat'): Promise<string> {
    const { status, body } = await ask(gateway, 'POST', '/v1/chat/completions', {
      key,
      body: { model, max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] },
    });
    return [status, body.error?.code].filter(Boolean).join(' ');
  }

  const scopes = {
    org: () => `/v1/orgs/${owner.orgId}`,
    team: () => `/v1/teams/${teamId}`,
    member: () => `/v1/orgs/${owner.orgId}/members/${memberId}`,
    team_member: () => `/v1/teams/${teamId}/members/${memberId}`,
  };
  type Scope = keyof typeof scopes;
  const KINDS = Object.keys(scopes) as Scope[];

  const set = (scope: Scope, limits: object): Promise<Body> =>
    done(owner, scope === 'team_member' ? 'PUT' : 'PATCH', scopes[scope](), limits);

  /** Returns how many requests of today the scopes of the member's key have seen. */
  async function usedToday(scope: Scope): Promise<number> {
    const state = await done(owner, 'GET', `/v1/usage/rate-limits?key_id=${own.id}`);
    return Number(state.scopes[scope].rpd.current);
  }

  it.each(KINDS)(
    'ORG-01 ORG-04 ORG-07 ORG-08 LIM-21 LIM-22 LIM-24 R02 R07 %s: every limit reads back, binds, and a raise of the key does nothing',
    async (scope) => {
      const limits = {
        rpm_limit: 900,
        tpm_limit: 1_000_000,
        spend_cap_usd: '50.5',
        allowed_models: ['simulator/*'],
        blocked_models: ['simulator/none'],
      };
      expect(await chat(own.key)).toBe('200');
      const rpd_limit = (await usedToday(scope)) + 1;
      expect(await set(scope, { ...limits, rpd_limit })).toMatchObject({ ...limits, rpd_limit });
      const read = await done(owner, 'GET', `/v1/keys/${own.id}/limits`);
      expect(read).toMatchObject({
        effective_rpd_limit: rpd_limit,
        binding: { rpd: scope, spend_cap: scope },
      });
      expect(await chat(own.key)).toBe('200');
      expect(await chat(own.key)).toBe('429 rate_limit_exceeded');
      await done(member, 'PATCH', `/v1/keys/${own.id}`, { rpd: 1_000_000 });
      expect(await chat(own.key)).toBe('429 rate_limit_exceeded');
      await set(scope, UNLIMITED);
      expect(await chat(own.key)).toBe('200');
    },
  );

  it.each(['key', 'member', 'team', 'org'] as const)(
    'a budget of the %s counts what was spent before it, is raised for a time, and refuses by its own name',
    async (scope) => {
      const scope_id = { key: own.id, member: memberId, team: teamId, org: owner.orgId }[scope];
      const of = { org_id: owner.orgId, scope, scope_id, period: 'quarter', time_zone: 'Asia/Kathmandu' };
      expect(await chat(own.key)).toBe('200');
      const name = `Small of the ${scope}`;
      const made = await done(owner, 'POST', '/v1/budgets', { ...of, name, amount_usd: '0.000000001' });
      const path = `/v1/budgets/${String(made.id)}`;
      await eventually(async () => Number((await done(owner, 'GET', path)).spent_usd) > 0);
      const send = () =>
        ask(gateway, 'POST', '/v1/chat/completions', {
          key: own.key,
          body: { model: 'simulator/chat', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] },
        });
      const refused = await send();
      expect([refused.status, refused.headers.get('x-should-retry'), refused.body.error]).toEqual([
        402,
        'false',
        expect.objectContaining({
          code: 'spend_limit_exceeded',
          budget_id: made.id,
          message: expect.stringContaining(`budget "${name}" of 0.000000001 USD`),
        }),
      ]);
      const until = new Date(Date.now() + 3_600_000).toISOString();
      await done(owner, 'POST', `${path}/raise`, { by_usd: '1', until });
      expect(await chat(own.key)).toBe('200');
      await done(owner, 'DELETE', `${path}/raise`);
      expect(await chat(own.key)).toBe('402 spend_limit_exceeded');
      await done(owner, 'DELETE', path);
      expect(await chat(own.key)).toBe('200');
    },
  );

  it.each(KINDS)('LIM-07 %s: 422 above the ceiling of the tier, naming the field', async (scope) => {
    for (const [field, value] of [
      ['rpm_limit', 1_001],
      ['rpd_limit', 1_000_001],
    ] as const) {
      const answer = await owner.call(scope === 'team_member' ? 'PUT' : 'PATCH', scopes[scope](), {
        [field]: value,
      });
      const { error } = (await answer.json()) as Body;
      expect([answer.status, error.details[0].loc]).toEqual([422, [field]]);
    }
  });

  it.each(KINDS)('ORG-10 %s: a model must pass its lists too, and exclusion wins', async (scope) => {
    await set(scope, { allowed_models: ['simulator/chat'] });
    expect(await Promise.all([chat(own.key), chat(own.key, 'simulator/claude')])).toEqual([
      '200',
      '404 model_not_found',
    ]);
    await set(scope, { allowed_models: ['simulator/*'], blocked_models: ['simulator/chat'] });
    expect(await Promise.all([chat(own.key), chat(own.key, 'simulator/claude')])).toEqual([
      '403 model_excluded',
      '200',
    ]);
    await set(scope, UNLIMITED);
  });

  it('KEY-14 model_limits bind requests for that model only, the exact id before the wildcard', async () => {
    const model_limits = { 'simulator/*': { rpd: 1 }, 'simulator/claude': { rpd: 2 } };
    const { key } = await member.createKey('model limits', { model_limits });
    const claude = (): Promise<string> => chat(key, 'simulator/claude');
    expect([await chat(key), await chat(key)]).toEqual(['200', '429 rate_limit_exceeded']);
    expect([await claude(), await claude(), await claude()]).toEqual([
      '200',
      '200',
      '429 rate_limit_exceeded',
    ]);
  });

  it('LIM-28 LIM-29 a member’s limits are used up for everyone who holds one of their keys, and for nobody else', async () => {
    const second = await member.createKey('another of the member');
    await set('member', { spend_cap_usd: '0.000001' });
    // What the member has spent before counts too: the last 30 days.
    const refused = '402 spend_limit_exceeded';
    expect([await chat(own.key), await chat(second.key), await chat(ownersKey)]).toEqual([
      refused,
      refused,
      '200',
    ]);
    await set('member', { ...UNLIMITED, rpd_limit: await usedToday('member') });
    const limited = '429 rate_limit_exceeded';
    expect([await chat(own.key), await chat(second.key), await chat(ownersKey)]).toEqual([
      limited,
      limited,
      '200',
    ]);
    await set('member', UNLIMITED);
  });

  it('ORG-09 READ-48 one balance for the organization: what one key spends every other one has less', async () => {
    const balance = async (key: string): Promise<string> =>
      (await ask(gateway, 'GET', '/v1/balance', { key })).body.balance_usd as string;
    const before = await balance(ownersKey);
    expect(await chat(own.key)).toBe('200');
    const after = await balance(ownersKey);
    expect(Number(after)).toBeLessThan(Number(before));
    const seen = await done(member, 'GET', `/v1/balance?org_id=${owner.orgId}`);
    expect([await balance(own.key), seen.balance_usd]).toEqual([after, after]);
  });

  it('LIM-30 a key goes on counting against its creator after they have left, until it is revoked', async () => {
    const left = (await usedToday('member')) + 1;
    await set('member', { rpd_limit: left });
    await done(owner, 'DELETE', scopes.member());
    expect([await chat(own.key), await chat(own.key)]).toEqual(['200', '429 rate_limit_exceeded']);
    expect((await done(owner, 'GET', `/v1/keys/${own.id}/limits`)).binding.rpd).toBe('member');
    await done(owner, 'DELETE', `/v1/keys/${own.id}`);
    expect(await chat(own.key)).toBe('403 forbidden');
  });
});
