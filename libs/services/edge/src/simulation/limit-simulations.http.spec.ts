import { createHmac } from 'node:crypto';
import type {
  BudgetGrant,
  KeyPrincipal,
  LimitSimulation,
  PutUnit,
  ScopeKind,
  ScopeLimits,
} from '@gateway/contracts';
import { SettlementQueue } from '@gateway/limits';
import { keyPrincipal, modelAccess, scopeLimits, sessionPrincipal } from '@gateway/testing';
import fc from 'fast-check';
import { Settling } from '../admission/settling.js';
import { keyScope, startEdge, testModel, type EdgeUnderTest, type Json } from '../edge.fixture.js';

const OWNER = 'eyJ.owner.x';
const PATH = '/v1/limits/simulate';

let edge: EdgeUnderTest;
let keys = 0;

beforeAll(async () => {
  edge = await startEdge({
    models: [
      testModel('simulator/free', [{ provider: 'simulated', upstreamModel: 'sim-chat', price: '0' }], {
        is_free: true,
      }),
    ],
  });
  const owner = { orgId: 'org_test', role: 'owner' as const, teams: [] };
  // One account for each key, so that runs do not share counters.
  const accounts = Array.from({ length: 400 }, (_, n) => `acct_${n}`);
  const memberships = accounts.map((accountId) => ({ ...owner, accountId }));
  edge.principals.add(OWNER, sessionPrincipal({ userId: 'usr_owner', accountId: 'acct_own', memberships }));
});

afterAll(() => edge?.close());

interface Made {
  principal: KeyPrincipal;
  secret: string;
}

function newKey(more: Partial<KeyPrincipal> = {}): Made {
  keys += 1;
  const keyId = `key_${keys}`;
  const principal = keyPrincipal({
    keyId,
    accountId: `acct_${keys}`,
    orgId: 'org_test',
    teamId: 'team_1',
    createdBy: 'usr_1',
    endUserKey: Buffer.alloc(32, 1).toString('base64'),
    ...more,
    limits: more.limits?.map((scope) => (scope.kind === 'key' ? { ...scope, id: keyId } : scope)) ?? [
      keyScope(keyId),
    ],
  });
  return { principal, secret: edge.addKey(principal) };
}

async function simulate(
  keyId: string,
  more: Json = {},
  as = OWNER,
): Promise<{ status: number; body: LimitSimulation & Json }> {
  const body = { key_id: keyId, model: 'simulator/chat', prompt_tokens: 10, max_tokens: 20, ...more };
  const response = await edge.post(body, { path: PATH, key: as });
  return { status: response.status, body: (await response.json()) as LimitSimulation & Json };
}

function chat(secret: string, model: string): Promise<Response> {
  return edge.post(
    { model, max_tokens: 20, messages: [{ role: 'user', content: 'x'.repeat(40) }] },
    { key: secret },
  );
}

