import { providerAccount, type AccountData, type BudgetReading, type UsageRecord } from '@gateway/contracts';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
  attemptRecord,
  eventually,
  LimitStoreDouble,
  testDatabase,
  usageRecord,
  type TestDatabase,
} from '@gateway/testing';
import { ledgerFindings } from '../reconcile/ledger-proof.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { books, emptyLedger } from './books.fixture.js';

/** It begins and ends within an hour of UTC. */
const KATHMANDU = { start_ms: Date.parse('2026-11-14T18:15Z'), end_ms: Date.parse('2026-11-15T18:15Z') };
const ACCOUNT = providerAccount('openai');
const PERIOD = { kind: 'provider' as const, id: `openai/b:${KATHMANDU.start_ms}-${KATHMANDU.end_ms}.7` };
const AT = '2026-11-15T12:00:00.000Z';

let place: TestDatabase;
let store: LimitStoreDouble;
let app: UsageApp;
beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  store = new LimitStoreDouble({ clock: new SystemClock(), random: new SystemRandom() });
  app = await startUsageApp(place.url, { limits: store });
});
afterAll(async () => {
  await app.close();
  await place.drop();
});
beforeEach(() => emptyLedger(app.database));

const PRICED_FROM = {
  ...{ snapshot_id: 'snap_1', provider: 'openai', upstream_model: 'gpt', tier: 'default' as const },
  ...{ discount_pct: null, byok_served: false, byok_fee_pct: '0', context: {} },
};

/** A unit that openai has served for this list cost. */
function served(list_cost_usd: string, change: Partial<UsageRecord> = {}): UsageRecord {
  return usageRecord({ list_cost_usd, created_at: AT, priced_from: PRICED_FROM, ...change });
}
const spent = async (): Promise<string> => (await app.funds.spent([PERIOD], ACCOUNT))[0];

describe('spend at providers', () => {
  it('is what the platform owes: list cost on its credentials and failed attempts, provider keys never', async () => {
    const failed = attemptRecord({ provider: 'openai', status: 'error', served: false, house_usd: '0.02' });
    const ofKey = { ...PRICED_FROM, byok_served: true };
    await app.post(
      served('1', { cost_usd: '0' }),
      served('0', { list_cost_usd: null, cost_usd: null, attempts: [failed] }),
      served('100', { priced_from: ofKey }),
      served('0.25', { attempts: [failed, attemptRecord({ n: 2, provider: 'openai' })] }),
    );
    expect(await spent()).toBe('1.29');
    expect(await books(app.database)).toMatchObject({ crooked: 0, unlinked: 0 });
    expect(await ledgerFindings(app.database.pool, 'all')).toEqual([]);
  });

  it('belongs to the period in which the unit came, to the millisecond, in zones that begin within an hour too', async () => {
    const at = (ms: number): Partial<UsageRecord> => ({ created_at: new Date(ms).toISOString() });
    await app.post(served('100', at(KATHMANDU.start_ms - 1)), served('1', at(KATHMANDU.start_ms)));
    await app.post(served('2', at(KATHMANDU.end_ms - 1)), served('100', at(KATHMANDU.end_ms)));
    expect(await spent()).toBe('3');
  });

  it('is posted once, however often its records come, and by two batches at once', async () => {
    const units = Array.from({ length: 40 }, () => served('0.000000000001'));
    await Promise.all([app.post(...units.slice(0, 20)), app.post(...units.slice(20))]);
    await app.post(...units);
    expect(await spent()).toBe('0.00000000004');
  });

  it('is reported with the units that it frees, of customers that are many, and found again by the pass over due units', async () => {
    const reading = { scope: 'provider' as const, scope_id: PERIOD.id };
    const limits = [{ ...reading, rpm: 0, rpm_limit: null, rpd: 0, rpd_limit: null }];
    const settled = (unit: string): Promise<void> =>
      store.put([
        {
          ...{ accountId: ACCOUNT, unit, action: 'settle', nano: 1_000_000_000n, scopes: [PERIOD] },
          ...{ tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 0 },
        },
      ]);
    const state = async (): Promise<unknown> => {
      const { scopes, posted, unpostedUnits } = await store.read(ACCOUNT, [PERIOD]);
      const nano = posted?.find(({ id }) => id === PERIOD.id)?.nano;
      return [scopes[0].unpostedNano, nano, unpostedUnits];
    };
    await settled('req_one/0');
    await settled('req_two/0');
    await app.post(
      served('1', { request_id: 'req_one', limits }),
      served('1', { request_id: 'req_two', account_id: 'acct_2', limits }),
    );
    expect(await state()).toEqual([0n, 2_000_000_000n, 0]);
    await settled('req_one/0');
    await app.projections.reportUnits(ACCOUNT, ['req_one/0']);
    expect(await state()).toEqual([0n, 2_000_000_000n, 0]);
  });

  it('tells thresholds, of units too that no customer pays, without a customer', async () => {
    const budget: BudgetReading = {
      ...{ budget_id: 'bud_1', name: 'Ours', scope: 'provider', scope_id: 'openai', amount_usd: '10' },
      ...{ thresholds_pct: [50, 80], ...KATHMANDU },
    };
    const start = app.log.appended.length;
    await app.post(served('4', { budgets: [budget] }));
    await app.post(served('1', { cost_usd: null, budgets: [budget] }));
    const moved = (): { org_id: string | null; data: AccountData<'budget.movement'> }[] =>
      app.log.appended
        .slice(start)
        .map(({ record }) => JSON.parse(record.value).data)
        .filter(({ type }) => type === 'budget.movement');
    await eventually(() => moved().length > 0);
    expect(moved()).toMatchObject([
      { org_id: null, data: { scope: 'provider', scope_id: 'openai', spent_usd: '5', thresholds_pct: [50] } },
    ]);
  });
});
