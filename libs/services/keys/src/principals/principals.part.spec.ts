import type { KeyPrincipal, SessionPrincipal } from '@gateway/contracts';
import { mintSecret, secretDigest, SystemRandom } from '@gateway/platform';
import { clock, keys } from '../fixed-clock.fixture.js';
import { FLEET_TOKEN, type Answer } from '../keys-app.fixture.js';
import { LastUsed } from './last-used.js';

async function created(body: object): Promise<{ id: string; key: string }> {
  const answer = await keys.call('POST', '/v1/keys', { as: await signedIn(), body });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return { id: String(answer.body.id), key: String(answer.body.key) };
}

const own = (key: string): Promise<Answer> => keys.call('GET', '/v1/key', { as: key });
const ids = { org: '', team: 'team_1' };

/** An org with limits on every scope, and a key of its owner in a team. */
async function keyUnderLimits(): Promise<{ id: string; key: string; orgId: string; accountId: string }> {
  const { orgId, accountId } = await keys.org(keys.admin);
  const { prisma } = keys.database;
  const at = { created_at: new Date(0), updated_at: new Date(0) };
  const user_id = keys.admin.userId;
  const team = orgId.replace('org', 'team');
  await prisma.org.update({
    where: { id: orgId },
    data: { rpm_limit: 50, spend_cap_usd: '100', blocked_models: ['a/b'] },
  });
  await prisma.membership.update({
    where: { org_id_user_id: { org_id: orgId, user_id } },
    data: { rpd_limit: 500, tpm_limit: 7_000 },
  });
  await prisma.team.create({
    data: { id: team, org_id: orgId, name: 'T', rpm_limit: 40, spend_cap_usd: '9.5', ...at },
  });
  await prisma.teamMember.create({
    data: { team_id: team, user_id, allowed_models: ['a/*'], rpm_limit: 45, created_at: at.created_at },
  });
  const made = await created({
    org_id: orgId,
    team_id: team,
    rpm: 60,
    spend_cap_usd: '20',
    allowed_models: ['a/c'],
  });
  ids.team = team;
  return { ...made, orgId, accountId };
}

describe('who an rsk_ key is', () => {
  // Other parts have moved the clock on, past the end of the first session.
  beforeAll(async () => {
    keys.admin = await keys.signedIn(keys.admin.userId);
  });
  it('AUTH-14 AUTH-15 AUTH-16 KEY-36 401 unauthorized for a missing, malformed, mistyped and nonexistent key', async () => {
    const { key } = await created({});
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (const text of [
      undefined,
      'rsk_short',
      'nonsense',
      mistyped,
      mintSecret('rsk_', new SystemRandom()),
    ]) {
      const answer = await keys.call('GET', '/v1/key', { as: text });
      expect([text, answer.status, answer.body.error]).toEqual([
        text,
        401,
        expect.objectContaining({ code: 'unauthorized' }),
      ]);
    }
    expect((await own(key)).status).toBe(200);
  });

  it('AUTH-19 ST-03 a suspended key is 403 from the answer of its DELETE on', async () => {
    const { id, key } = await created({});
    expect((await own(key)).status).toBe(200);
    await keys.call('DELETE', `/v1/keys/${id}`, { as: await signedIn() });
    expect([(await own(key)).status, (await own(key)).body.error]).toEqual([
      403,
      expect.objectContaining({ code: 'forbidden' }),
    ]);
  });

  it('AUTH-17 KEY-42 K12 a rotated-out secret works for its grace to the second, then it is 401', async () => {
    const { id, key } = await created({});
    const rotated = await keys.call('POST', `/v1/keys/${id}/rotate`, {
      as: keys.admin,
      body: { grace_seconds: 60 },
    });
    expect([(await own(key)).status, (await own(String(rotated.body.key))).status]).toEqual([200, 200]);
    await clock.advance(59_999);
    expect((await own(key)).status).toBe(200);
    await clock.advance(1);
    expect((await own(key)).status).toBe(401);
    const again = await keys.call('POST', `/v1/keys/${id}/rotate`, { as: await signedIn(), body: {} });
    expect((await own(String(rotated.body.key))).status).toBe(401);
    expect((await own(String(again.body.key))).body.masked_key).toBe(again.body.masked_key);
  });

  it('KEY-37 `last_used_at` moves when a key is used, and not when a suspended one is tried', async () => {
    const { id, key } = await created({});
    const lastUsed = keys.app.get(LastUsed, { strict: false });
    await lastUsed.flush();
    expect((await own(key)).body.last_used_at).toBeNull();
    const usedAt = new Date(clock.now()).toISOString();
    await lastUsed.flush();
    await keys.call('DELETE', `/v1/keys/${id}`, { as: await signedIn() });
    await clock.advance(60_000);
    expect((await own(key)).status).toBe(403);
    await lastUsed.flush();
    const { last_used_at: stored } = await keys.database.prisma.apiKey.findUniqueOrThrow({ where: { id } });
    expect(stored?.toISOString()).toBe(usedAt);
  });

  it('KEY-37 K12 a key is unknown from its expires_at on', async () => {
    const expires_at = new Date(clock.now() + 10_000).toISOString();
    const { key } = await created({ expires_at });
    await clock.advance(9_999);
    expect((await own(key)).status).toBe(200);
    await clock.advance(1);
    expect((await own(key)).status).toBe(401);
  });
});

