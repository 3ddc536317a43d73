import type { AdmitRequest, AdmitResult, ScopeKind } from '@gateway/contracts';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { eventually, LimitStoreDouble, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

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

/** Admits as the edge does: reload on stale, ask the ledger on missing. */
async function admit(unit: string, more: Partial<AdmitRequest> = {}): Promise<AdmitResult> {
  for (let tries = 0; tries < 3; tries += 1) {
    const answer = await store.admit(request(unit, more));
    if (answer.kind === 'stale') await store.stamp('acct_1', 1, answer.gen);
    else if (answer.kind === 'missing') await app.funds.seedSpendLimit('acct_1', answer.gen, [KEY, ORG]);
    else return answer;
  }
  throw new Error('The store goes on asking.');
}

function settle(unit: string, nano: bigint): Promise<void> {
  return store.put([
    {
      accountId: 'acct_1',
      unit,
      action: 'settle',
      nano,
      scopes: [KEY, ORG],
      tokens: 0,
      tokenEstimate: 0,
      minute: 0,
      leaseMs: 0,
    },
  ]);
}

describe('projections', () => {
  it('LIM-25 an empty store learns from the gate what a key has ever spent, and refuses past its cap', async () => {
    await app.post(
      usageRecord({ cost_usd: '4', created_at: new Date(clock.now() - 400 * DAY_MS).toISOString() }),
      usageRecord({ cost_usd: '1' }),
    );
    expect(await app.funds.spent([KEY], 'acct_1')).toEqual(['5']);
    expect(await admit('req_a/0')).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'key', metric: 'spend_cap', current: '5000000000' },
    });
  });

  it('a ledger that was restored, with lower versions, holds caps as before', async () => {
    for (const cost_usd of ['1', '1', '1']) await app.post(usageRecord({ cost_usd }));
    expect((await admit('req_before/0')).kind).toBe('ok');
    // As a backup from before the first posting: its tables are new, and its versions begin again.
    await emptyTables(
      app.database.pool,
      'usage_slot, usage_hour, usage_day, account, spend_total, spend_hour, usage_event, producer CASCADE',
    );
    await app.post(usageRecord({ cost_usd: '5' }));
    expect(await admit('req_after/0')).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'key', current: '6000000000', reservationsOnly: false },
    });
  });

  it('an account whose version was moved back, by hand or by rows from a backup, holds caps as before', async () => {
    const once = (): Promise<void> => app.post(usageRecord({ cost_usd: '1' }));
    for (let n = 0; n < 3; n += 1) await once();
    expect((await admit('req_before/0')).kind).toBe('ok');
    await app.database.pool.query('UPDATE account SET version = 0');
    await once();
    await once();
    expect(await admit('req_after/0')).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'key', current: '6000000000', reservationsOnly: false },
    });
  });

  it('a crash frees a reservation alone, and what was settled too where the outcome was lost with its journal', async () => {
    const crash = {
      error_code: 'gateway_crash',
      status: 'error',
      outcome: 'failed',
      cost_usd: null,
    } as const;
    await admit('req_k/0');
    for (const unit of ['req_k/0', 'req_l/0']) await settle(unit, 1_000_000_000n);
    await app.post(usageRecord({ ...crash, request_id: 'req_k' }));
    expect(await store.read('acct_1', [])).toMatchObject({ unpostedUnits: 2 });
    await app.post(usageRecord({ ...crash, request_id: 'req_l', usage_estimated: true }));
    expect(await store.read('acct_1', [])).toMatchObject({ unpostedUnits: 1 });
  });

  it('B19 frees a settled unit and raises posted in one step: nothing is reserved or unposted at rest', async () => {
    expect((await admit('req_b/0')).kind).toBe('ok');
    await settle('req_b/0', 2_000_000_000n);
    expect(await store.read('acct_1', [])).toMatchObject({ unpostedNano: 2_000_000_000n });
    const record = usageRecord({ request_id: 'req_b', cost_usd: '2' });
    await app.post(record);
    await app.post(record);
    expect(await store.read('acct_1', [KEY])).toMatchObject({ reservedNano: 0n, unpostedNano: 0n });
    await admit('req_c/0');
    expect(await admit('req_d/0', { reservationNano: 3_000_000_000n })).toMatchObject({ kind: 'ok' });
    expect(await admit('req_e/0')).toMatchObject({ kind: 'refused', rejection: { reservationsOnly: true } });
  });

  it('a model’s spend on a key is told also while no cap is on it: one that is set again finds no old value', async () => {
    const ofModel = { kind: 'key' as const, id: 'key_1/m:acme/chat' };
    const stale = await store.admit(request('req_m/0'));
    if (stale.kind !== 'stale') throw new Error(stale.kind);
    await app.funds.seedSpendLimit('acct_1', stale.gen, [KEY, ORG, ofModel]);
    await app.post(usageRecord({ model: 'acme/chat', cost_usd: '2', limits: [] }));
    const { posted } = await store.read('acct_1', [ofModel]);
    expect(posted).toContainEqual(expect.objectContaining({ ...ofModel, nano: 2_000_000_000n }));
  });

  it('a unit whose settle came after its posting is freed by the round over due units', async () => {
    await app.post(usageRecord({ request_id: 'req_late', cost_usd: '2' }));
    await settle('req_late/0', 2_000_000_000n);
    expect((await store.read('acct_1', [])).unpostedUnits).toBe(1);
    // It is due five seconds after the put: the store of this spec says so now.
    store.due = async () => ['req_late/0'];
    await app.projections.reportDue();
    expect((await store.read('acct_1', [])).unpostedUnits).toBe(0);
  });

  it('an account whose node is away keeps no other from being freed of what is posted', async () => {
    await app.post(
      usageRecord({ account_id: 'acct_0', cost_usd: '1' }),
      usageRecord({ request_id: 'req_late', cost_usd: '2' }),
    );
    await settle('req_late/0', 2_000_000_000n);
    store.due = async (accountId) => {
      if (accountId === 'acct_0') throw new Error('its node is away');
      return ['req_late/0'];
    };
    await expect(app.projections.reportDue()).rejects.toThrow('its node is away');
    expect((await store.read('acct_1', [])).unpostedUnits).toBe(0);
  });

  it('while the store is away commits go on, and what it missed is told when it is back', async () => {
    await admit('req_f/0');
    await settle('req_f/0', 2_000_000_000n);
    store.failing.add('mirror');
    await app.post(usageRecord({ request_id: 'req_f', cost_usd: '2' }));
    expect(await app.funds.spent([KEY], 'acct_1')).toEqual(['2']);
    expect((await store.read('acct_1', [])).unpostedUnits).toBe(1);
    await expect(app.projections.payDebts()).rejects.toThrow();
    store.failing.delete('mirror');
    await app.projections.payDebts();
    expect(await store.read('acct_1', [])).toMatchObject({ unpostedUnits: 0, unpostedNano: 0n });
    expect(await app.projections.payDebts()).toBe(0);
  });

  it('a dead letter frees its unit; the event of a died process frees a reservation alone', async () => {
    await admit('req_g/0');
    await admit('req_h/0');
    await settle('req_h/0', 1_000_000_000n);
    const crash = { status: 'error' as const, error_code: 'gateway_crash', cost_usd: null };
    await app.post(
      usageRecord({ request_id: 'req_g', ...crash }),
      usageRecord({ request_id: 'req_h', ...crash }),
    );
    expect(await store.read('acct_1', [])).toMatchObject({ reservedUnits: 0, unpostedUnits: 1 });
    await app.post({ ...usageRecord({ request_id: 'req_h' }), latency_ms: 'slow' as never });
    expect(await store.read('acct_1', [])).toMatchObject({ reservedUnits: 0, unpostedUnits: 0 });
  });

  it('a credit is in the balance of the store at once, and comes once per source', async () => {
    const credit = {
      accountId: 'acct_1',
      orgId: 'org_1',
      amountUsd: '3',
      kind: 'admin_grant' as const,
      source: 's',
    };
    expect(await admit('req_i/0', { creditLimitNano: 0n })).toMatchObject({
      rejection: { metric: 'balance' },
    });
    await app.funds.credit(credit);
    await app.funds.credit(credit);
    expect(await admit('req_i/0', { creditLimitNano: 0n, reservationNano: 4_000_000_000n })).toMatchObject({
      kind: 'ok',
    });
    expect(await admit('req_j/0', { creditLimitNano: 0n })).toMatchObject({
      rejection: { metric: 'balance' },
    });
    const { rows } = await app.database.pool.query(
      "SELECT trim_scale(posted)::text AS p FROM account WHERE id = 'acct_1'",
    );
    expect(rows).toEqual([{ p: '3' }]);
  });
});

