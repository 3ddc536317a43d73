import { Usd } from '@gateway/money';
import { sessionPrincipal, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { ledgerFindings } from '../reconcile/ledger-proof.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';

const ROOT = 'eyJ.root.session';
const OWNER = 'eyJ.owner.session';
const BALANCE = '/v1/balance?org_id=org_1';

let place: TestDatabase;
let app: UsageApp;

/** The service as a deployment starts it, over the ledger that is there. */
async function started(billing: 'prepaid' | 'off'): Promise<UsageApp> {
  const usage = await startUsageApp(place.url, { settings: { BILLING: billing } });
  usage.principals.add(
    ROOT,
    sessionPrincipal({ userId: 'usr_root', accountId: 'acct_root', isSuperAdmin: true }),
  );
  const membership = { orgId: 'org_1', accountId: 'acct_1', role: 'owner' as const, teams: [] };
  usage.principals.add(OWNER, sessionPrincipal({ userId: 'usr_9', memberships: [membership] }));
  return usage;
}

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await started('off');
});
afterAll(async () => {
  await app.close();
  await place.drop();
});

describe('usage where billing is off', () => {
  it('has no payments, coupons and credits', async () => {
    for (const [method, path, as] of [
      ['GET', '/v1/billing/ledger?org_id=org_1', OWNER],
      ['POST', '/v1/billing/checkout', OWNER],
      ['POST', '/v1/billing/coupons/redeem', OWNER],
      ['GET', '/v1/billing/auto-recharge?org_id=org_1', OWNER],
      ['POST', '/v1/admin/credits', ROOT],
      ['GET', '/v1/admin/coupons', ROOT],
    ] as const)
      expect([path, (await app.call(method, path, as, method === 'POST' ? {} : undefined)).status]).toEqual([
        path,
        404,
      ]);
  });

  it('keeps the books right while it is switched on and off: the balance is the same before and after', async () => {
    await app.close();
    app = await started('prepaid');
    await app.funds.creditOnce({
      accountId: 'acct_1',
      orgId: 'org_1',
      amountUsd: '5',
      kind: 'admin_grant',
      source: 'billing-off-spec',
    });
    await app.post(usageRecord({ cost_usd: '1' }));
    const before = (await app.call('GET', BALANCE, OWNER)).body;
    expect(before).toMatchObject({ billing: 'prepaid', balance_usd: '4' });

    await app.close();
    app = await started('off');
    // The last unit was admitted before: it belongs to the mode of then.
    await app.post(
      usageRecord({ cost_usd: '0.5', billing: 'off' }),
      usageRecord({ cost_usd: '0.25', billing: 'off' }),
      usageRecord({ cost_usd: '0.125' }),
    );
    expect((await app.call('GET', BALANCE, OWNER)).body).toMatchObject({
      billing: 'off',
      balance_usd: '0',
      reserved_usd: '0',
      available_usd: '0',
    });
    const spent = await app.funds.spent([{ kind: 'key', id: 'key_1' }], 'acct_1');
    expect(spent.map((amount) => Usd.parse(amount).toString())).toEqual(['1.875']);

    await app.close();
    app = await started('prepaid');
    await app.post(usageRecord({ cost_usd: '0.0625' }));
    expect((await app.call('GET', BALANCE, OWNER)).body).toMatchObject({
      billing: 'prepaid',
      balance_usd: '3.8125',
    });
    expect(await ledgerFindings(app.database.pool, 'all')).toEqual([]);
    const { body } = await app.call('GET', '/v1/billing/ledger?org_id=org_1', OWNER);
    const paid = (body as { data: { kind: string; amount_usd: string }[] }).data.filter(
      ({ kind }) => kind === 'unbilled',
    );
    expect(paid.map(({ amount_usd }) => amount_usd)).toEqual(['0.75']);
  });
});
