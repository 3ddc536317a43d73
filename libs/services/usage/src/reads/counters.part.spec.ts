import { eventually, scopeLimits, sessionPrincipal, usageRecord } from '@gateway/testing';
import { unitScopes } from '@gateway/limits';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { heldCounter, type AdmitRequest, type ScopeLimits, type UsageEventRecord } from '@gateway/contracts';
import { limitedKey } from '../usage.fixture.js';
import { app } from './all-reads.fixture.js';
import { secret } from './reads.fixture.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

const begin = (): Promise<unknown> =>
  emptyTables(app.database.pool, 'usage_slot, usage_hour, usage_day, usage_event, spend_hour, spend_total');

function admission(
  unit: string,
  reservationNano: bigint,
  limits: readonly ScopeLimits[] = [scopeLimits('key', 'key_1')],
): AdmitRequest {
  const scopes = limits.map(({ kind, id }) => ({ kind, id, rpm: null, rpd: null, tpm: null, capNano: null }));
  return {
    accountId: 'acct_1',
    accountVersion: 1,
    unitId: unit,
    scopes,
    extra: [],
    creditLimitNano: null,
    reservationNano,
    tokenEstimate: 40,
    leaseMs: 90_000,
  };
}

async function admit(unit: string, nano: bigint, limits?: readonly ScopeLimits[]): Promise<void> {
  const first = await app.limits.admit(admission(unit, nano, limits));
  if (first.kind === 'stale') {
    await app.limits.stamp('acct_1', 1, first.gen);
    await admit(unit, nano, limits);
    return;
  }
  expect(first.kind).toBe('ok');
}

const settle = (unit: string, nano: bigint) =>
  app.limits.put([
    {
      accountId: 'acct_1',
      unit,
      action: 'settle',
      nano,
      scopes: [{ kind: 'key', id: 'key_1' }],
      tokens: 40,
      tokenEstimate: 40,
      minute: 0,
      leaseMs: 0,
    },
  ]);

