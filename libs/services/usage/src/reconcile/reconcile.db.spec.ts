import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPIC, type UsageRecord } from '@gateway/contracts';
import { encodeFrame } from '@gateway/journal';
import { RedisLimitStore } from '@gateway/limits';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
  attemptRecord,
  catalogueModel,
  CatalogueReaderDouble,
  redisScripts,
  rejectionRecord,
  testDatabase,
  testRedis,
  usageRecord,
  type RedisScripts,
  type TestDatabase,
  type TestRedis,
} from '@gateway/testing';
import { withoutTriggers } from '../postgres/emptied-tables.fixture.js';
import { emptyLedger } from '../posting/books.fixture.js';
import { ScheduledJobs } from '../background/scheduled-jobs.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { LedgerStore } from '../ledger/ledger.store.js';
import { giveUp } from '../operator/give-up.js';
import { PLANTED_BY_SQL, type PlantedBySql } from './planted.fixture.js';
import type { FullReconciliation } from './full-reconciliation.js';
import { reconciliationOf } from './full-reconciliation.fixture.js';
import { Reconciler } from './reconciler.js';

const clock = new SystemClock();
const FROM = { producer: 'edge-r', epoch: 'e' };
const catalogue = new CatalogueReaderDouble();
const pricedFrom = {
  ...{ snapshot_id: '', provider: 'hosty', upstream_model: 'swift-1', context: {} },
  ...{ tier: 'default' as const, discount_pct: null, byok_served: false, byok_fee_pct: '0' },
};
const SCOPES = [{ kind: 'key' as const, id: 'key_1' }];

let place: TestDatabase;
let redisPlace: TestRedis;
let redis: RedisScripts;
let store: RedisLimitStore;
let laterMs = 0;
let app: UsageApp;
let reconciler: Reconciler;
let reconciliation: FullReconciliation;

beforeAll(async () => {
  [place, redisPlace] = await Promise.all([testDatabase(MIGRATED), testRedis()]);
  redis = await redisScripts(redisPlace.url);
  const testNow = (): number => clock.now() + laterMs;
  const terms = catalogue.serve(
    catalogueModel('acme/swift', [
      { provider: 'hosty', upstreamModel: 'swift-1', price: { request_usd: '0.25' } },
    ]),
  );
  pricedFrom.snapshot_id = terms.id;
  store = new RedisLimitStore({ pipe: redis.pipe, random: new SystemRandom(), testNow });
  app = await startUsageApp(place.url, { limits: store, catalogue });
  reconciler = app.app.get(Reconciler, { strict: false });
  reconciliation = reconciliationOf(app, store);
  // A round that reports the ledger to the limit store would report what is planted in it.
  await app.app.get(ScheduledJobs, { strict: false }).stop();
});
afterAll(async () => {
  await app?.close();
  redis?.close();
  await Promise.all([place?.drop(), redisPlace?.drop()]);
});

let records: UsageRecord[];
beforeEach(async () => {
  laterMs = 0;
  await redis.client.flushdb();
  await emptyLedger(app.database);
  await app.database.pool.query('UPDATE spend_window SET lapsed_to = $1, tags_to = tags_from', [
    new Date(clock.now() - 30 * 86_400_000),
  ]);
  const failed = attemptRecord({ status: 'error', served: false, house_usd: '0.02' });
  records = [
    usageRecord({
      ...{ ...FROM, seq: 1, cost_usd: '0.25', model: 'acme/swift' },
      ...{ priced_from: pricedFrom, usage: { requests: 1 } },
    }),
    usageRecord({ ...FROM, seq: 2, cost_usd: '0.5', attempts: [failed, attemptRecord({ n: 2 })] }),
    usageRecord({ ...FROM, seq: 3, cost_usd: '2', account_id: 'acct_2', org_id: 'org_2', key_id: 'key_2' }),
  ];
  await app.post(...records);
  await app.funds.credit({
    accountId: 'acct_1',
    orgId: null,
    amountUsd: '10',
    kind: 'admin_grant',
    source: 'g',
  });
});

const sql = async (text: string, values: unknown[] = []): Promise<void> =>
  void (await app.database.pool.query(text, values));

