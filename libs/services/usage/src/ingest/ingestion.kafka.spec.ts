import { TOPIC } from '@gateway/contracts';
import { KafkaEventLog } from '@gateway/event-log';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
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