describe('what is never stale', () => {
  beforeEach(begin);

  it("READ-14 READ-15 READ-16 READ-17 READ-18 READ-47 LIM-04 LIM-19 shows the key's counters at once, and its scope alone", async () => {
    await admit('req_rates/0', 0n);
    const { status, body } = await app.call('GET', '/v1/usage/rate-limits', secret);
    expect(status).toBe(200);
    expect(Date.parse(body.as_of)).not.toBeNaN();
    const { key, ...above } = body.scopes;
    expect(above).toEqual({ team_member: null, member: null, team: null, org: null });
    const seconds = expect.any(Number);
    expect(key).toEqual({
      rpm: { current: 1, limit: 100, is_default_limit: true, pct: 1, resets_in_seconds: seconds },
      rpd: { current: 1, limit: 50, is_default_limit: false, pct: 2, resets_in_seconds: seconds },
      tpm: { current: 40, limit: 1_000_000, is_default_limit: true, pct: 0, resets_in_seconds: seconds },
    });
    expect(key.rpm.resets_in_seconds).toBeLessThanOrEqual(60);
    expect(key.rpd.resets_in_seconds).toBeLessThanOrEqual(86_400);
    await app.limits.put([{ ...(await cancelOf('req_rates/0')) }]);
  });

  it('READ-15 LIM-21 a session sees every scope of a key that it may look at, and of another one nothing', async () => {
    const limits = [
      scopeLimits('key', 'key_1', { rpm: 4 }),
      scopeLimits('team_member', 'team_1/usr_1', { rpd: 8 }),
      scopeLimits('member', 'usr_1', { tpm: 80 }),
      scopeLimits('team', 'team_1'),
      scopeLimits('org', 'org_1', { rpm: 2 }),
    ];
    app.principals.add(secret, limitedKey({ limits }));
    const person = (userId: string, role: 'owner' | 'member') =>
      sessionPrincipal({
        userId,
        memberships: [{ orgId: 'org_1', accountId: 'acct_1', role, teams: [], limits: limits.slice(2, 3) }],
      });
    app.principals.add('eyJ.owner.x', person('usr_0', 'owner'));
    app.principals.add('eyJ.creator.x', person('usr_1', 'member'));
    app.principals.add('eyJ.member.x', person('usr_2', 'member'));
    const ask = (as: string, query: string) => app.call('GET', `/v1/usage/rate-limits?${query}`, as);
    await admit('req_scopes/0', 0n, limits);
    for (const as of ['eyJ.owner.x', 'eyJ.creator.x']) {
      const { status, body } = await ask(as, 'key_id=key_1');
      expect(status).toBe(200);
      expect(body.scopes).toMatchObject({
        key: { rpm: { current: 1, limit: 4, pct: 25 } },
        team_member: { rpd: { current: 1, limit: 8 } },
        member: { tpm: { current: 40, limit: 80, pct: 50 } },
        team: { rpm: { current: 1, limit: null, is_default_limit: true, pct: 0 } },
        org: { rpm: { limit: 2, is_default_limit: false }, rpd: { limit: null, is_default_limit: true } },
      });
    }
    const manager = mintSecret('mak_', new SystemRandom());
    const ids = {
      keyId: 'mak_1',
      orgId: 'org_1',
      createdBy: 'usr_0',
      accountId: 'acct_1',
      accountVersion: 1,
    };
    const held = { scopes: ['usage:read'], limits: limits.slice(4), expiresAtMs: null };
    app.principals.add(manager, { kind: 'admin_key', ...ids, ...held });
    // R8: an admin key, and who is in one organization, need not name it.
    for (const query of ['org_id=org_1', ''])
      expect((await ask(manager, query)).body.scopes).toMatchObject({
        key: null,
        member: null,
        org: { rpm: { current: 1, limit: 2 }, rpd: { limit: null } },
      });
    expect((await ask(manager, 'org_id=org_2')).status).toBe(403);
    expect((await app.call('POST', '/v1/usage/rejections', manager, {})).status).toBe(200);
    expect((await ask('eyJ.member.x', '')).body.scopes).toMatchObject({ member: { tpm: { limit: 80 } } });
    const own = await ask('eyJ.member.x', 'org_id=org_1');
    expect(own.body.scopes).toMatchObject({ key: null, team: null, member: { tpm: { limit: 80 } } });
    // What is remembered of a session does not hear of its organization's limits.
    app.limits.versions.set('acct_own', 1);
    app.principals.cached.set('eyJ.owner.x', person('usr_0', 'owner'));
    const orgs = [
      { orgId: 'org_1', accountId: 'acct_1', role: 'owner' as const, teams: [], limits: limits.slice(4) },
    ];
    app.principals.add('eyJ.owner.x', sessionPrincipal({ userId: 'usr_0', memberships: orgs }));
    expect((await ask('eyJ.owner.x', 'org_id=org_1')).body.scopes).toMatchObject({
      org: { rpm: { limit: 2 } },
    });
    const refused = ['key_id=key_1', 'key_id=key_none'].map((query) => ask('eyJ.member.x', query));
    const elsewhere = ask('eyJ.owner.x', 'key_id=key_1&org_id=org_2');
    expect((await Promise.all([...refused, elsewhere])).map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await ask(secret, 'key_id=key_2')).body.scopes.org).toBeNull();
    await app.limits.put([{ ...(await cancelOf('req_scopes/0')), scopes: limits }]);
    app.principals.add(secret, limitedKey());
  });

  it('READ-19 READ-20 READ-21 READ-49 EDGE-03 a balance is posted less unposted, with what is reserved', async () => {
    const own = 'acct_1';
    await app.funds.credit({
      accountId: own,
      orgId: 'org_1',
      amountUsd: '10',
      kind: 'admin_grant',
      source: 'b',
    });
    const before = (await app.call('GET', '/v1/balance', secret)).body.balance_usd;
    await admit('req_open/0', 2_000_000_000n);
    await admit('req_done/0', 0n);
    await settle('req_done/0', 500_000_000n);
    const { body } = await app.call('GET', '/v1/balance', secret);
    const posted = await app.database.pool.query(
      "SELECT trim_scale(posted - 0.5)::text AS p FROM account WHERE id = 'acct_1'",
    );
    expect(body.balance_usd).toBe(posted.rows[0].p);
    expect(Number(before) - Number(body.balance_usd)).toBeCloseTo(0.5, 9);
    expect(body.reserved_usd).toBe('2');
    expect(body.reserved_breakdown).toEqual([{ kind: 'inference', reserved_usd: '2' }]);
    const available = await app.database.pool.query(
      "SELECT trim_scale(posted - 2.5)::text AS p FROM account WHERE id = 'acct_1'",
    );
    expect(body.available_usd).toBe(available.rows[0].p);
    expect(Date.parse(body.updated_at)).not.toBeNaN();
    await app.limits.put([await cancelOf('req_open/0')]);
    await app.post(usageRecord({ request_id: 'req_done', cost_usd: '0.5' }));
    expect((await app.call('GET', '/v1/balance', secret)).body.balance_usd).toBe(body.balance_usd);
  });

  it('READ-57 shows what realtime, batches and videos hold apart from ordinary requests', async () => {
    const kinds = ['realtime', 'batch', 'video'] as const;
    const amounts = { realtime: 1_000_000_000n, batch: 250_000_000n, video: 3_000_000_000n };
    const asked = kinds.map((kind) => ({
      ...admission(`req_${kind}/0`, amounts[kind]),
      extra: [{ name: heldCounter(kind), rpm: null, rpd: null, tpm: null }],
    }));
    await admit('req_plain/0', 2_000_000_000n);
    for (const one of asked) expect((await app.limits.admit(one)).kind).toBe('ok');
    const balance = async () => (await app.call('GET', '/v1/balance', secret)).body;
    const body = await balance();
    expect(body.reserved_usd).toBe('6.25');
    expect(body.reserved_breakdown).toEqual([
      { kind: 'inference', reserved_usd: '2' },
      { kind: 'realtime', reserved_usd: '1' },
      { kind: 'batch', reserved_usd: '0.25' },
      { kind: 'video', reserved_usd: '3' },
    ]);
    await app.limits.put([
      await cancelOf('req_plain/0'),
      ...(await Promise.all(
        asked.map(async (one) => ({ ...(await cancelOf(one.unitId)), scopes: unitScopes(one) })),
      )),
    ]);
    expect(await balance()).toMatchObject({ reserved_usd: '0', reserved_breakdown: [] });
  });

  it('READ-19 a unit that was put again after its posting does not count twice in the balance', async () => {
    const before = (await app.call('GET', '/v1/balance', secret)).body.balance_usd;
    await app.post(usageRecord({ request_id: 'req_twice', cost_usd: '0.25' }));
    await settle('req_twice/0', 250_000_000n);
    const { body } = await app.call('GET', '/v1/balance', secret);
    expect(Number(before) - Number(body.balance_usd)).toBeCloseTo(0.25, 9);
  });

  it('READ-19 a balance is never less than what was spent, whenever it is read while units are posted', async () => {
    const balance = async (): Promise<number> =>
      Number((await app.call('GET', '/v1/balance', secret)).body.balance_usd);
    const before = await balance();
    const reads: Promise<number>[] = [];
    for (let n = 0; n < 40; n += 1) {
      const request_id = `req_read_${n}`;
      await admit(`${request_id}/0`, 0n);
      await settle(`${request_id}/0`, 10_000_000n);
      const posted = app.post(usageRecord({ request_id, cost_usd: '0.01' }));
      reads.push(balance());
      await posted;
      // n + 1 units of a cent are finished, and none of them may count twice.
      expect(before - (await reads[n])).toBeLessThan(0.01 * (n + 1) + 1e-9);
    }
  });

  it.each([500_000_000n, 0n])(
    'LIM-19 a finished request of %s nano-USD shows in the next read, though its posting is under way',
    async (nano) => {
      const request_id = `req_fresh_${nano}`;
      await admit(`${request_id}/0`, nano);
      await settle(`${request_id}/0`, nano);
      const asked = app.call('POST', '/v1/usage/events', secret, { org_id: 'org_1' });
      // The read has begun and waits; only now the record comes out of the event log.
      await eventually(async () => (await app.limits.read('acct_1', [])).unpostedUnits === 1);
      await app.post(usageRecord({ request_id, cost_usd: nano === 0n ? '0' : '0.5' }));
      expect((await asked).body.events.map((event: UsageEventRecord) => event.request_id)).toEqual([
        request_id,
      ]);
    },
  );
});

async function cancelOf(unit: string) {
  return {
    accountId: 'acct_1',
    unit,
    action: 'cancel' as const,
    nano: 0n,
    scopes: [{ kind: 'key' as const, id: 'key_1' }],
    tokens: 0,
    tokenEstimate: 40,
    minute: 0,
    leaseMs: 0,
  };
}