function bySql({ sql: statement, isGuarded = false }: PlantedBySql): Promise<void> {
  return isGuarded ? withoutTriggers(app.database.pool, statement) : sql(statement);
}

interface Planted extends Pick<PlantedBySql, 'found' | 'also' | 'stays'> {
  plant: () => Promise<void>;
  journals?: () => string[];
}

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'reconcile-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A journal of one epoch with these frames. */
function journal(...frames: object[]): void {
  const dir = join(folder, 'edge-r', 'e');
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, '1.log'), Buffer.concat(frames.map((frame) => encodeFrame(JSON.stringify(frame)))));
}

function outcome(record: UsageRecord): object {
  const head = {
    seq: record.seq,
    topic: TOPIC.usage,
    key: record.account_id,
    at: 0,
    unit: null,
    isCrash: false,
  };
  return { outcome: { ...head, settle: null }, value: record };
}

async function settle(unit: string, nano: bigint): Promise<void> {
  const rest = { scopes: SCOPES, tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 0 };
  await store.put([{ accountId: 'acct_1', unit, action: 'settle', nano, ...rest }]);
}

const PLANTED: Record<string, Planted> = {
  ...Object.fromEntries(
    Object.entries(PLANTED_BY_SQL).map(([kind, planted]) => [
      kind,
      { ...planted, plant: () => bySql(planted) },
    ]),
  ),
  unit_without_event: {
    plant: async () => {
      journal(...records.map(outcome));
      await withoutTriggers(
        app.database.pool,
        "DELETE FROM usage_event WHERE request_id = '" + records[2].request_id + "'",
      );
    },
    journals: () => [folder],
    also: ['total_differs', 'hour_differs', 'row_missing', 'slot_differs'],
    found: [
      { kind: 'unit_without_event', account: 'acct_2', expected: '1', found: '0' },
      { kind: 'transfer_without_event', account: 'acct_2', expected: '0', found: '2' },
    ],
  },
  intent_without_event: {
    plant: async () => {
      const facts = { created_at: new Date(clock.now() - 7_200_000).toISOString() };
      journal({ intent: { unit: 'req_never/0', accountId: 'acct_1', facts } });
    },
    journals: () => [folder],
    found: [
      { kind: 'intent_without_event', account: 'acct_1', scope: 'req_never/0', expected: '1', found: '0' },
    ],
    stays: true,
  },
  journal_range_skipped: {
    // Of two units that a dead process left open, one died in the range: whoever closed it knew that.
    plant: async () => {
      const facts = { created_at: new Date(clock.now()).toISOString() };
      const open = ['req_lost', 'req_died'].map((request_id) => ({
        ...{ ...FROM, request_id, unit: 0, cost_usd: null, error_code: 'gateway_crash' },
        usage_estimated: request_id === 'req_lost',
      }));
      await app.post(...open.map((record, at) => usageRecord({ ...record, seq: 4 + at })));
      const intents = ['req_lost/0', 'req_died/0', 'req_under_way/0'].map((unit) => ({
        intent: { unit, accountId: 'acct_1', facts },
      }));
      journal(...records.map(outcome), ...intents);
      const path = join(folder, 'edge-r', 'e', '1.log');
      const bytes = readFileSync(path);
      bytes[20] ^= 1;
      writeFileSync(path, bytes);
      writeFileSync(`${path}.quarantine`, bytes);
    },
    journals: () => [folder],
    found: [
      { kind: 'journal_range_skipped', scope: expect.stringMatching(/1\.log at 0$/), found: '0' },
      { kind: 'journal_range_skipped', scope: expect.stringMatching(/1\.log\.quarantine at 0$/) },
      { kind: 'journal_range_skipped', account: 'acct_1', scope: 'req_lost/0', expected: '1', found: '0' },
    ],
    stays: true,
  },
  sequence_gap: {
    plant: () => app.post(usageRecord({ ...FROM, seq: 6, cost_usd: null })),
    found: [{ kind: 'sequence_gap', account: null, scope: 'edge-r/e', expected: '6', found: '4' }],
    stays: true,
  },
  mirror_differs: {
    plant: async () => {
      const { rows } = await app.database.pool.query<{ version: string }>(
        "SELECT version FROM account WHERE id = 'acct_1'",
      );
      const scopes = [{ kind: 'key' as const, id: 'key_1', postedNano: 5n }];
      const version = Number(rows[0].version);
      await store.mirror({
        accountId: 'acct_1',
        gen: null,
        version,
        balanceNano: 9_250_000_000n,
        scopes,
        units: [],
      });
    },
    found: [
      {
        kind: 'mirror_differs',
        account: 'acct_1',
        scope: 'key:key_1',
        expected: '0.75',
        found: '0.000000005',
      },
    ],
  },
  unposted_differs: {
    plant: async () => {
      journal(...records.map(outcome));
      await settle('req_unknown/0', 40n);
    },
    journals: () => [folder],
    found: [{ kind: 'unposted_differs', account: 'acct_1', expected: '0', found: '0.00000004' }],
    stays: true,
  },
  reservation_phantom: {
    plant: async () => {
      const rest = { scopes: SCOPES, tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 90_000 };
      await store.put([{ accountId: 'acct_1', unit: 'req_p/0', action: 'renew', nano: 70n, ...rest }]);
      await redis.client.del('units:{acct_1}', 'due:{acct_1}');
    },
    found: [
      { kind: 'reservation_phantom', account: 'acct_1', scope: null, expected: '0', found: '0.00000007' },
      { kind: 'reservation_phantom', account: 'acct_1', scope: 'key:key_1' },
    ],
    stays: true,
  },
  'row_missing of a unit that cost nothing': {
    plant: async () => {
      await app.post(...[4, 5, 6].map((seq) => usageRecord({ ...FROM, seq, cost_usd: null })));
      await sql('DELETE FROM usage_event WHERE seq IN (4, 5)');
    },
    found: [{ kind: 'row_missing', account: null, scope: 'edge-r/e 4 to 5', expected: '2', found: '0' }],
    also: ['slot_differs'],
    stays: true,
  },
  'row_missing of a refusal': {
    plant: async () => {
      await app.post(rejectionRecord({ ...FROM, seq: 4 }));
      await sql('DELETE FROM rejection');
    },
    found: [{ kind: 'row_missing', account: null, scope: 'edge-r/e 4 to 4', expected: '1', found: '0' }],
    stays: true,
  },
  unit_held: {
    plant: async () => {
      await settle(`${records[0].request_id}/0`, 250_000_000n);
      laterMs = 6_000;
    },
    found: [{ kind: 'unit_held', account: 'acct_1', expected: '0', found: '1' }],
  },
};