describe('what the store was never sent', () => {
  /** Works like a process that dies between a commit and its projection, or finds the store unreachable. */
  const whileAway = async (work: () => Promise<unknown>): Promise<void> => {
    store.failing.add('mirror');
    await work();
    store.failing.delete('mirror');
  };

  it('PAY-06 a credit that the store did not take is in its balance after the round of debts, though nothing else runs', async () => {
    const credit = { accountId: 'acct_1', orgId: 'org_1', amountUsd: '3', kind: 'admin_grant' as const };
    const asked = { creditLimitNano: 0n };
    expect(await admit('req_k/0', asked)).toMatchObject({ rejection: { metric: 'balance' } });
    await whileAway(async () => {
      await app.funds.credit({ ...credit, source: 'k' });
      expect(await admit('req_k/0', asked)).toMatchObject({ rejection: { metric: 'balance' } });
    });
    await app.projections.payDebts();
    expect(await admit('req_k/0', asked)).toMatchObject({ kind: 'ok' });
    expect(await app.projections.payDebts()).toBe(0);
  });

  it('PAY-06 an account that the store cannot take keeps no credit of another from it', async () => {
    const accounts = ['acct_0', 'acct_00', 'acct_01', 'acct_02', 'acct_03', 'acct_1'];
    await whileAway(async () => {
      for (const accountId of accounts)
        await app.funds.credit({
          accountId,
          orgId: null,
          amountUsd: '3',
          kind: 'admin_grant',
          source: accountId,
        });
    });
    const mirror = store.mirror.bind(store);
    store.mirror = async (request) => {
      if (request.accountId === 'acct_0') throw new Error('its node is away');
      return mirror(request);
    };
    await expect(app.projections.payDebts()).rejects.toThrow('its node is away');
    const { rows } = await app.database.pool.query('SELECT account_id FROM mirror_debt');
    expect(rows).toEqual([{ account_id: 'acct_0' }]);
  });

  it('LIM-26 what lapsed while the store did not answer frees the cap after the round of debts', async () => {
    await rolled();
    const edge = clock.now() - 30 * DAY_MS;
    await app.database.pool.query('UPDATE spend_window SET lapsed_to = $1', [new Date(edge - 60_000)]);
    await app.post(usageRecord({ cost_usd: '6', created_at: new Date(edge - 10).toISOString() }));
    const scopes = [{ ...ORG, rpm: null, rpd: null, tpm: null, capNano: 5_000_000_000n }];
    expect(await admit('req_l/0', { scopes })).toMatchObject({ rejection: { metric: 'spend_cap' } });
    await whileAway(async () => {
      await app.roller.roll();
      expect(await admit('req_l/0', { scopes })).toMatchObject({ rejection: { metric: 'spend_cap' } });
    });
    await app.projections.payDebts();
    expect(await admit('req_l/0', { scopes })).toMatchObject({ kind: 'ok' });
  });
});

