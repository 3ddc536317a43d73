import { providerAccount, type Clock, type UsageRecord } from '@gateway/contracts';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
  attemptRecord,
  LimitStoreDouble,
  testDatabase,
  usageRecord,
  type TestDatabase,
} from '@gateway/testing';
import { ScheduledJobs } from '../background/scheduled-jobs.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { emptyLedger } from './books.fixture.js';
import { ProviderRollup } from './provider-rollup.js';

const ACCOUNT = providerAccount('openai');
const DAY = [Date.parse('2026-11-15T00:00Z'), Date.parse('2026-11-16T00:00Z')];
const PERIOD = { kind: 'provider' as const, id: `openai/b:${DAY[0]}-${DAY[1]}.7` };
const AT = '2026-11-15T12:00:00.000Z';
const PRICED_FROM = {
  ...{ snapshot_id: 'snap_1', provider: 'openai', upstream_model: 'gpt', tier: 'default' as const },
  ...{ discount_pct: null, byok_served: false, byok_fee_pct: '0', context: {} },
};

const clock = new SystemClock();
let place: TestDatabase;
let app: UsageApp;
let pending: boolean[] = [];
const metrics = { owedSummed: (isDone: boolean): void => void pending.push(!isDone) };
beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url, {
    limits: new LimitStoreDouble({ clock, random: new SystemRandom() }),
  });
  // Its own round would add what a spec looks at before it is added.
  await app.app.get(ScheduledJobs, { strict: false }).stop();
});
afterAll(async () => {
  await app.close();
  await place.drop();
});
beforeEach(async () => {
  await emptyLedger(app.database);
  pending = [];
});

/** A unit that openai has served for this list cost. */
function served(list_cost_usd: string, change: Partial<UsageRecord> = {}): UsageRecord {
  return usageRecord({ list_cost_usd, created_at: AT, priced_from: PRICED_FROM, ...change });
}

const slots = async (): Promise<unknown[]> =>
  (await app.database.pool.query('SELECT provider, slot, amount FROM provider_slot ORDER BY 1, 2')).rows;
const spent = async (): Promise<string> => (await app.funds.spent([PERIOD], ACCOUNT))[0];
const roll = (
  of: Pick<UsageDatabase, 'pool' | 'transaction'> = app.database,
  by: Clock = clock,
): Promise<number> => new ProviderRollup(of as UsageDatabase, by, metrics).roll();

/** The ledger as an upgrade finds it, whose postings kept no sums of providers. */
async function asBefore(): Promise<void> {
  await app.database.pool.query('DELETE FROM provider_slot');
  await app.database.pool.query('UPDATE spend_window SET owed_from = NULL');
}

/** A round whose time is over after one part. */
async function onePart(): Promise<void> {
  const times = [0, 0];
  const brief: Clock = {
    now: () => clock.now(),
    monotonic: () => times.pop() ?? Number.MAX_SAFE_INTEGER,
    setTimer: (ms, work) => clock.setTimer(ms, work),
    sleep: (ms) => clock.sleep(ms),
  };
  expect(await roll(app.database, brief)).toBe(1);
}

describe('what providers were owed before an upgrade', () => {
  it('is added up as postings would have added it: served, failed, on provider keys, at many times, of many providers', async () => {
    const failed = attemptRecord({
      provider: 'anthropic',
      status: 'error',
      served: false,
      house_usd: '0.000000000002',
    });
    const at = (ms: number): Partial<UsageRecord> => ({ created_at: new Date(ms).toISOString() });
    await app.post(
      served('1', { cost_usd: '0' }),
      served('0.000000000001', {
        attempts: [failed, { ...failed, n: 2 }, attemptRecord({ n: 3, provider: 'openai' })],
      }),
      served('0', {
        list_cost_usd: null,
        cost_usd: null,
        attempts: [failed, { ...failed, house_usd: '-1' }],
      }),
      served('100', { priced_from: { ...PRICED_FROM, byok_served: true } }),
      served('100', { priced_from: null }),
      served('7', at(DAY[0] - 1)),
      served('8', at(DAY[1])),
      served('9', { priced_from: { ...PRICED_FROM, provider: 'anthropic' } }),
    );
    const posted = await slots();
    expect(posted).toHaveLength(4);
    await asBefore();
    expect(await roll()).toBe(1);
    expect(await slots()).toEqual(posted);
    expect(await spent()).toBe('1.000000000001');
    expect(await roll()).toBe(0);
    expect(await slots()).toEqual(posted);
    expect(pending).toEqual([true, false, false, false]);
  });

  it('is unknown until all of it is added, and a question for it is 503: nothing is let in by a part of the sum', async () => {
    await app.post(served('5'));
    await asBefore();
    const unknown = { code: 'service_unavailable' };
    await expect(spent()).rejects.toMatchObject(unknown);
    await expect(app.funds.seedSpendLimit(ACCOUNT, null, [PERIOD])).rejects.toMatchObject(unknown);
    // A unit that runs on meanwhile is posted, and told of when the sum is there.
    const limits = [
      { scope: 'provider' as const, scope_id: PERIOD.id, rpm: 0, rpm_limit: null, rpd: 0, rpd_limit: null },
    ];
    await app.post(served('1', { limits }));
    const debts = async (): Promise<unknown[]> =>
      (await app.database.pool.query('SELECT account_id FROM mirror_debt')).rows;
    expect(await debts()).toEqual([{ account_id: ACCOUNT }]);
    await roll();
    expect(await spent()).toBe('6');
    await app.projections.payDebts();
    expect(await debts()).toEqual([]);
  });

  it('is added once where units are posted between its parts, a part is killed and two processes add', async () => {
    await app.post(served('1', { request_id: 'req_5' }));
    await app.database.pool.query(
      `INSERT INTO usage_event SELECT (jsonb_populate_record(e, jsonb_build_object('id', 'use_' || n,
         'request_id', 'req_5' || lpad(n::text, 5, '0'), 'seq', n + 1000000))).*
       FROM usage_event e, generate_series(1, 12000) AS n`,
    );
    await asBefore();
    // Before anything is added, with ids before, among and after all that is there.
    const around = (n: number): UsageRecord[] =>
      ['req_1', 'req_502000', 'req_511999', 'req_9'].map((id) => served('1', { request_id: `${id}_${n}` }));
    await app.post(...around(1));
    await onePart();
    const [{ owed_from: from }] = (await app.database.pool.query('SELECT owed_from FROM spend_window')).rows;
    expect([from > 'req_506000', from < 'req_508000']).toEqual([true, true]);
    await app.post(...around(2));
    const killed = {
      pool: app.database.pool,
      transaction: <T>(work: Parameters<UsageDatabase['transaction']>[0]): Promise<T> =>
        app.database.transaction(async (client) => {
          await work(client);
          throw new Error('killed');
        }),
    } as UsageDatabase;
    const before = await slots();
    await expect(roll(killed)).rejects.toThrow('killed');
    expect(await slots()).toEqual(before);
    await expect(spent()).rejects.toMatchObject({ code: 'service_unavailable' });
    await Promise.all([roll(), roll(), app.post(...around(3)), app.post(...around(4))]);
    await app.post(...around(4), ...around(5));
    expect(await spent()).toBe(String(1 + 12_000 + 5 * 4));
  });
});
