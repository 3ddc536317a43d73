import pg from 'pg';
import {
  type AccountEvent,
  type LimitReading,
  type RejectionRecord,
  type UsageRecord,
} from '@gateway/contracts';
import { attemptRecord, eventually, rejectionRecord, usageRecord } from '@gateway/testing';
import { startOnOwnDatabase, type NotificationsApp, type Person } from './notifications.fixture.js';

const [MINUTE, DAY] = [60_000, 86_400_000];

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

const WAITING = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO event %'`;

const now = (): string => new Date(app.clock.now()).toISOString();
/** Returns the delivered events of a type, in order. */
const sent = async (type: string): Promise<Record<string, unknown>[]> => {
  await app.deliver();
  return app.receiver.of(type).map(({ event }) => event.data);
};
const balance = (balance_before: string, balance_after: string): AccountEvent => {
  const data = { balance_before, balance_after };
  return app.event({ type: 'balance.movement', account_id: 'acct_1', org_id: owner.orgId, data });
};
const spend = (spent_before: string, spent_after: string, cap_usd = '10', key_id = 'key_1'): AccountEvent => {
  const data = { key_id, spent_before, spent_after, cap_usd };
  return app.event({ type: 'spend.movement', account_id: 'acct_1', org_id: owner.orgId, data });
};
const low = (...floors: number[]) =>
  floors.map((threshold_usd) => ({ alert_type: 'balance.low', threshold_usd }));
const pct = (alert_type: string, ...rungs: number[]) =>
  rungs.map((threshold_pct) => ({ alert_type, threshold_pct }));
const used = (more: Partial<UsageRecord> = {}): UsageRecord =>
  usageRecord({ org_id: owner.orgId, created_at: now(), latency_ms: 0, ...more });
const refused = (more: Partial<RejectionRecord> = {}): RejectionRecord =>
  rejectionRecord({
    org_id: owner.orgId,
    created_at: now(),
    http_status: 402,
    code: 'spend_limit_exceeded',
    limit_type: 'spend_cap',
    cap_usd: '10',
    spent_usd: '10.5',
    ...more,
  });
const reading = (more: Partial<LimitReading> = {}): LimitReading => ({
  scope: 'key',
  scope_id: 'key_1',
  rpm: 1,
  rpm_limit: 10,
  rpd: 1,
  rpd_limit: null,
  ...more,
});

