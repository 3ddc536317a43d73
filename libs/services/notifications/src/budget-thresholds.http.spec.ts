import type { AccountData, AccountEvent } from '@gateway/contracts';
import {
  startNotificationsApp,
  startOnOwnDatabase,
  type NotificationsApp,
  type Person,
} from './notifications.fixture.js';

let app: NotificationsApp;
let owner: Person;

beforeAll(async () => {
  app = await startOnOwnDatabase();
});
afterAll(() => app.close());
beforeEach(() => {
  owner = app.person();
  app.receiver.received.length = 0;
});

const sent = async (type: string): Promise<Record<string, unknown>[]> => {
  await app.deliver();
  return app.receiver.of(type).map(({ event }) => event.data);
};

describe('budget.threshold', () => {
  const budget = (spent_usd: string, more: Partial<AccountData<'budget.movement'>> = {}): AccountEvent => {
    const data = {
      ...{ budget_id: 'bud_1', name: 'Ours', scope: 'team' as const, scope_id: 'team_1', amount_usd: '10' },
      ...{ period_start: '2026-11-01T00:00:00.000Z', period_end: '2026-12-01T00:00:00.000Z' },
      ...{ thresholds_pct: [50], spent_usd, ...more },
    };
    return app.event({ type: 'budget.movement', account_id: 'acct_1', org_id: owner.orgId, data });
  };
  const december = { period_start: '2026-12-01T00:00:00.000Z', period_end: '2027-01-01T00:00:00.000Z' };

  it('names the budget, its scope, the threshold, what is spent and the period', async () => {
    await app.channel(owner, 'budget.threshold');
    await app.account(budget('5'), budget('1', { budget_id: 'bud_2', scope: 'key', scope_id: 'key_1' }));
    const found = await sent('budget.threshold');
    const one = {
      ...{ budget_id: 'bud_1', name: 'Ours', scope: 'team', scope_id: 'team_1', key_id: null },
      ...{ threshold_pct: 50, spent_usd: '5', amount_usd: '10' },
      ...{ period_start: '2026-11-01T00:00:00.000Z', period_end: '2026-12-01T00:00:00.000Z' },
    };
    const other = {
      ...one,
      budget_id: 'bud_2',
      scope: 'key',
      scope_id: 'key_1',
      key_id: 'key_1',
      spent_usd: '1',
    };
    expect(found.toSorted((a, b) => Number(b.spent_usd) - Number(a.spent_usd))).toEqual([one, other]);
  });

  it('each threshold once a period, of two replicas too, after a restart, and whatever comes late', async () => {
    await app.channel(owner, 'budget.threshold');
    let other = await startNotificationsApp(app.databaseUrl);
    const both = { thresholds_pct: [50, 80] };
    const movements = [budget('5'), budget('6'), budget('8', both), budget('9', both)];
    await Promise.all([app.account(...movements), other.account(...movements.toReversed())]);
    await other.close();
    other = await startNotificationsApp(app.databaseUrl);
    await other.account(...movements, budget('9.5', both));
    const told = async (): Promise<string[]> =>
      (await sent('budget.threshold'))
        .map(
          ({ threshold_pct, period_start }) => `${String(period_start).slice(0, 7)} ${String(threshold_pct)}`,
        )
        .sort();
    expect(await told()).toEqual(['2026-11 50', '2026-11 80']);
    await other.account(budget('7', december), budget('7.5', december));
    await app.account(budget('9.9', { thresholds_pct: [50, 80, 99] }), budget('9.9', both));
    expect(await told()).toEqual(['2026-11 50', '2026-11 80', '2026-11 99', '2026-12 50']);
    await other.close();
  });

  it('of a rolling budget again when all that counted then has passed', async () => {
    await app.channel(owner, 'budget.threshold');
    const day = 86_400_000;
    const rolling = (): AccountEvent => {
      const period_start = new Date(app.clock.now() - 7 * day).toISOString();
      return budget('6', { budget_id: 'bud_rolling', period_start, period_end: null });
    };
    const first = rolling();
    await app.account(first, first, rolling());
    await app.clock.advance(7 * day - 1);
    await app.account(rolling());
    expect(await sent('budget.threshold')).toMatchObject([{ threshold_pct: 50, period_end: null }]);
    await app.clock.advance(2);
    await app.account(rolling(), first);
    expect(await sent('budget.threshold')).toHaveLength(2);
  });

  it('of a provider is told to the organization that the operator has named, and to nobody without one', async () => {
    await app.channel(owner, 'budget.threshold');
    const ofProvider = { ...budget('6', { scope: 'provider', scope_id: 'openai' }), org_id: null };
    await app.account(ofProvider);
    expect(await sent('budget.threshold')).toEqual([]);
    const operators = await startNotificationsApp(app.databaseUrl, { ALERTS_PLATFORM_ORG_ID: owner.orgId });
    await operators.account(ofProvider, ofProvider);
    await operators.close();
    expect(await sent('budget.threshold')).toMatchObject([
      { scope: 'provider', scope_id: 'openai', key_id: null, threshold_pct: 50, spent_usd: '6' },
    ]);
  });
});

describe('spend_cap.approaching of a budget', () => {
  it('names the key and its budget, once a percentage and period; no other scope makes one', async () => {
    await app.channel(owner, { alert_type: 'spend_cap.approaching', threshold_pct: 80 });
    const movement = (spent_usd: string, more: Partial<AccountData<'budget.movement'>>): AccountEvent => {
      const data = {
        ...{ budget_id: 'bud_9', name: 'Ours', scope: 'key' as const, scope_id: 'key_9', amount_usd: '10' },
        ...{ period_start: '2026-11-01T00:00:00.000Z', period_end: '2026-12-01T00:00:00.000Z' },
        ...{ thresholds_pct: [50], spent_usd, ...more },
      };
      return app.event({ type: 'budget.movement', account_id: 'acct_1', org_id: owner.orgId, data });
    };
    await app.account(
      movement('5', {}),
      movement('9', { scope: 'team', scope_id: 'team_1', budget_id: 'bud_8' }),
    );
    await app.account(movement('8', {}), movement('9', {}));
    expect(await sent('spend_cap.approaching')).toEqual([
      {
        ...{ scope: 'key', scope_id: 'key_9', key_id: 'key_9', budget_id: 'bud_9' },
        ...{ spent_usd: '8', cap_usd: '10' },
      },
    ]);
  });
});