describe('the proof of the books', () => {
  it('finds nothing in books that are right, and prints the same sum on every path', async () => {
    journal(...records.map(outcome));
    const { findings, sums } = await reconciliation.run({ journals: [folder], isRepair: false });
    expect(findings).toEqual([]);
    expect(new Set(Object.values(sums))).toEqual(new Set(['2.75']));
  });

  it.each(Object.entries(PLANTED))(
    'B16 names a planted %s (one of 28), and repairs it by new rows alone',
    async (_kind, planted) => {
      await planted.plant();
      const before = await transfers();
      const journals = planted.journals?.() ?? [];
      const { findings } = await reconciliation.run({ journals, isRepair: true });
      const named = planted.found.map((finding) => expect.objectContaining(finding));
      expect(findings).toEqual(expect.arrayContaining(named));
      const kinds = [...planted.found.map(({ kind }) => kind), ...(planted.also ?? [])];
      expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(kinds));
      const after = await transfers();
      expect(after.filter((transfer) => before.includes(transfer))).toEqual(before);
      laterMs = 0;
      const again = await reconciliation.run({ journals, isRepair: false });
      const mended = planted.stays ? [...named.map(() => expect.anything())] : [];
      expect(again.findings).toEqual(mended);
    },
  );

  it('B16 plants 28 differences', () => {
    expect(Object.keys(PLANTED)).toHaveLength(28);
  });

  it('takes numbers without a row of their own for what they are', async () => {
    const crashed = usageRecord({ ...FROM, seq: 5, cost_usd: null, error_code: 'gateway_crash' });
    await app.post(usageRecord({ ...records[0], seq: 4 }), crashed, rejectionRecord({ ...FROM, seq: 6 }));
    await app.post(usageRecord({ ...crashed, seq: 7, error_code: null }));
    await app.post(usageRecord({ ...FROM, seq: 8, cost_usd: '-1' }));
    await app.post(usageRecord({ ...FROM, seq: 12, cost_usd: null }));
    await giveUp({ ...FROM, reason: 'lost' }, { database: app.database, clock, random: new SystemRandom() });
    await sql("UPDATE rejection SET created_at = now() - interval '1 year'");
    await app.app.get(LedgerStore, { strict: false }).removeOldRejections();
    const { findings } = await reconciliation.run({ journals: [], isRepair: false });
    expect(findings.map(({ kind }) => kind)).toEqual(['dead_letter_open']);
    await sql('DELETE FROM usage_event WHERE seq = 7');
    const after = await reconciliation.run({ journals: [], isRepair: false });
    expect(after.findings).toContainEqual(expect.objectContaining({ scope: 'edge-r/e 7 to 7' }));
  });

  it('counts billed events whose terms cannot be read', async () => {
    await sql(`UPDATE usage_event SET priced_from = jsonb_set(priced_from, '{snapshot_id}', '"gone"')`);
    expect(await reconciliation.run({ journals: [], isRepair: false })).toMatchObject({
      unpriced: 1,
      findings: [],
    });
  });

  it('posts the events that a repair brings as they were, also for the reads', async () => {
    await PLANTED['unit_without_event'].plant();
    await reconciliation.run({ journals: [folder], isRepair: true });
    const { rows } = await app.database.pool.query(
      'SELECT cost::float8 AS cost FROM usage_event WHERE request_id = $1',
      [records[2].request_id],
    );
    expect(rows).toEqual([{ cost: 2 }]);
  });

  it('counts what the journal has not shipped yet as unposted, not as lost', async () => {
    const tail = usageRecord({ ...FROM, seq: 4, cost_usd: '0.000000125' });
    journal(...[...records, tail].map(outcome));
    await settle(`${tail.request_id}/0`, 125n);
    expect((await reconciliation.run({ journals: [folder], isRepair: false })).findings).toEqual([]);
  });

  it('does not judge what an account in use has unposted', async () => {
    journal(...records.map(outcome));
    let isOver = false;
    const use = async (): Promise<void> => {
      for (let n = 1; !isOver; n += 1) await settle(`req_in_use_${n}/0`, 40n);
    };
    await settle('req_in_use/0', 40n);
    const inUse = use();
    const { findings } = await reconciliation.run({ journals: [folder], isRepair: false });
    isOver = true;
    await inUse;
    expect(findings).toEqual([]);
    expect((await reconciliation.run({ journals: [folder], isRepair: false })).findings).toHaveLength(1);
  });

  it('finds differences in its rounds, each minute a part, and shows them to super admins as metrics do', async () => {
    await sql("UPDATE spend_total SET amount = 7 WHERE account_id = 'acct_1' AND scope = 'team'");
    await withoutTriggers(app.database.pool, "UPDATE transfer SET amount = 1.5 WHERE debit = 'acct_2'");
    await reconciler.advance();
    const kinds = reconciler.state.findings.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['total_differs', 'transfer_differs', 'account_differs']));
    expect(reconciler.state.roundEndedAtMs).not.toBeNull();
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    expect(metrics).toContain('gateway_reconcile_differences{kind="total_differs"} 1');
    await reconciliation.run({ journals: [], isRepair: true });
    await reconciler.advance();
    expect(reconciler.state.findings).toEqual([]);
  });

  it('B16 names a held unit from the second round on: the round over due units may be about to free it', async () => {
    const heldNow = async (): Promise<string[]> => {
      laterMs += 6_000;
      await reconciler.advance();
      return reconciler.state.findings.map(({ kind }) => kind);
    };
    await settle(`${records[0].request_id}/0`, 250_000_000n);
    expect(await heldNow()).toEqual([]);
    expect(await heldNow()).toEqual(['unit_held']);
    await app.projections.reportUnits('acct_1', [`${records[0].request_id}/0`]);
    expect(await heldNow()).toEqual([]);
  });
});

async function transfers(): Promise<string[]> {
  const { rows } = await app.database.pool.query<{ row: string }>(
    'SELECT t::text AS row FROM transfer t ORDER BY id',
  );
  return rows.map(({ row }) => row);
}
