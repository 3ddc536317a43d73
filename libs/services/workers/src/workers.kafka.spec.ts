import { randomBytes } from 'node:crypto';
import { Module } from '@nestjs/common';
import { PrincipalReader, type EventLog, type LogRecord } from '@gateway/contracts';
import { KafkaEventLog } from '@gateway/event-log';
import {
  bootstrap,
  loadConfig,
  PlatformModule,
  SystemClock,
  SystemRandom,
  type RunningApp,
} from '@gateway/platform';
import {
  eventually,
  LimitStoreDouble,
  PrefixedEventLog,
  PrincipalReaderDouble,
  testKafka,
  type TestKafka,
} from '@gateway/testing';
import { WorkersConfig } from './workers.config.js';
import { TOPICS } from './workers.consumer.js';
import { WorkersModule } from './workers.module.js';

const [clock, random] = [new SystemClock(), new SystemRandom()];
const NO_LIMIT = { some: Infinity, all: Infinity };
const pressure = { delayMs: NO_LIMIT, rssBytes: NO_LIMIT, bodyBytes: NO_LIMIT };

let kafka: TestKafka;
let log: EventLog;
let group: string;
let running: RunningApp | null;

/** The fleet's topics under the prefix of this file, so that other files' records are not counted. */
function prefixedLog(): EventLog {
  const { brokers } = kafka;
  return new PrefixedEventLog(new KafkaEventLog({ brokers, clientId: 'workers-spec', clock, random }), kafka);
}

beforeAll(async () => {
  kafka = await testKafka();
  await kafka.createFleetTopics();
});
beforeEach(() => {
  log = prefixedLog();
  group = `workers-${randomBytes(6).toString('hex')}`;
  running = null;
});
afterEach(async () => {
  await running?.close();
  await log.close();
});

async function start(): Promise<RunningApp> {
  const platform = PlatformModule.with({
    service: 'workers',
    logLevel: 'silent',
    fleetToken: 'fleet-token-of-the-spec',
    eventLog: () => prefixedLog(),
    limitStore: () => new LimitStoreDouble({ clock, random }),
  });
  class Root {}
  const config = loadConfig(WorkersConfig, { WORKERS_GROUP: group });
  Module({
    imports: [platform, WorkersModule.with(config)],
    providers: [{ provide: PrincipalReader, useValue: new PrincipalReaderDouble() }],
  })(Root);
  running = await bootstrap({
    name: 'workers',
    module: Root,
    config: { host: '127.0.0.1', port: 0, drainGraceMs: 1_000, pressure },
  });
  return running;
}

const event = (topic: string, id: string): LogRecord => ({
  key: 'acct_1',
  value: JSON.stringify({ specversion: '1.0', id, source: '/spec', type: topic, data: {} }),
});

/** How many records the running process has counted. */
async function counted(app: RunningApp, topic: string, outcome: string): Promise<number> {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const name = `gateway_consumed_records_total{service="workers",topic="${topic}",outcome="${outcome}"} `;
  const line = text.split('\n').find((candidate) => candidate.startsWith(name));
  return line === undefined ? 0 : Number(line.slice(name.length));
}

describe('the workers service', () => {
  it('starts, is alive and ready, and has no endpoint of its own', async () => {
    const app = await start();
    for (const path of ['/healthz', '/readyz']) expect((await fetch(`${app.url}${path}`)).status).toBe(200);
    expect(app.routes.filter(({ access }) => access.public !== true)).toEqual([]);
  });

  it.each([...TOPICS])(
    'consumes %s, passes over what it cannot read, and begins after it the next time',
    async (topic) => {
      await log.append(topic, [
        event(topic, 'evt_1'),
        { key: 'acct_1', value: 'no event' },
        event(topic, 'evt_2'),
      ]);
      const first = await start();
      await eventually(async () => (await counted(first, topic, 'handled')) >= 2, { timeoutMs: 20_000 });
      expect(await counted(first, topic, 'unreadable')).toBeGreaterThan(0);
      await first.close();

      await log.append(topic, [event(topic, 'evt_3')]);
      const second = await start();
      await eventually(async () => (await counted(second, topic, 'handled')) > 0, { timeoutMs: 20_000 });
      expect([await counted(second, topic, 'handled'), await counted(second, topic, 'unreadable')]).toEqual([
        1, 0,
      ]);
    },
  );
});
