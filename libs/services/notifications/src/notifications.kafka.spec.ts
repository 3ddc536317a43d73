import { Module } from '@nestjs/common';
import { deadLetterTopic, PrincipalReader, TOPIC, type EventLog, type LogRecord } from '@gateway/contracts';
import { accountEventRow, connectEventLog, KafkaEventLog } from '@gateway/event-log';
import { bootstrap, PlatformModule, SystemClock, SystemRandom, type RunningApp } from '@gateway/platform';
import {
  eventually,
  LimitStoreDouble,
  MailerDouble,
  NO_PRESSURE,
  PrefixedEventLog,
  PrincipalReaderDouble,
  testDatabase,
  testKafka,
  type TestDatabase,
  type TestKafka,
} from '@gateway/testing';
import { mailModule, MIGRATED } from './notifications.fixture.js';
import { NotificationsConfig } from './notifications.config.js';
import { NotificationsModule } from './notifications.module.js';

const [clock, random] = [new SystemClock(), new SystemRandom()];

/**
 * Time above a rebalance (60 s): a member that was stopped while it joined, on a slow machine, holds its group up so
 * long.
 */
const PATIENCE = { timeoutMs: 90_000 };

let kafka: TestKafka;
let database: TestDatabase;
let log: EventLog;
let running: RunningApp | null;

/** The fleet's topics under the prefix of this file, so that other files' records are not counted. */
function prefixedLog(): EventLog {
  const { brokers } = kafka;
  // A service that is stopped while it joins its group would hold the group up for the next test.
  const options = { brokers, clientId: 'notifications-spec', clock, random, startWaitMs: 20_000 };
  return new PrefixedEventLog(new KafkaEventLog(options), kafka);
}

beforeAll(async () => {
  kafka = await testKafka();
  await kafka.createFleetTopics();
  database = await testDatabase(MIGRATED);
});
afterAll(() => database.drop());
beforeEach(() => {
  log = prefixedLog();
  running = null;
});
afterEach(async () => {
  await running?.close();
  await log.close();
});

async function start(): Promise<RunningApp> {
  const platform = PlatformModule.with({
    service: 'notifications',
    logLevel: 'silent',
    fleetToken: 'fleet-token-of-the-spec',
    eventLog: () => prefixedLog(),
    limitStore: () => new LimitStoreDouble({ clock, random }),
  });
  const config = Object.assign(new NotificationsConfig(), {
    NOTIFICATIONS_DATABASE_URL: database.url,
    NOTIFICATIONS_KEK: Buffer.alloc(32, 3).toString('base64'),
  });
  class Root {}
  Module({
    imports: [platform, mailModule(new MailerDouble()), NotificationsModule.with(config)],
    providers: [{ provide: PrincipalReader, useValue: new PrincipalReaderDouble() }],
  })(Root);
  running = await bootstrap({
    name: 'notifications',
    module: Root,
    config: { host: '127.0.0.1', port: 0, drainGraceMs: 1_000, pressure: NO_PRESSURE },
    connect: connectEventLog,
  });
  return running;
}

const revoked = (): LogRecord => {
  const data = { key_id: 'key_1', label: null, masked_key: 'rsk_...abcd' };
  const event = { type: 'api_key.revoked' as const, account_id: 'acct_1', org_id: null, data };
  return { key: 'acct_1', value: accountEventRow(event, '/keys', { clock, random }).value };
};

/** Returns the number of records that the running process has counted. */
async function counted(app: RunningApp, topic: string, outcome: string): Promise<number> {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const name = `gateway_consumed_records_total{service="notifications",topic="${topic}",outcome="${outcome}"} `;
  const line = text.split('\n').find((candidate) => candidate.startsWith(name));
  return line === undefined ? 0 : Number(line.slice(name.length));
}

describe('the notifications service', () => {
  it('starts, is alive and ready', async () => {
    const app = await start();
    for (const path of ['/healthz', '/readyz']) expect((await fetch(`${app.url}${path}`)).status).toBe(200);
  });

  it('consumes its topics, sends what it cannot read to the dead letters, and begins after it the next time', async () => {
    const topic = TOPIC.account;
    await log.append(topic, [revoked(), { key: 'acct_1', value: 'no event' }, revoked()]);
    for (const other of [TOPIC.usage, TOPIC.rejections])
      await log.append(other, [{ key: 'acct_1', value: 'no event' }]);
    const first = await start();
    await eventually(async () => (await counted(first, topic, 'handled')) >= 2, PATIENCE);
    for (const dead of [topic, TOPIC.usage, TOPIC.rejections])
      await eventually(async () => (await counted(first, dead, 'dead')) === 1, PATIENCE);
    await first.close();

    const letters: string[] = [];
    const reader = await log.consume({
      topics: [deadLetterTopic(topic)],
      group: 'reader',
      maxBatch: 10,
      lingerMs: 0,
      handler: async (batch) => void letters.push(...batch.map(({ value }) => value)),
    });
    await eventually(() => letters.length === 1, PATIENCE);
    await reader.stop();
    expect(JSON.parse(letters[0])).toMatchObject({
      source: '/notifications',
      data: { service: 'notifications', reason: 'not a CloudEvent of its topic', value: 'no event' },
    });

    await log.append(topic, [revoked()]);
    const second = await start();
    await eventually(async () => (await counted(second, topic, 'handled')) > 0, PATIENCE);
    expect([await counted(second, topic, 'handled'), await counted(second, topic, 'dead')]).toEqual([1, 0]);
  }, 400_000);
});
