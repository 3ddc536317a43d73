import type { UsageRecord } from '@gateway/contracts';
import { RedisLimitStore } from '@gateway/limits';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
  catalogueModel,
  CatalogueReaderDouble,
  EDGE_USAGE,
  HOURLY_PRICE,
  PRICE_EDGES,
  redisScripts,
  testDatabase,
  testRedis,
  usageRecord,
  type PriceEdge,
  type RedisScripts,
  type TestDatabase,
  type TestRedis,
} from '@gateway/testing';
import { ScheduledJobs } from '../background/scheduled-jobs.js';
import { books, emptyLedger } from '../posting/books.fixture.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import type { FullReconciliation } from './full-reconciliation.js';
import { reconciliationOf } from './full-reconciliation.fixture.js';

const FROM = { producer: 'edge-hours', epoch: 'e' };
/** Sum of the costs of all edges, added up by hand. */
const TOTAL = '0.002452';
const catalogue = new CatalogueReaderDouble();

let place: TestDatabase;
let redisPlace: TestRedis;
let redis: RedisScripts;
let app: UsageApp;
let reconciliation: FullReconciliation;
let records: UsageRecord[];

/** The event of a unit that was called at an edge. */
function eventOf({ at, window, costUsd }: PriceEdge, n: number, snapshotId: string): UsageRecord {
  return usageRecord({
    ...{ ...FROM, seq: n + 1, model: 'hours/edges', requested_model: 'hours/edges' },
    ...{ provider: 'openai', usage: EDGE_USAGE, cost_usd: costUsd, list_cost_usd: costUsd },
    priced_from: {
      ...{ snapshot_id: snapshotId, provider: 'openai', upstream_model: 'one', context: {} },
      ...{ tier: 'default', discount_pct: null, byok_served: false, byok_fee_pct: '0' },
      ...{ price_window: window, priced_at: at },
    },
  });
}

beforeAll(async () => {
  [place, redisPlace] = await Promise.all([testDatabase(MIGRATED), testRedis()]);
  redis = await redisScripts(redisPlace.url);
  const { id } = catalogue.serve(
    catalogueModel('hours/edges', [{ provider: 'openai', upstreamModel: 'one', price: HOURLY_PRICE }]),
  );
  const clock = new SystemClock();
  const store = new RedisLimitStore({
    pipe: redis.pipe,
    random: new SystemRandom(),
    testNow: () => clock.now(),
  });
  app = await startUsageApp(place.url, { limits: store, catalogue });
  await app.app.get(ScheduledJobs, { strict: false }).stop();
  reconciliation = reconciliationOf(app, store);
  records = PRICE_EDGES.map((edge, n) => eventOf(edge, n, id));
});
afterAll(async () => {
  await app?.close();
  redis?.close();
  await Promise.all([place?.drop(), redisPlace?.drop()]);
});

beforeEach(async () => {
  await redis.client.flushdb();
  await emptyLedger(app.database);
  const credit = {
    accountId: 'acct_1',
    orgId: null,
    amountUsd: '1',
    kind: 'admin_grant',
    source: 'g',
  } as const;
  await app.funds.credit(credit);
});

const posted = async (): Promise<string> => {
  const { rows } = await app.database.pool.query<{ posted: string }>(
    "SELECT trim_scale(posted)::text AS posted FROM account WHERE id = 'acct_1'",
  );
  return rows[0].posted;
};

describe('units at each edge of prices by hour in the ledger', () => {
  it('issue 37 the balance falls by what each event says, unit by unit, and the sum is the sum of the costs', async () => {
    for (const record of records) {
      const before = await posted();
      await app.post(record);
      const { rows } = await app.database.pool.query<{ fell: string }>(
        'SELECT trim_scale($1::numeric - $2::numeric)::text AS fell',
        [before, await posted()],
      );
      expect([record.priced_from?.priced_at, rows[0].fell]).toEqual([
        record.priced_from?.priced_at,
        record.cost_usd,
      ]);
    }
    const { findings, sums } = await reconciliation.run({ journals: [], isRepair: false });
    expect(findings).toEqual([]);
    expect(new Set(Object.values(sums))).toEqual(new Set([TOTAL]));
    expect(await books(app.database)).toMatchObject({
      events: TOTAL,
      transfers: TOTAL,
      totals: TOTAL,
      crooked: 0,
    });
  });

  it('issue 37 reconcile names each unit whose instant lies on the other side of its edge, with both prices', async () => {
    await app.post(...records);
    const expected: object[] = [];
    for (const [n, edge] of PRICE_EDGES.entries()) {
      const next = PRICE_EDGES.at(n + 1);
      if (next === undefined || Date.parse(next.at) - Date.parse(edge.at) !== 1) continue;
      if (next.window === edge.window) continue;
      const scope = `${records[n].request_id}/0`;
      expected.push(
        { kind: 'price_differs', account: 'acct_1', scope, expected: next.costUsd, found: edge.costUsd },
        {
          ...{ kind: 'window_differs', account: 'acct_1', scope },
          ...{ expected: next.window ?? 'standard', found: edge.window ?? 'standard' },
        },
      );
      await app.database.pool.query(
        "UPDATE usage_event SET priced_from = jsonb_set(priced_from, '{priced_at}', to_jsonb($2::text)) WHERE request_id = $1",
        [records[n].request_id, next.at],
      );
    }
    expect(expected.length).toBeGreaterThanOrEqual(16);
    const { findings } = await reconciliation.run({ journals: [], isRepair: false });
    expect(findings).toHaveLength(expected.length);
    expect(findings).toEqual(expect.arrayContaining(expected));
  });
});
