import { TOPIC } from '@gateway/contracts';
import { KafkaEventLog } from '@gateway/event-log';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
  compactRecord,
  eventually,
  PrefixedEventLog,
  rejectionRecord,
  seededRandom,
  testDatabase,
  testKafka,
  usageRecord,
  type TestDatabase,
  type TestKafka,
} from '@gateway/testing';
import { cloudEvent, MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { books } from '../posting/books.fixture.js';

let place: TestDatabase;
let kafka: TestKafka;
let app: UsageApp;
let log: PrefixedEventLog;

beforeAll(async () => {
  [place, kafka] = await Promise.all([testDatabase(MIGRATED), testKafka()]);
  await kafka.createFleetTopics();
  log = prefixedLog();
  app = await startUsageApp(place.url, { eventLog: log });
}, 600_000);
afterAll(async () => {
  await app.close();
  await place.drop();
});

/** Kafka whose topics and groups carry the prefix of this file, unseen by the service. */
function prefixedLog(): PrefixedEventLog {
  const sources = { clock: new SystemClock(), random: new SystemRandom() };
  const { brokers } = kafka;
  return new PrefixedEventLog(new KafkaEventLog({ brokers, clientId: 'usage-spec', ...sources }), kafka);
}

async function appendUsage(records: ReturnType<typeof usageRecord>[]): Promise<void> {
  await log.append(
    TOPIC.usage,
    records.map((record) => ({ key: record.account_id, value: cloudEvent(TOPIC.usage, record) })),
  );
}

async function appendCompact(records: ReturnType<typeof usageRecord>[]): Promise<void> {
  await log.append(
    TOPIC.usageV2,
    records.map((record) => ({
      key: record.account_id,
      value: cloudEvent(TOPIC.usageV2, compactRecord(record)),
    })),
  );
}

describe('the consumer on Kafka', () => {
  it('posts what was shipped, each unit once, though every record was delivered three times', async () => {
    const records = Array.from({ length: 600 }, (_, n) =>
      usageRecord({
        account_id: `acct_${n % 7}`,
        key_id: `key_${n % 7}`,
        cost_usd: '0.001',
        producer: 'edge-k',
        epoch: 'k',
        seq: n + 1,
      }),
    );
    for (let times = 0; times < 3; times += 1) await appendUsage(records);
    const refused = rejectionRecord({ producer: 'edge-k', epoch: 'k', seq: 601 });
    await log.append(TOPIC.rejections, [
      { key: refused.account_id, value: cloudEvent(TOPIC.rejections, refused) },
      { key: 'acct_1', value: 'no JSON' },
    ]);
    await eventually(async () => (await app.funds.watermark('edge-k', 'k')) === 601, { timeoutMs: 60_000 });
    expect(await books(app.database)).toMatchObject({
      events: '0.6',
      transfers: '0.6',
      fallen: '0.6',
      totals: '0.6',
      crooked: 0,
      unlinked: 0,
    });
    await eventually(async () => {
      const { rows } = await app.database.pool.query('SELECT reason FROM dead_letter');
      return rows.length === 1;
    });
  }, 600_000);

  it('counts a unit once that is on both topics of usage, and one watermark passes over all topics of an epoch', async () => {
    const units = Array.from({ length: 90 }, (_, n) =>
      usageRecord({
        ...{ account_id: `acct_v${n % 3}`, org_id: null, team_id: null, cost_usd: '0.001', limits: [] },
        ...{
          usage: { prompt_tokens: 100, completion_tokens: 50 },
          producer: 'edge-v',
          epoch: 'v',
          seq: n + 1,
        },
      }),
    );
    const crash = usageRecord({
      ...units[0],
      error_code: 'gateway_crash',
      cost_usd: null,
      list_cost_usd: null,
    });
    const refused = rejectionRecord({ producer: 'edge-v', epoch: 'v', seq: 91 });
    await appendUsage([{ ...crash, producer: 'edge-w', epoch: 'w', seq: 1 }]);
    await eventually(async () => (await app.funds.watermark('edge-w', 'w')) === 1, { timeoutMs: 60_000 });
    await appendCompact(units.slice(0, 60));
    await appendUsage(units.slice(30));
    await appendCompact(units.slice(40, 50));
    await log.append(TOPIC.rejections, [
      { key: refused.account_id, value: cloudEvent(TOPIC.rejections, refused) },
    ]);
    await eventually(async () => (await app.funds.watermark('edge-v', 'v')) === 91, { timeoutMs: 60_000 });
    const { rows } = await app.database.pool.query(
      `SELECT account_id, count(*)::int AS events, sum(cost)::text AS cost, min(error_code) AS crashed, min(status) AS status,
         sum(prompt_tokens)::int AS prompt FROM usage_event WHERE account_id LIKE 'acct_v%' GROUP BY 1 ORDER BY 1`,
    );
    expect(rows).toEqual(
      ['acct_v0', 'acct_v1', 'acct_v2'].map((account_id) => ({
        ...{ account_id, events: 30, crashed: null, status: 'success', prompt: 3_000 },
        cost: expect.stringMatching(/^0\.030*$/) as string,
      })),
    );
    expect(await books(app.database)).toMatchObject({ crooked: 0, unlinked: 0 });
  }, 600_000);

  it('B07 a second member joins in mid-batch, each record comes 1 to 50 times, shuffled: each unit counts once', async () => {
    const random = seededRandom(7);
    const units = Array.from({ length: 60 }, (_, n) =>
      usageRecord({
        ...{ account_id: `acct_r${n % 9}`, key_id: `key_r${n % 9}`, cost_usd: '0.01' },
        ...{ producer: 'edge-rebalance', epoch: 'r', seq: n + 1 },
      }),
    );
    const deliveries = units
      .flatMap((unit) => Array.from({ length: 1 + Math.floor(random.fraction() * 50) }, () => unit))
      .map((unit) => ({ unit, order: random.fraction() }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ unit }) => unit);
    await appendUsage(deliveries.slice(0, deliveries.length / 2));
    const second = await startUsageApp(place.url, { eventLog: prefixedLog() });
    try {
      await appendUsage(deliveries.slice(deliveries.length / 2));
      const applied = async (): Promise<boolean> => (await app.funds.watermark('edge-rebalance', 'r')) === 60;
      await eventually(applied, { timeoutMs: 60_000 });
    } finally {
      await second.close();
    }
    const { rows } = await app.database.pool.query(
      `SELECT count(*)::int AS events, sum(cost)::float8 AS cost FROM usage_event WHERE producer = 'edge-rebalance'`,
    );
    expect(rows).toEqual([{ events: 60, cost: 0.6 }]);
    expect(await books(app.database)).toMatchObject({ crooked: 0, unlinked: 0 });
  }, 600_000);
});
