import type { AdmitRequest, AdmitResult, ScopeKind } from '@gateway/contracts';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { LimitStoreDouble, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';

const clock = new SystemClock();
const KEY = { kind: 'key' as ScopeKind, id: 'key_1' };
const ORG = { kind: 'org' as ScopeKind, id: 'org_1' };
const DAY_MS = 86_400_000;

let place: TestDatabase;
let app: UsageApp;
let store: LimitStoreDouble;

beforeEach(async () => {
  place = await testDatabase(MIGRATED);
  store = new LimitStoreDouble({ clock, random: new SystemRandom() });
  app = await startUsageApp(place.url, { limits: store });
});
afterEach(async () => {
  await app.close();
  await place.drop();
});

/** An admission whose caps and balance must be known. */
function request(unit: string, more: Partial<AdmitRequest> = {}): AdmitRequest {
  const limits = { rpm: null, rpd: null, tpm: null };
  return {
    accountId: 'acct_1',
    accountVersion: 1,
    unitId: unit,
    scopes: [
      { ...KEY, ...limits, capNano: 5_000_000_000n },
      { ...ORG, ...limits, capNano: 5_000_000_000n },
    ],
    extra: [],
    creditLimitNano: 100_000_000_000n,
    reservationNano: 1_000_000_000n,
    tokenEstimate: 0,
    leaseMs: 90_000,
    ...more,
  };
}

describe('periods of budgets', () => {
  it.each([
    ['UTC', 'a period of whole hours', '2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z'],
    [
      'Asia/Kathmandu',
      'one that begins and ends within an hour',
      '2026-10-31T18:15:00Z',
      '2026-11-30T18:15:00Z',
    ],
  ])(
    '%s: the period of a budget counts what came in it before there was a budget, to the millisecond: %s',
    async (_zone, _name, from, to) => {
      const [startMs, endMs] = [Date.parse(from), Date.parse(to)];
      const at = (ms: number, cost_usd: string): Promise<void> =>
        app.post(usageRecord({ cost_usd, created_at: new Date(ms).toISOString() }));
      await at(startMs - 1, '100');
      await at(startMs, '1');
      await at(startMs + 10 * DAY_MS, '0.25');
      await at(endMs - 1, '2');
      await at(endMs, '100');
      const periods = (['key', 'member', 'team', 'org'] as const).map((kind) => {
        const { key_id, member_id, team_id, org_id } = usageRecord({});
        const id = { key: key_id, member: member_id, team: team_id ?? 'team_0', org: org_id ?? '' }[kind];
        return { kind, id: `${id}/b:${startMs}-${endMs}` };
      });
      const expected =
        usageRecord({}).team_id == null ? ['3.25', '3.25', '0', '3.25'] : Array(4).fill('3.25');
      expect(await app.funds.spent(periods, 'acct_1')).toEqual(expected);
      expect(await app.funds.spent([KEY, periods[3]], 'acct_1')).toEqual(['203.25', '3.25']);
      expect(await app.funds.spent(periods, 'acct_of_nobody')).toEqual(['0', '0', '0', '0']);
    },
  );

  it('a rolling one counts the last days, and no more what came before the hour in which they began', async () => {
    const hourMs = Math.floor(clock.now() / 3_600_000) * 3_600_000;
    const at = (ms: number, cost_usd: string): Promise<void> =>
      app.post(usageRecord({ cost_usd, created_at: new Date(ms).toISOString() }));
    await at(hourMs - 7 * DAY_MS - 1, '100');
    await at(hourMs - 7 * DAY_MS, '1');
    await at(hourMs - DAY_MS - 1, '0.5');
    await at(hourMs, '0.25');
    const scopes = [7, 1].map((days) => ({ ...ORG, id: `org_1/b:r${days}.7` }));
    expect(await app.funds.spent(scopes, 'acct_1')).toEqual(['1.75', '0.25']);
    // Without a generation the store learns the totals of what it knows already: what has passed is counted no more.
    const nano = async (): Promise<unknown> =>
      (await store.read('acct_1', [scopes[1]])).posted?.find(({ id }) => id === scopes[1].id)?.nano;
    await app.funds.seedSpendLimit('acct_1', null, scopes);
    expect(await nano()).toBe(250_000_000n);
  });

  it('a budget refuses by what its period has spent; a settled unit is freed and posted to its period in one step', async () => {
    const now = clock.now();
    const period = { kind: 'org' as ScopeKind, id: `org_1/b:${now - DAY_MS}-${now + DAY_MS}.${now}` };
    const budget = { id: 'bud_1', name: 'Ours', scope: ORG, endMs: now + DAY_MS };
    const name = period.id.slice('org_1/'.length);
    const extra = [{ name, rpm: null, rpd: null, tpm: null, capNano: 3_000_000_000n, budget }];
    await app.post(usageRecord({ cost_usd: '1' }));
    const ask = async (unit: string): Promise<AdmitResult> => {
      for (let tries = 0; tries < 3; tries += 1) {
        const answer = await store.admit(request(unit, { extra }));
        if (answer.kind === 'stale') await store.stamp('acct_1', 1, answer.gen);
        else if (answer.kind === 'missing')
          await app.funds.seedSpendLimit('acct_1', answer.gen, [KEY, ORG, period]);
        else return answer;
      }
      throw new Error('The store goes on asking.');
    };
    const settled = async (unit: string): Promise<void> => {
      expect((await ask(unit)).kind).toBe('ok');
      const units = { accountId: 'acct_1', unit, action: 'settle' as const, nano: 1_000_000_000n };
      const counts = { tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 0 };
      await store.put([{ ...units, scopes: [KEY, ORG, period], ...counts }]);
    };
    const reading = {
      scope: 'org' as const,
      scope_id: period.id,
      rpm: 0,
      rpm_limit: null,
      rpd: 0,
      rpd_limit: null,
    };
    await settled('req_first/0');
    await app.post(usageRecord({ request_id: 'req_first', cost_usd: '1', limits: [reading] }));
    const state = async (): Promise<unknown> => {
      const { scopes, posted } = await store.read('acct_1', [period]);
      return [scopes[0].unpostedNano, posted?.find(({ id }) => id === period.id)?.nano];
    };
    expect(await state()).toEqual([0n, 2_000_000_000n]);
    // A record without readings raises no period; the pass over due units reads it from the event.
    await settled('req_second/0');
    await app.post(usageRecord({ request_id: 'req_second', cost_usd: '1' }));
    const second = [usageRecord({ request_id: 'req_second' }).request_id, JSON.stringify([reading])];
    expect(await state()).toEqual([0n, 2_000_000_000n]);
    await app.database.pool.query('UPDATE usage_event SET limits = $2 WHERE request_id = $1', second);
    await app.projections.reportUnits('acct_1', ['req_second/0']);
    expect(await state()).toEqual([0n, 3_000_000_000n]);
    expect(await ask('req_third/0')).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'org', metric: 'spend_cap', current: '3000000000', budget: { id: 'bud_1' } },
    });
  });
});