/** The first round of the service has rolled: no other follows for a minute. */
async function rolled(): Promise<void> {
  await eventually(async () => {
    const { rows } = await app.database.pool.query(
      'SELECT 1 FROM spend_window WHERE lapsed_to > now() - $1::interval',
      ['31 days'],
    );
    return rows.length === 1;
  });
}

describe('the 30-day window', () => {
  it('LIM-26 LIM-27 B14 drops an event once when it passes the edge, also one that is posted late; a key keeps it', async () => {
    await rolled();
    const edge = clock.now() - 30 * DAY_MS;
    const at = (ms: number) => new Date(ms).toISOString();
    await app.database.pool.query('UPDATE spend_window SET lapsed_to = $1', [new Date(edge - 60_000)]);
    await app.post(
      usageRecord({ cost_usd: '1', created_at: at(edge - 10) }),
      usageRecord({ cost_usd: '2', created_at: at(edge + 3_600_000) }),
    );
    expect(await app.funds.spent([ORG, KEY], 'acct_1')).toEqual(['3', '3']);
    expect(await app.roller.roll()).toBe(4);
    expect(await app.funds.spent([ORG, KEY], 'acct_1')).toEqual(['2', '3']);
    expect(await app.roller.roll()).toBe(0);
    await app.post(usageRecord({ cost_usd: '4', created_at: at(edge - 20) }));
    expect(await app.funds.spent([ORG, KEY], 'acct_1')).toEqual(['2', '7']);
    expect(await app.funds.spent([{ kind: 'member', id: 'usr_1' }], 'acct_other')).toEqual(['0']);
  });
});