describe('balance.low and balance.depleted', () => {
  it('EVT-09 sends the balance that fell below the floor, once a crossing', async () => {
    await app.channel(owner, ...low(10));
    await app.account(balance('12', '10'), balance('10', '9.5'), balance('9.5', '9'));
    expect(await sent('balance.low')).toEqual([{ balance_usd: '9.5' }]);
    await app.account(balance('9', '20'), balance('20', '3'));
    expect(await sent('balance.low')).toEqual([{ balance_usd: '9.5' }, { balance_usd: '3' }]);
  });

  it('EVT-40 a ladder of three sends each rung that was crossed, once, though one movement crosses all', async () => {
    await app.channel(owner, ...low(10, 5, 1));
    const movement = balance('12', '0.5');
    await app.account(movement, movement);
    await app.account(movement);
    const found = await sent('balance.low');
    expect(found).toEqual([1, 2, 3].map(() => ({ balance_usd: '0.5' })));
    expect(new Set(app.receiver.received.map(({ event }) => event.id)).size).toBe(3);
  });

  it('EVT-40 a ladder of three sends three under 200 movements at once', async () => {
    await app.channel(owner, ...low(150, 100, 50));
    const movements = Array.from({ length: 200 }, (_, at) => balance(String(200 - at), String(199 - at)));
    await Promise.all([app.account(...movements), app.account(...movements.toReversed())]);
    expect((await sent('balance.low')).map(({ balance_usd }) => balance_usd).sort()).toEqual([
      '149',
      '49',
      '99',
    ]);
  });

  it('EVT-15 two consumers write the same events in one order: neither waits for the other', async () => {
    await app.channel(owner, 'balance.depleted');
    const [first, second] = [balance('1', '-1'), balance('1', '-1')].sort((a, b) => (a.id < b.id ? -1 : 1));
    const insertOf = ({ id }: AccountEvent): [string, string[]] => [
      `INSERT INTO notifications.event (id, org_id, type, source_key, created_at, body)
        VALUES ($1, $2, 'balance.depleted', $3, now(), '')`,
      [`evt_of_${id}`, owner.orgId, `${owner.orgId} balance.depleted/${id}`],
    ];
    const other = new pg.Client(app.databaseUrl);
    await other.connect();
    await other.query('BEGIN');
    await other.query(...insertOf(first));
    const taken = app.account(second, first);
    await eventually(async () => {
      // A transaction sees one picture of what the others do, until it asks for a new one.
      await other.query('SELECT pg_stat_clear_snapshot()');
      return (await other.query(WAITING)).rowCount === 1;
    });
    // A consumer that had the second by now would be waited for here, and it waits for this one: a deadlock.
    await other.query(...insertOf(second));
    await other.query('ROLLBACK');
    await other.end();
    await taken;
    expect(await sent('balance.depleted')).toHaveLength(2);
  });

  it('EVT-15 EVT-16 sends once that the balance crossed zero, not for each request below', async () => {
    await app.channel(owner, 'balance.depleted');
    await app.account(balance('0.5', '-0.25'), balance('-0.25', '-0.5'), balance('-0.5', '-0.75'));
    expect(await sent('balance.depleted')).toEqual([{ balance_usd: '-0.25', balance_before: '0.5' }]);
    await app.account(balance('-0.75', '5'), balance('5', '0'), balance('0', '-1'));
    expect(await sent('balance.depleted')).toEqual([
      { balance_usd: '-0.25', balance_before: '0.5' },
      { balance_usd: '0', balance_before: '5' },
    ]);
  });
});