/** The session of the fixture ends with its token; the clock has moved on. */
async function signedIn(): Promise<string> {
  const { email, password } = keys.first.admin;
  return String((await keys.call('POST', '/auth/login', { body: { email, password } })).body.token);
}

it('K14 POST /internal/principals/by-id answers a key of the accounts that are named, whatever its status', async () => {
  const { id, key, accountId } = await keyUnderLimits();
  const read = (account_ids: string[], key_id: unknown = id): Promise<Answer> =>
    keys.call('POST', '/internal/principals/by-id', {
      body: { key_id, account_ids },
      headers: { 'x-fleet-token': FLEET_TOKEN },
    });
  const resolved = await keys.call('POST', '/internal/principals/resolve', {
    body: { kind: 'key', digest: secretDigest(key) },
    headers: { 'x-fleet-token': FLEET_TOKEN },
  });
  expect((await read(['acct_none', accountId])).body).toEqual(resolved.body);
  for (const answer of [await read([]), await read(['acct_none']), await read([accountId], 'key_none')])
    expect([answer.status, answer.body.error]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
  await keys.database.prisma.apiKey.update({ where: { id: String(id) }, data: { status: 'suspended' } });
  expect((await read([accountId])).body.status).toBe('suspended');
});

describe('POST /internal/principals/resolve', () => {
  const resolve = (key: string, headers: Record<string, string> = {}): Promise<Answer> =>
    keys.call('POST', '/internal/principals/resolve', {
      body: { kind: 'key', digest: secretDigest(key) },
      headers: { 'x-fleet-token': FLEET_TOKEN, ...headers },
    });

  it('LIM-21 LIM-22 answers limits and lists of every scope, with the version they were read at', async () => {
    const { id, key, orgId, accountId } = await keyUnderLimits();
    const principal = (await resolve(key)).body as unknown as KeyPrincipal;
    const none = {
      rpm: null,
      rpd: null,
      tpm: null,
      spendCapUsd: null,
      isDefault: { rpm: false, rpd: false, tpm: false },
    };
    expect(principal).toMatchObject({
      kind: 'key',
      keyId: id,
      orgId,
      accountId,
      creditLimitUsd: '0',
      status: 'active',
    });
    expect(principal.limits).toEqual([
      {
        kind: 'key',
        id,
        rpm: 60,
        rpd: 10_000,
        tpm: 1_000_000,
        spendCapUsd: '20',
        isDefault: { rpm: false, rpd: true, tpm: true },
      },
      { ...none, kind: 'team_member', id: `${ids.team}/${keys.admin.userId}`, rpm: 45 },
      { ...none, kind: 'member', id: keys.admin.userId, rpd: 500, tpm: 7_000 },
      { ...none, kind: 'team', id: ids.team, rpm: 40, spendCapUsd: '9.5' },
      { ...none, kind: 'org', id: orgId, rpm: 50, spendCapUsd: '100' },
    ]);
    expect(principal.access).toEqual([
      { kind: 'key', allowed: ['a/c'], blocked: null },
      { kind: 'team_member', allowed: ['a/*'], blocked: null },
      { kind: 'org', allowed: null, blocked: ['a/b'] },
    ]);
    const account = await keys.database.prisma.account.findUniqueOrThrow({ where: { id: accountId } });
    expect(principal.accountVersion).toBe(account.version);
  });

  it('RT-03 ERR-38 names what was set for realtime of the organization, and nothing where nothing was', async () => {
    const { key, orgId } = await keyUnderLimits();
    const realtimeOf = async (): Promise<unknown> =>
      ((await resolve(key)).body as unknown as KeyPrincipal).realtime;
    expect(await realtimeOf()).toBeUndefined();
    const body = { realtime_max_sessions: 2, realtime_max_seconds: 60 };
    const as = keys.admin;
    expect((await keys.call('PATCH', `/v1/orgs/${orgId}`, { as, body })).status).toBe(200);
    expect(await realtimeOf()).toEqual({ enabled: true, maxSessions: 2, maxSeconds: 60, maxTokens: null });
    await keys.call('PATCH', `/v1/orgs/${orgId}`, { as, body: { realtime_enabled: false } });
    expect(await realtimeOf()).toMatchObject({ enabled: false });
  });

  it('LIM-30 the key keeps counting against its creator who has left', async () => {
    const { key, orgId } = await keyUnderLimits();
    const org_id_user_id = { org_id: orgId, user_id: keys.admin.userId };
    await keys.database.prisma.membership.update({
      where: { org_id_user_id },
      data: { removed_at: new Date(0) },
    });
    const { limits } = (await resolve(key)).body as unknown as KeyPrincipal;
    expect(limits.find(({ kind }) => kind === 'member')).toMatchObject({ id: keys.admin.userId, rpd: 500 });
  });

  it('304 while nothing has changed, 200 with another tag after a change', async () => {
    const { id, key } = await created({});
    const first = await resolve(key);
    const etag = String(first.headers.etag);
    const unchanged = await resolve(key, { 'if-none-match': etag });
    expect([unchanged.status, unchanged.text]).toEqual([304, '']);
    await keys.call('PATCH', `/v1/keys/${id}`, { as: await signedIn(), body: { label: 'other' } });
    const changed = await resolve(key, { 'if-none-match': etag });
    expect([changed.status, changed.body.label]).toEqual([200, 'other']);
    expect(Number(changed.body.accountVersion)).toBeGreaterThan(Number(first.body.accountVersion));
  });

  it('KEY-19 a key follows the policy of its template', async () => {
    const { orgId } = keys.first;
    const at = { created_at: new Date(0), updated_at: new Date(0), name: 't' };
    const routing_policy = { max_retries: 0 };
    await keys.database.prisma.routingPolicyTemplate.create({
      data: { id: 'rpt_9', org_id: orgId, routing_policy, ...at },
    });
    const body = { org_id: orgId, routing_policy_template_id: 'rpt_9' };
    const { body: made } = await keys.call('POST', '/v1/keys', { as: await signedIn(), body });
    expect((await resolve(String(made.key))).body.routingPolicy).toEqual(routing_policy);
  });

  it('answers a session with the limits of each org and of the person in it, and 422 where the body is no credential', async () => {
    const headers = { 'x-fleet-token': FLEET_TOKEN };
    const token = await signedIn();
    const ask = (body: object): Promise<Answer> =>
      keys.call('POST', '/internal/principals/resolve', { body, headers });
    expect((await ask({ kind: 'session', token })).body).toMatchObject({
      kind: 'session',
      isSuperAdmin: true,
    });
    const { orgId } = await keyUnderLimits();
    const session = (await ask({ kind: 'session', token: await signedIn() }))
      .body as unknown as SessionPrincipal;
    const limits = session.memberships.find((held) => held.orgId === orgId)?.limits;
    expect(limits).toEqual([
      expect.objectContaining({ kind: 'member', id: keys.admin.userId, rpm: null, rpd: 500, tpm: 7_000 }),
      expect.objectContaining({ kind: 'org', id: orgId, rpm: 50, rpd: null, spendCapUsd: '100' }),
    ]);
    expect((await ask({ kind: 'session' })).status).toBe(422);
    expect((await ask({ kind: 'key', digest: 'short' })).status).toBe(422);
  });

  it('issue 37 names the providers of the enabled provider keys of the person and of the orgs that they are in', async () => {
    const { prisma } = keys.database;
    const { orgId, accountId } = await keyUnderLimits();
    const person = { user_id: keys.admin.userId };
    const { id: own } = await prisma.account.findFirstOrThrow({ where: person });
    const sealed = { sealed_credentials: Buffer.alloc(1), wrapped_key: Buffer.alloc(1), kek_id: 'k' };
    const times = { created_at: new Date(0), updated_at: new Date(0) };
    const add = (account_id: string, provider: string, is_enabled = true): Promise<unknown> =>
      prisma.providerKey.create({
        data: {
          ...{ id: `pk_${provider}`, account_id, provider, is_enabled, created_by: keys.admin.userId },
          ...{ masked_credential: 'x', ...sealed, ...times },
        },
      });
    await add(own, 'mistral');
    await add(own, 'groq', false);
    await add(accountId, 'openai');
    await add('acct_other', 'cohere');
    const headers = { 'x-fleet-token': FLEET_TOKEN };
    const named = async (): Promise<unknown> => {
      const body = { kind: 'session', token: await signedIn() };
      return (await keys.call('POST', '/internal/principals/resolve', { body, headers })).body.keyedProviders;
    };
    expect(await named()).toEqual(['mistral', 'openai']);
    await prisma.membership.update({
      where: { org_id_user_id: { org_id: orgId, ...person } },
      data: { removed_at: new Date(0) },
    });
    expect(await named()).toEqual(['mistral']);
  });

  it('KEY-36 answers several new keys at once, each as alone, and null for what it does not know', async () => {
    const headers = { 'x-fleet-token': FLEET_TOKEN };
    const many = [await created({}), await keyUnderLimits()].map(({ key }) => key);
    const ended = await created({ expires_at: new Date(clock.now() + 1_000).toISOString() });
    const unknown = mintSecret('rsk_', new SystemRandom());
    await clock.advance(1_000);
    const digests = [unknown, ...many, ended.key, many[0]].map(secretDigest);
    const answer = await keys.call('POST', '/internal/principals/keys', { body: { digests }, headers });
    const alone = await Promise.all(many.map(async (key) => resolve(key)));
    const [first, second] = alone.map(({ body, headers: { etag } }) => ({ principal: body, etag }));
    expect(answer.body).toEqual({ keys: [null, first, second, null, first] });
    const tooMany = { digests: Array.from({ length: 65 }, () => digests[0]) };
    const ask = (body: object): Promise<Answer> =>
      keys.call('POST', '/internal/principals/keys', { body, headers });
    expect((await ask(tooMany)).status).toBe(422);
    expect((await ask({ digests: [unknown] })).status).toBe(422);
  });

  it('503 and never 401 while the database cannot be asked', async () => {
    const { key } = await created({});
    const broken = await startBroken();
    const answer = await broken(key);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, expect.stringMatching(/^[1-5]$/)]);
    expect((await resolve(key)).status).toBe(200);
  });

  /** The same look-up while the table cannot be read. */
  async function startBroken(): Promise<(key: string) => Promise<Answer>> {
    return async (key) => {
      await keys.database.prisma.$executeRawUnsafe('ALTER TABLE api_key RENAME TO api_key_away');
      try {
        return await resolve(key);
      } finally {
        await keys.database.prisma.$executeRawUnsafe('ALTER TABLE api_key_away RENAME TO api_key');
      }
    };
  }
});