describe('POST /v1/limits/simulate', () => {
  it('LIM-23 shows every limit that is set in the order of checking, with prices, and counts nothing', async () => {
    const { principal, secret } = newKey({
      limits: [
        keyScope('', { rpm: 5, rpd: 50, spendCapUsd: '1' }),
        scopeLimits('team_member', 'team_1/usr_1', { rpd: 9 }),
        scopeLimits('member', 'usr_1', { tpm: 1_000 }),
        scopeLimits('org', 'org_test', { rpm: 2 }),
      ],
      modelLimits: { 'simulator/*': { rpm: 3 } },
    });
    const check = (
      scope: string,
      scope_id: string,
      metric: string,
      limit: unknown,
      current: unknown = 0,
    ) => ({
      scope,
      scope_id,
      team_id: null as string | null,
      counter: null,
      metric,
      current,
      limit,
      refuses: false,
    });
    const { keyId, accountId } = principal;
    const fresh = {
      admitted: true,
      code: null,
      checks: [
        check('key', keyId, 'rpm', 5),
        check('key', keyId, 'rpd', 50),
        check('key', keyId, 'spend_cap', '1', '0'),
        { ...check('key', keyId, 'rpm', 3), counter: 'm:simulator/*' },
        // B4: people by their own id, the team beside it.
        { ...check('team_member', 'usr_1', 'rpd', 9), team_id: 'team_1' },
        check('member', 'usr_1', 'tpm', 1_000),
        check('org', 'org_test', 'rpm', 2),
        check('account', accountId, 'balance', '0', '100'),
      ],
      price_usd: '0.00005',
      reserve_usd: '0.00005',
    };
    for (let n = 0; n < 3; n += 1) expect((await simulate(keyId)).body).toEqual(fresh);
    expect((await chat(secret, 'simulator/chat')).status).toBe(200);
    expect((await chat(secret, 'simulator/chat')).status).toBe(200);
    const { body } = await simulate(keyId);
    expect([body.admitted, body.code]).toEqual([false, 'rate_limit_exceeded']);
    expect(body.checks.filter(({ refuses }) => refuses)).toEqual([
      { ...check('org', 'org_test', 'rpm', 2, 2), refuses: true },
    ]);
    expect((await chat(secret, 'simulator/chat')).status).toBe(429);
  });

  it.each<[string, Partial<KeyPrincipal>, Json, string]>([
    ['a suspended key', { status: 'suspended' }, {}, 'forbidden'],
    ['a key past its end', { expiresAtMs: 1 }, {}, 'unauthorized'],
    ['a missing scope', { permissions: ['models:read'] }, {}, 'forbidden'],
    ['an unknown model', {}, { model: 'simulator/none' }, 'model_not_found'],
    ['a block-list', { access: [modelAccess('team', null, ['simulator/*'])] }, {}, 'model_excluded'],
    ['an allow-list', { access: [modelAccess('org', ['openai/*'], null)] }, {}, 'model_not_found'],
    ['a pinned provider', { fixedProvider: 'openai' }, {}, 'model_not_available_on_pinned_provider'],
  ])('names the refusal before limits: %s', async (_name, more, body, code) => {
    const { principal } = newKey(more);
    const refused = { admitted: false, code, checks: [], price_usd: null, reserve_usd: null };
    expect((await simulate(principal.keyId, body)).body).toEqual(refused);
  });

  it('AUTH-04 K14 is for who may look at the key: 404 alike for others and unknown, 403 for the key itself', async () => {
    const { principal, secret } = newKey();
    const as = (name: string, more: Parameters<typeof sessionPrincipal>[0]): string => {
      edge.principals.add(name, sessionPrincipal(more));
      return name;
    };
    const membership = { orgId: 'org_test', accountId: principal.accountId, teams: [] };
    const member = as('eyJ.member.x', {
      userId: 'usr_2',
      memberships: [{ ...membership, role: 'member' }],
    });
    const creator = as('eyJ.creator.x', {
      userId: 'usr_1',
      memberships: [{ ...membership, role: 'member' }],
    });
    const admin = as('eyJ.admin.x', { userId: 'usr_3', memberships: [{ ...membership, role: 'admin' }] });
    const outsider = as('eyJ.outsider.x', { userId: 'usr_4' });
    const status = async (who: string, id = principal.keyId) => (await simulate(id, {}, who)).status;
    expect(await Promise.all([OWNER, admin, creator].map((who) => status(who)))).toEqual([200, 200, 200]);
    expect(await Promise.all([member, outsider].map((who) => status(who)))).toEqual([404, 404]);
    expect(await status(OWNER, 'key_none')).toBe(404);
    expect(await status(secret)).toBe(403);
  });

  it('422 names what is wrong; 503 while the ledger is away', async () => {
    const { principal } = newKey({ limits: [keyScope('', { spendCapUsd: '1' })] });
    const fault = async (body: Json): Promise<string[]> => {
      const answer = await simulate(principal.keyId, body);
      expect(answer.status).toBe(422);
      const { details } = answer.body.error as { details: { loc: string[] }[] };
      return [...new Set(details.map(({ loc }) => loc[0]))];
    };
    expect(await fault({ prompt_tokens: -1 })).toEqual(['prompt_tokens']);
    expect(await fault({ max_tokens: '5' })).toEqual(['max_tokens']);
    expect(await fault({ tokens: 5 })).toEqual(['tokens']);
    edge.funds.isUnavailable = true;
    expect((await simulate(principal.keyId)).status).toBe(503);
    edge.funds.isUnavailable = false;
  });

  it('LIM-21 LIM-23 R02 200 generated requests get what their simulation said', async () => {
    const limit = fc.option(fc.integer({ min: 1, max: 4 }), { freq: 3, nil: null });
    const cap = fc.oneof(
      { weight: 8, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom('0', '0.0001', '1') },
    );
    const scope = fc.record({
      rpm: limit,
      rpd: limit,
      tpm: fc.option(fc.constantFrom(20, 60, 90, 5_000)),
      cap,
    });
    const lists = fc.option(fc.constantFrom<string[]>(['simulator/*'], ['simulator/chat'], ['openai/*']), {
      freq: 6,
    });
    const kinds: ScopeKind[] = ['key', 'team_member', 'member', 'team', 'org'];
    const world = fc.record({
      scopes: fc.array(scope, { minLength: 5, maxLength: 5 }),
      lists: fc.record({ allowed: lists, blocked: lists }),
      spent: fc.constantFrom('0', '0.00005', '0', '2'),
      balanceNano: fc.constantFrom(60_000n, 100_000_000_000n, 100_000_000_000n, 100_000_000_000n),
      modelRpm: limit,
      model: fc.constantFrom('simulator/chat', 'simulator/free', 'simulator/chat', 'simulator/none'),
      before: fc.nat(3),
    });
    const codes = new Set<string>();
    const property = fc.asyncProperty(
      world,
      async ({ scopes, lists: of, spent, balanceNano, modelRpm, model, before }) => {
        edge.funds.balanceNano = balanceNano;
        const limits = kinds.map((kind, at): ScopeLimits => {
          const { rpm, rpd, tpm, cap: spendCapUsd } = scopes[at];
          return scopeLimits(kind, `${kind}_${keys}`, { rpm, rpd, tpm, spendCapUsd });
        });
        const { principal, secret } = newKey({
          limits,
          access: [modelAccess('member', of.allowed, of.blocked)],
          modelLimits: modelRpm === null ? {} : { 'simulator/chat': { rpm: modelRpm } },
        });
        for (const { kind, id } of principal.limits) edge.funds.spentByScope.set(`${kind} ${id}`, spent);
        for (let n = 0; n < before; n += 1) await (await chat(secret, model)).text();
        const minute = Math.floor(Date.now() / 60_000);
        const { body } = await simulate(principal.keyId, { model });
        const real = await chat(secret, model);
        const answer = (await real.json()) as { error?: { code: string; message: string } };
        if (Math.floor(Date.now() / 60_000) !== minute) return;
        codes.add(body.code ?? 'ok');
        expect([body.admitted, body.code]).toEqual([real.status === 200, answer.error?.code ?? null]);
        const first = body.checks.find(({ refuses }) => refuses);
        expect(first !== undefined).toBe(!body.admitted && body.checks.length > 0);
      },
    );
    await fc.assert(property, { numRuns: 200, endOnFailure: true });
    expect([...codes].sort()).toEqual(
      expect.arrayContaining(['ok', 'rate_limit_exceeded', 'spend_limit_exceeded', 'model_excluded']),
    );
  });

  it('settles nothing of its own, also where what has ended would use up what is left', async () => {
    const limits = [keyScope('key_ended', { spendCapUsd: '5' })];
    const { principal } = newKey({ limits });
    const sent: PutUnit[] = [];
    const put = edge.limits.put.bind(edge.limits);
    edge.limits.put = async (units) => {
      sent.push(...units);
      return put(units);
    };
    try {
      const { accountId, keyId } = principal;
      edge.app.app.get(Settling).add({ accountId, unit: 'req_ended/0', nano: 6_000_000_000 });
      const { status, body } = await simulate(keyId);
      expect([status, body.admitted]).toEqual([200, true]);
      // Behind it, so that all of it has been sent.
      await edge.app.app.get(SettlementQueue).delivered();
      expect(sent.filter((unit) => unit.accountId === accountId)).toEqual([]);
    } finally {
      edge.limits.put = put;
    }
  });

  it('shows the budgets of the tags and the end user that the request would carry, and no others', async () => {
    const hash = createHmac('sha256', Buffer.alloc(32, 1)).update('alice').digest('base64url');
    const budget = (id: string, scope: 'tag' | 'end_user', scopeId: string): BudgetGrant => ({
      ...{ id, name: id, scope, scopeId, amountUsd: '1', raise: null },
      ...{ period: 'day', timeZone: 'UTC', countedFromMs: 7 },
    });
    const { principal } = newKey({
      carriedBudgets: [
        ...[budget('bud_a', 'tag', 'project=a'), budget('bud_b', 'tag', 'project=b')],
        budget('bud_alice', 'end_user', hash),
      ],
    });
    const counters = async (more: Json): Promise<unknown[]> => {
      const { body } = await simulate(principal.keyId, more);
      return body.checks.filter(({ metric }) => metric === 'budget').map(({ counter }) => counter);
    };
    expect(await counters({})).toEqual([]);
    expect(await counters({ request_tags: { project: 'a' } })).toEqual(['bud_a']);
    expect(await counters({ request_tags: { project: 'c' }, end_user_id: 'alice' })).toEqual(['bud_alice']);
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`t${n}`, 'x']));
    for (const request_tags of [many, { a: 1 }, { a: 'x'.repeat(513) }])
      expect((await simulate(principal.keyId, { request_tags })).status).toBe(422);
  });
});