describe('spend_cap', () => {
  it('EVT-19 EVT-41 EVT-35 EVT-37 approaching carries the values crossed, of the key', async () => {
    await app.channel(owner, ...pct('spend_cap.approaching', 50, 80));
    await app.account(spend('4.9', '5'), spend('5', '7.999'), spend('7.999', '8.5'), spend('8.5', '9'));
    const scope = { scope: 'key', scope_id: 'key_1', key_id: 'key_1', cap_usd: '10', budget_id: null };
    // Order is not promised.
    const spent = (data: Record<string, unknown>): number => Number(data.spent_usd);
    const found = (await sent('spend_cap.approaching')).sort((a, b) => spent(a) - spent(b));
    expect(found).toEqual([
      { ...scope, spent_usd: '5' },
      { ...scope, spent_usd: '8.5' },
    ]);
  });

  it('EVT-39 each key has a ladder of its own', async () => {
    await app.channel(owner, ...pct('spend_cap.approaching', 50));
    await app.account(spend('0', '6'), spend('0', '6', '10', 'key_2'));
    expect((await sent('spend_cap.approaching')).map(({ key_id }) => key_id).sort()).toEqual([
      'key_1',
      'key_2',
    ]);
  });

  it('EVT-20 approaching is of the key alone: spend of other scopes makes none', async () => {
    await app.channel(owner, ...pct('spend_cap.approaching', 1));
    const limits = [reading({ scope: 'org', scope_id: owner.orgId, cap_usd: '0.001' })];
    await app.usage(used({ limits, cost_usd: '5' }));
    expect(await sent('spend_cap.approaching')).toEqual([]);
  });

  it.each([
    ['key', 'key_9', { scope: 'key', scope_id: 'key_9', key_id: 'key_9' }],
    ['member', 'usr_9', { scope: 'member', scope_id: 'usr_9', key_id: null }],
    ['team', 'team_9', { scope: 'team', scope_id: 'team_9', key_id: null }],
    ['org', 'org_9', { scope: 'org', scope_id: 'org_9', key_id: null }],
    [
      'team_member',
      'team_9/usr_9',
      { scope: 'team_member', scope_id: 'usr_9', key_id: null, team_id: 'team_9' },
    ],
  ])(
    'EVT-21 EVT-35 EVT-36 EVT-37 hit names the scope %s whose cap was reached',
    async (scope, scope_id, fields) => {
      await app.channel(owner, 'spend_cap.hit');
      await app.rejections(refused({ scope, scope_id }), refused({ scope, scope_id }));
      expect(await sent('spend_cap.hit')).toEqual([
        { ...fields, cap_usd: '10', spent_usd: '10.5', budget_id: null },
      ]);
    },
  );

  it('hit of a budget has its id, and is sent beside that of the cap of its scope', async () => {
    await app.channel(owner, 'spend_cap.hit');
    const of = { scope: 'team', scope_id: 'team_1' };
    await app.rejections(refused(of), refused({ ...of, budget_id: 'bud_1' }), refused(of));
    const ids = (await sent('spend_cap.hit')).map((data) => (data as { budget_id: string | null }).budget_id);
    expect(ids.toSorted()).toEqual(['bud_1', null]);
  });

  it('EVT-39 hit is sent once a scope and cap: again for another cap, after a day, and not after a replay', async () => {
    await app.channel(owner, 'spend_cap.hit');
    const first = refused();
    await Promise.all(Array.from({ length: 20 }, () => app.rejections(first, refused())));
    await app.rejections(refused({ scope: 'team', scope_id: 'team_1' }));
    expect(await sent('spend_cap.hit')).toHaveLength(2);
    await app.clock.advance(MINUTE);
    await app.rejections(refused({ cap_usd: '20', spent_usd: '20' }));
    expect(await sent('spend_cap.hit')).toHaveLength(3);
    await app.rejections(first);
    expect(await sent('spend_cap.hit')).toHaveLength(3);
    await app.clock.advance(DAY);
    await app.rejections(refused({ cap_usd: '20', spent_usd: '20' }));
    expect(await sent('spend_cap.hit')).toHaveLength(4);
  });

  it('hit is not sent for a refusal by reservations or rates', async () => {
    await app.channel(owner, 'spend_cap.hit');
    await app.rejections(
      refused({ cap_usd: null, spent_usd: null }),
      refused({ limit_type: 'rpm', cap_usd: null, spent_usd: null, http_status: 429 }),
    );
    expect(await sent('spend_cap.hit')).toEqual([]);
  });
});

