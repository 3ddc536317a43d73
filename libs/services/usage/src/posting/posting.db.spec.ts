import fc from 'fast-check';
import { Usd } from '@gateway/money';
import type { ConsumedRecord, UsageRecord } from '@gateway/contracts';
import {
  attemptRecord,
  eventually,
  rejectionRecord,
  testDatabase,
  usageRecord,
  type TestDatabase,
} from '@gateway/testing';
import { MIGRATED, delivered, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { ledgerFindings } from '../reconcile/ledger-proof.js';
import { books, emptyLedger } from './books.fixture.js';

let place: TestDatabase;
let app: UsageApp;
beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
});
afterAll(async () => {
  await app.close();
  await place.drop();
});

const empty = (): Promise<void> => emptyLedger(app.database);
beforeEach(empty);

async function one<T extends object>(sql: string, values: unknown[] = []): Promise<T> {
  const { rows } = await app.database.pool.query<T>(sql, values);
  return rows[0];
}

describe('posting', () => {
  it('moves the cost once from the account to revenue and into the buckets of every scope', async () => {
    await app.post(usageRecord({ cost_usd: '0.25' }), usageRecord({ cost_usd: '0.000000000001' }));
    const { rows } = await app.database.pool.query(
      `SELECT scope || ':' || scope_id AS name, trim_scale(amount)::text AS amount FROM spend_total ORDER BY 1`,
    );
    const amount = '0.250000000001';
    expect(rows).toEqual(
      [
        'key:key_1',
        'key:key_1/m:acme/swift',
        'member:usr_1',
        'org:org_1',
        'team:team_1',
        'team_member:team_1/usr_1',
      ].map((name) => ({ name, amount })),
    );
    expect(await books(app.database)).toEqual({
      events: amount,
      transfers: amount,
      fallen: amount,
      totals: amount,
      hours: amount,
      platformEvents: '0',
      platformTransfers: '0',
      crooked: 0,
      unlinked: 0,
    });
    expect(await one('SELECT count(*)::int AS n FROM transfer')).toEqual({ n: 1 });
  });

  it('lets the house bear what failed attempts cost, and the customer nothing of it', async () => {
    const failed = attemptRecord({ status: 'error', served: false, house_usd: '0.02' });
    await app.post(usageRecord({ cost_usd: '0.1', attempts: [failed, attemptRecord({ n: 2 })] }));
    expect(await books(app.database)).toMatchObject({
      events: '0.1',
      platformEvents: '0.02',
      platformTransfers: '0.02',
      crooked: 0,
    });
    expect(await one("SELECT trim_scale(posted)::text AS posted FROM account WHERE id = 'house'")).toEqual({
      posted: '-0.02',
    });
  });

  it('lets the house pay what was admitted while billing was off: the balance stays, the spend counts', async () => {
    const start = app.log.appended.length;
    await app.post(
      usageRecord({ cost_usd: '0.5' }),
      usageRecord({ cost_usd: '0.25', billing: 'off' }),
      usageRecord({ cost_usd: '0.125', billing: 'off' }),
    );
    await app.post(usageRecord({ cost_usd: '0.0625', billing: 'off' }));
    expect(await books(app.database)).toMatchObject({
      events: '0.9375',
      transfers: '0.9375',
      // Only what was admitted while billing was on.
      fallen: '0.5',
      totals: '0.9375',
      hours: '0.9375',
      crooked: 0,
      unlinked: 0,
    });
    expect(await one("SELECT trim_scale(posted)::text AS posted FROM account WHERE id = 'house'")).toEqual({
      posted: '-0.4375',
    });
    await waitForOutbox();
    const moved = app.log.appended.slice(start).map(({ record }) => JSON.parse(record.value).data);
    expect(moved.map(({ type, data }) => ({ type, ...data }))).toEqual([
      { type: 'balance.movement', balance_before: '0', balance_after: '-0.5' },
    ]);
    expect(await ledgerFindings(app.database.pool, ['acct_1'])).toEqual([]);
  });

  it('keeps a transfer as it was written: the table refuses UPDATE and DELETE', async () => {
    await app.post(usageRecord());
    await expect(app.database.pool.query('UPDATE transfer SET amount = 1')).rejects.toThrow('append-only');
    await expect(app.database.pool.query('DELETE FROM transfer')).rejects.toThrow('append-only');
  });

  it('tells movements of the balance and of a capped key, with what was before and after', async () => {
    const limits = [
      {
        scope: 'key' as const,
        scope_id: 'key_1',
        rpm: 1,
        rpm_limit: null,
        rpd: 1,
        rpd_limit: null,
        cap_usd: '5',
      },
    ];
    const start = app.log.appended.length;
    await app.post(usageRecord({ cost_usd: '1.5', limits }));
    await app.post(usageRecord({ cost_usd: '2', limits }));
    await waitForOutbox();
    const events = app.log.appended.slice(start).map(({ record }) => JSON.parse(record.value).data);
    expect(events.map(({ type, data }) => ({ type, ...data }))).toEqual([
      { type: 'balance.movement', balance_before: '0', balance_after: '-1.5' },
      { type: 'spend.movement', key_id: 'key_1', spent_before: '0', spent_after: '1.5', cap_usd: '5' },
      { type: 'balance.movement', balance_before: '-1.5', balance_after: '-3.5' },
      { type: 'spend.movement', key_id: 'key_1', spent_before: '1.5', spent_after: '3.5', cap_usd: '5' },
    ]);
  });

  it('replaces the event of a died process by the real outcome, never the other way round', async () => {
    const real = usageRecord({ request_id: 'req_crash', cost_usd: '0.3' });
    const crash = usageRecord({
      request_id: 'req_crash',
      id: 'use_crash',
      status: 'error',
      outcome: 'failed',
      error_code: 'gateway_crash',
      cost_usd: null,
      attempts: [],
      epoch: 'e2',
      seq: 1,
    });
    await app.post(crash);
    expect(await books(app.database)).toMatchObject({ events: '0' });
    await app.post(real);
    await app.post(crash);
    await app.post(crash, real);
    expect(await one('SELECT id, error_code FROM usage_event')).toEqual({ id: real.id, error_code: null });
    expect(await books(app.database)).toMatchObject({ events: '0.3', transfers: '0.3', totals: '0.3' });
  });

  it('makes a dead letter of what cannot be applied, passes the watermark over it and posts the rest', async () => {
    const from = { producer: 'edge-9', epoch: 'e' };
    const good = [usageRecord({ ...from, seq: 1 }), usageRecord({ ...from, seq: 4 })];
    const twice = usageRecord({ ...from, seq: 4 });
    const bad: ConsumedRecord[] = [
      delivered({ ...usageRecord({ ...from, seq: 2 }), latency_ms: 'slow' as never }),
      { ...delivered(usageRecord()), value: '{"half' },
      delivered({ ...usageRecord({ ...from, seq: 3 }), cost_usd: '-1' }),
    ];
    await app.ingestion.apply([...good.map(delivered), ...bad, delivered(twice)]);
    expect(await app.funds.watermark('edge-9', 'e')).toBe(4);
    expect(await books(app.database)).toMatchObject({ events: '0.003', transfers: '0.003' });
    const { rows } = await app.database.pool.query('SELECT reason FROM dead_letter ORDER BY reason');
    expect(rows.map(({ reason }) => reason)).toEqual([
      'a cost below 0',
      expect.stringContaining('usage_event_producer_epoch_seq_key'),
      'not a CloudEvent of its topic',
      'the field latency_ms is not what the contract says',
    ]);
    await app.ingestion.apply(bad);
    expect(await one('SELECT count(*)::int AS n FROM dead_letter')).toEqual({ n: 4 });
  });

  it('answers a watermark without gaps, over records of both topics', async () => {
    const from = { producer: 'edge-7', epoch: 'e' };
    expect(await app.funds.watermark('edge-7', 'e')).toBe(0);
    await app.post(usageRecord({ ...from, seq: 3 }), usageRecord({ ...from, seq: 1 }));
    expect(await app.funds.watermark('edge-7', 'e')).toBe(1);
    await app.post(rejectionRecord({ ...from, seq: 2 }));
    expect(await app.funds.watermark('edge-7', 'e')).toBe(3);
    expect(await app.funds.watermark('edge-7', 'other')).toBe(0);
  });

  it('B17 the topic replayed into an empty database takes the same money from the same accounts', async () => {
    const units = Array.from({ length: 60 }, (_, n) =>
      usageRecord({
        account_id: `acct_${n % 3}`,
        key_id: `key_${n % 5}`,
        cost_usd: n % 7 === 0 ? null : `0.00${n}1`,
        producer: 'edge-b17',
        epoch: 'e',
        seq: n + 1,
      }),
    );
    for (let start = 0; start < units.length; start += 20) await app.post(...units.slice(start, start + 20));
    const debits = async (): Promise<unknown[]> =>
      (
        await app.database.pool.query(
          `SELECT debit, trim_scale(sum(amount))::text AS amount FROM transfer WHERE kind = 'usage' GROUP BY 1 ORDER BY 1`,
        )
      ).rows;
    const totals = async (): Promise<unknown[]> =>
      (
        await app.database.pool.query(
          'SELECT account_id, scope, scope_id, trim_scale(amount)::text FROM spend_total ORDER BY 1, 2, 3',
        )
      ).rows;
    const before = [await debits(), await totals(), await books(app.database)];
    await empty();
    for (const unit of units.toReversed()) await app.post(unit, unit);
    expect([await debits(), await totals(), await books(app.database)]).toEqual(before);
    expect(await app.funds.watermark('edge-b17', 'e')).toBe(60);
  });

  it('R09 moves a key and its account in one chain under parallel postings: each rung lies in one movement', async () => {
    const limits = [
      {
        scope: 'key' as const,
        scope_id: 'key_1',
        rpm: 1,
        rpm_limit: null,
        rpd: 1,
        rpd_limit: null,
        cap_usd: '5',
      },
    ];
    const start = app.log.appended.length;
    const batches = Array.from({ length: 24 }, (_, n) =>
      [1, 2].map((k) =>
        usageRecord({ cost_usd: '0.1', limits, producer: 'edge-r9', epoch: 'e', seq: 2 * n + k }),
      ),
    );
    await Promise.all(batches.map((batch) => app.post(...batch)));
    await waitForOutbox();
    const events = app.log.appended.slice(start).map(({ record }) => JSON.parse(record.value).data);
    const of = (type: string, from: string, to: string): [number, number][] =>
      events
        .filter((event) => event.type === type)
        .map(({ data }): [number, number] => [Number(data[from]), Number(data[to])]);
    const spend = of('spend.movement', 'spent_before', 'spent_after');
    const balance = of('balance.movement', 'balance_before', 'balance_after');
    // In the order in which they left, each begins where the one before has ended.
    for (const chain of [spend, balance]) {
      expect(chain).toHaveLength(24);
      expect(chain.slice(1).map(([before]) => before)).toEqual(chain.slice(0, -1).map(([, after]) => after));
    }
    for (const rung of [2.5, 4, 4.75])
      expect(spend.filter(([before, after]) => before < rung && rung <= after)).toHaveLength(1);
    for (const rung of [-1, -3.33])
      expect(balance.filter(([before, after]) => before > rung && rung >= after)).toHaveLength(1);
  });

  it('B07 any redelivery, shuffle and cut of the same records gives the same books', async () => {
    const kinds = fc.record({
      account: fc.constantFrom('a', 'b', 'c'),
      key: fc.constantFrom('k1', 'k2'),
      cost: fc.oneof(fc.constant(null), fc.bigInt(0n, 10n ** 15n)),
      crashedFirst: fc.boolean(),
      ageHours: fc.integer({ min: 0, max: 48 }),
    });
    const history = fc.array(kinds, { minLength: 1, maxLength: 25 }).chain((units) =>
      fc.record({
        units: fc.constant(units),
        deliveries: fc.array(fc.nat(1_000), { minLength: 5, maxLength: 60 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
        async ({ units, deliveries }, cuts) => {
          await empty();
          const records = units.flatMap(recordsOf);
          // Every record comes at least once, some again, in any order.
          const order = [...deliveries.map((n) => records[n % records.length]), ...records.toReversed()];
          for (let at = 0, cut = 0; at < order.length; cut += 1) {
            const size = cuts[cut % cuts.length];
            await app.post(...order.slice(at, at + size));
            at += size;
          }
          const sum = Usd.sum(units.map(({ cost }) => Usd.parse(picoText(cost ?? 0n)))).toString();
          expect(await books(app.database)).toEqual({
            events: sum,
            transfers: sum,
            fallen: sum,
            totals: sum,
            hours: sum,
            platformEvents: '0',
            platformTransfers: '0',
            crooked: 0,
            unlinked: 0,
          });
          expect(await app.funds.watermark('edge-p', 'p')).toBe(units.length);
        },
      ),
      { numRuns: 25 },
    );
  }, 600_000);
});

interface Unit {
  account: string;
  key: string;
  cost: bigint | null;
  crashedFirst: boolean;
  ageHours: number;
}

function recordsOf({ account, key, cost, crashedFirst, ageHours }: Unit, index: number): UsageRecord[] {
  const real = usageRecord({
    request_id: `req_p${index}`,
    account_id: `acct_${account}`,
    org_id: `org_${account}`,
    key_id: `key_${account}_${key}`,
    cost_usd: cost === null ? null : picoText(cost),
    created_at: new Date(Date.parse('2026-11-20T12:00:00Z') - ageHours * 3_600_000).toISOString(),
    producer: 'edge-p',
    epoch: 'p',
    seq: index + 1,
  });
  if (!crashedFirst) return [real];
  const crash = {
    ...real,
    id: `${real.id}x`,
    error_code: 'gateway_crash',
    status: 'error' as const,
    cost_usd: null,
  };
  return [{ ...crash, epoch: 'q' }, real];
}

function picoText(pico: bigint): string {
  return `${pico / 10n ** 12n}.${String(pico % 10n ** 12n).padStart(12, '0')}`;
}

async function waitForOutbox(): Promise<void> {
  await eventually(async () => (await one<{ n: number }>('SELECT count(*)::int AS n FROM outbox')).n === 0);
}
