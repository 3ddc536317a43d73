import { eventually, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { mintSecret, SystemRandom } from '@gateway/platform';
import type { AdmitRequest, UsageEventRecord } from '@gateway/contracts';
import { limitedKey, MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';

const secret = mintSecret('rsk_', new SystemRandom());

let place: TestDatabase;
let app: UsageApp;

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
  app.principals.add(secret, limitedKey());
});
afterAll(async () => {
  await app.close();
  await place.drop();
});

beforeEach(() => app.database.pool.query('TRUNCATE usage_event, spend_hour, spend_total'));

function admission(unit: string, reservationNano: bigint): AdmitRequest {
  const scope = { kind: 'key' as const, id: 'key_1', rpm: null, rpd: null, tpm: null, capNano: null };
  return {
    accountId: 'acct_1',
    accountVersion: 1,
    unit,
    scopes: [scope],
    extra: [],
    creditLimitNano: null,
    reservationNano,
    tokenEstimate: 40,
    leaseMs: 90_000,
  };
}

async function admit(unit: string, nano: bigint): Promise<void> {
  const first = await app.limits.admit(admission(unit, nano));
  if (first.outcome === 'stale') {
    await app.limits.stamp('acct_1', 1, first.gen);
    await admit(unit, nano);
    return;
  }
  expect(first.outcome).toBe('ok');
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