describe('rate_limit.threshold', () => {
  const count = (rpm: number, more: Partial<LimitReading> = {}) =>
    used({ limits: [reading({ rpm, ...more })] });

  it('EVT-22 sends scope, limit and its type when the rate crosses the percentage', async () => {
    await app.channel(owner, ...pct('rate_limit.threshold', 50));
    await app.usage(count(4), count(5), count(6), count(10));
    expect(await sent('rate_limit.threshold')).toEqual([
      { scope: 'key', scope_id: 'key_1', key_id: 'key_1', limit_type: 'rpm', limit: 10 },
    ]);
  });

  it('EVT-38 EVT-39 EVT-40 one request that trips several scopes and rungs sends each', async () => {
    await app.channel(owner, ...pct('rate_limit.threshold', 50, 80));
    const org = reading({ scope: 'org', scope_id: owner.orgId, rpm: 6, rpm_limit: 10 });
    const team = reading({ scope: 'team_member', scope_id: 'team_1/usr_1', rpd: 90, rpd_limit: 100 });
    const record = used({ limits: [reading({ rpm: 9 }), org, team] });
    await app.usage(record);
    await app.usage(record);
    const found = await sent('rate_limit.threshold');
    expect(found.map(({ scope, limit_type }) => `${String(scope)} ${String(limit_type)}`).sort()).toEqual([
      'key rpm',
      'key rpm',
      'org rpm',
      'team_member rpd',
      'team_member rpd',
    ]);
    expect(found.find(({ scope }) => scope === 'team_member')).toMatchObject({
      scope_id: 'usr_1',
      key_id: null,
      team_id: 'team_1',
      limit: 100,
    });
  });

  it('sends once of minutes in a row above it, again after one below, and once a day of RPD', async () => {
    await app.channel(owner, ...pct('rate_limit.threshold', 80));
    for (let minutes = 0; minutes < 3; minutes += 1) {
      await app.usage(count(8), count(9));
      await app.clock.advance(MINUTE);
    }
    expect(await sent('rate_limit.threshold')).toHaveLength(1);
    await app.clock.advance(MINUTE);
    await app.usage(count(8));
    expect(await sent('rate_limit.threshold')).toHaveLength(2);
    const day = { rpm_limit: null, rpd: 80, rpd_limit: 100 };
    await app.usage(count(1, day), count(1, day));
    await app.clock.advance(DAY);
    await app.usage(count(1, day));
    expect(await sent('rate_limit.threshold')).toHaveLength(4);
  });

  it('EVT-40 sends each rung once under 200 requests at once', async () => {
    await app.channel(owner, ...pct('rate_limit.threshold', 25, 50, 75));
    const records = Array.from({ length: 200 }, (_, at) => count(at + 1, { rpm_limit: 200 }));
    await Promise.all([0, 1, 2, 3].map((part) => app.usage(...records.filter((_, at) => at % 4 === part))));
    expect(await sent('rate_limit.threshold')).toHaveLength(3);
  });

  it('EVT-23 sends nothing of tokens, of a scope without a limit, and of a model’s own counter', async () => {
    await app.channel(owner, ...pct('rate_limit.threshold', 1));
    const unlimited = reading({ rpm: 900, rpm_limit: null });
    const model = reading({ scope_id: 'key_1/m:acme/swift', rpm: 0, rpm_limit: null });
    await app.usage(used({ limits: [unlimited, model] }));
    await app.rejections(
      refused({ code: 'rate_limit_exceeded', limit_type: 'tpm', cap_usd: null, spent_usd: null }),
    );
    expect(await sent('rate_limit.threshold')).toEqual([]);
  });
});

describe('provider.fallback', () => {
  const fallback = (from: string, to: string, model = 'acme/swift') =>
    used({
      model,
      provider: to,
      routing_fallback: true,
      attempts: [
        attemptRecord({ provider: from, status: 'error', served: false, error_code: 'bad_response' }),
        attemptRecord({ n: 2, provider: to }),
      ],
    });

  it('EVT-33 EVT-49 names who was asked, who served and why', async () => {
    await app.channel(owner, 'provider.fallback');
    const record = fallback('alpha', 'beta');
    await app.usage(record, used());
    expect(await sent('provider.fallback')).toEqual([
      {
        model: 'acme/swift',
        requested_provider: 'alpha',
        served_provider: 'beta',
        reason: 'bad_response',
        request_id: record.request_id,
      },
    ]);
  });

  it('EVT-34 at most once in five minutes a pair and model, another at once, and a replay adds none', async () => {
    await app.channel(owner, 'provider.fallback');
    const first = fallback('alpha', 'beta');
    await app.usage(first, fallback('alpha', 'beta'));
    await app.clock.advance(5 * MINUTE - 1);
    await app.usage(fallback('alpha', 'beta'));
    expect(await sent('provider.fallback')).toHaveLength(1);
    await app.usage(fallback('alpha', 'gamma'), fallback('alpha', 'beta', 'acme/slow'));
    expect(await sent('provider.fallback')).toHaveLength(3);
    await app.clock.advance(1);
    await app.usage(fallback('alpha', 'beta'));
    expect(await sent('provider.fallback')).toHaveLength(4);
    await app.usage(first);
    expect(await sent('provider.fallback')).toHaveLength(4);
  });

  it('sends nothing where nobody served', async () => {
    await app.channel(owner, 'provider.fallback');
    const attempts = ['alpha', 'beta'].map((provider, at) =>
      attemptRecord({ n: at + 1, provider, status: 'error', served: false }),
    );
    await app.usage(used({ outcome: 'failed', status: 'error', attempts }));
    expect(await sent('provider.fallback')).toEqual([]);
  });
});