describe('GET /v1/keys/{id}/limits and GET /v1/key', () => {
  it('KEY-23 KEY-30 KEY-43 LIM-23 LIM-24 answers every scope, the smallest of each metric and which scope holds it', async () => {
    const { id } = await keyUnderLimits();
    keys.funds.spentByScope.set(`team ${ids.team}`, '3.5');
    const { body } = await keys.call('GET', `/v1/keys/${id}/limits`, { as: await signedIn() });
    const none = { rpm_limit: null, rpd_limit: null, tpm_limit: null, spend_cap_usd: null, spent_usd: '0' };
    expect(body).toEqual({
      key_id: id,
      rpm_limit: 60,
      rpd_limit: null,
      tpm_limit: null,
      spend_cap_usd: '20',
      scopes: {
        key: { rpm_limit: 60, rpd_limit: 10_000, tpm_limit: 1_000_000, spend_cap_usd: '20', spent_usd: '0' },
        team_member: { ...none, rpm_limit: 45 },
        member: { ...none, rpd_limit: 500, tpm_limit: 7_000 },
        team: { ...none, rpm_limit: 40, spend_cap_usd: '9.5', spent_usd: '3.5' },
        org: { ...none, rpm_limit: 50, spend_cap_usd: '100' },
      },
      effective_rpm_limit: 40,
      effective_rpd_limit: 500,
      effective_tpm_limit: 7_000,
      effective_spend_cap_usd: '9.5',
      binding: { rpm: 'team', rpd: 'member', tpm: 'member', spend_cap: 'team', budget: null },
      budgets: [],
    });
  });

  it('GET /v1/key answers its own record without secret, with what is left, also while the ledger is away', async () => {
    const { id, key } = await created({ label: 'self', rpm: 10, spend_cap_usd: '2' });
    keys.funds.spentByScope.set(`key ${id}`, '0.5');
    const { status, body, text } = await own(key);
    expect(status).toBe(200);
    expect(text).not.toContain(key);
    expect(body).toMatchObject({ id, label: 'self', spent_usd: '0.5', limits: { effective_rpm_limit: 10 } });
    expect(body.remaining).toEqual({ rpm: 10, rpd: 10_000, tpm: null, spend_usd: '1.5' });
    keys.funds.isUnavailable = true;
    const away = await own(key);
    keys.funds.isUnavailable = false;
    expect([away.status, away.body.spent_usd]).toEqual([200, null]);
  });
});
