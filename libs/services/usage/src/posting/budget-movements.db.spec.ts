import type { AccountData, BudgetReading } from '@gateway/contracts';
import { eventually, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { emptyLedger } from './books.fixture.js';

const NOVEMBER = { start_ms: Date.parse('2026-11-01T00:00Z'), end_ms: Date.parse('2026-12-01T00:00Z') };
/** It begins and ends within an hour of UTC. */
const KATHMANDU = { start_ms: Date.parse('2026-11-14T18:15Z'), end_ms: Date.parse('2026-11-15T18:15Z') };
const AT = '2026-11-15T12:00:00.000Z';

let place: TestDatabase;
let apps: UsageApp[];

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  apps = [await startUsageApp(place.url), await startUsageApp(place.url)];
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await place.drop();
});
beforeEach(() => emptyLedger(apps[0].database));

function budget(change: Partial<BudgetReading> = {}): BudgetReading {
  return {
    ...{ budget_id: 'bud_1', name: 'Ours', scope: 'key', scope_id: 'key_1', amount_usd: '10' },
    ...{ thresholds_pct: [50, 80], ...NOVEMBER },
    ...change,
  };
}

/** Returns the movements of budgets that are in the outbox's log from `starts` on, of either service. */
async function moved(starts: readonly number[]): Promise<AccountData<'budget.movement'>[]> {
  await eventually(async () => {
    const { rows } = await apps[0].database.pool.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM outbox',
    );
    return rows[0].n === 0;
  });
  return apps.flatMap(({ log }, index) =>
    log.appended
      .slice(starts[index])
      .map(({ record }) => JSON.parse(record.value).data)
      .filter(({ type }) => type === 'budget.movement')
      .map(({ data }) => data),
  );
}
const now = (): number[] => apps.map(({ log }) => log.appended.length);
const used = (cost_usd: string, budgets: BudgetReading[], created_at = AT) =>
  usageRecord({ cost_usd, budgets, created_at });

describe('movements of budgets', () => {
  it('tell what a posting left of a period that has reached a threshold, with those that are reached', async () => {
    const starts = now();
    await apps[0].post(used('4.99', [budget()]));
    expect(await moved(starts)).toEqual([]);
    await apps[0].post(used('0.01', [budget()]));
    await apps[0].post(used('3', [budget()]), used('0', [budget({ amount_usd: '1' })]));
    const movement = {
      ...{ budget_id: 'bud_1', name: 'Ours', scope: 'key', scope_id: 'key_1', amount_usd: '10' },
      ...{ period_start: '2026-11-01T00:00:00.000Z', period_end: '2026-12-01T00:00:00.000Z' },
    };
    expect(await moved(starts)).toEqual([
      { ...movement, thresholds_pct: [50], spent_usd: '5' },
      { ...movement, thresholds_pct: [50, 80], spent_usd: '8' },
    ]);
  });

  it('count each unit in the period in which it came, to the millisecond', async () => {
    const starts = now();
    const day = budget({ ...KATHMANDU, thresholds_pct: [1] });
    await apps[0].post(used('100', [], new Date(KATHMANDU.start_ms - 1).toISOString()));
    await apps[0].post(used('100', [], new Date(KATHMANDU.end_ms).toISOString()));
    await apps[0].post(used('1', [], new Date(KATHMANDU.start_ms).toISOString()));
    await apps[0].post(used('2', [day], new Date(KATHMANDU.end_ms - 1).toISOString()));
    expect(await moved(starts)).toMatchObject([{ spent_usd: '3' }]);
  });

  it('of a rolling budget sum the last days, whatever the unit says, and have no end', async () => {
    const starts = now();
    const hourMs = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const rolling = budget({ start_ms: null, end_ms: null, rolling_days: 1, thresholds_pct: [50] });
    await apps[0].post(used('100', [], new Date(hourMs - 86_400_001).toISOString()));
    await apps[0].post(used('5', [rolling], new Date().toISOString()));
    const [{ period_start, ...movement }] = await moved(starts);
    expect(movement).toMatchObject({ spent_usd: '5', period_end: null });
    expect(Date.parse(period_start)).toBeGreaterThanOrEqual(hourMs - 86_400_000);
  });

  it('go by the amount that the newest unit saw; a redelivered unit makes none', async () => {
    const starts = now();
    const lowered = used('1', [budget({ amount_usd: '2' })], '2026-11-15T12:00:01.000Z');
    await apps[0].post(lowered, used('1', [budget()]));
    await apps[1].post(lowered);
    expect(await moved(starts)).toMatchObject([
      { amount_usd: '2', spent_usd: '2', thresholds_pct: [50, 80] },
    ]);
  });

  it('of two services that post at once are sums that neither has missed', async () => {
    const starts = now();
    const scopes = [
      budget({ amount_usd: '40' }),
      budget({ budget_id: 'bud_2', scope: 'org', scope_id: 'org_1' }),
    ];
    await Promise.all(
      Array.from({ length: 40 }, (_, at) => apps[at % 2].post(used('1', at < 20 ? scopes : scopes.slice(1)))),
    );
    const found = await moved(starts);
    const spent = (id: string): number[] =>
      found.filter(({ budget_id }) => budget_id === id).map(({ spent_usd }) => Number(spent_usd));
    // Postings of one account wait for each other: no two see the same sum, and the last sees all.
    const ofOrg = spent('bud_2');
    expect([new Set(ofOrg).size, Math.max(...ofOrg)]).toEqual([ofOrg.length, 40]);
    expect(Math.min(...spent('bud_1'))).toBeGreaterThanOrEqual(20);
  });
});
