import { SystemClock } from '@gateway/platform';
import { eventually, seededRandom, testKafka, type TestKafka } from '@gateway/testing';
import kafkajs from 'kafkajs';
import { KafkaAppender } from './kafka-appender.js';
import { kafkaClient } from './kafka-client.js';
import { KafkaEventLog } from './kafka-event-log.js';

const { CompressionTypes, ConfigResourceTypes } = kafkajs;

describe('codecs of Kafka', () => {
  let kafka: TestKafka;
  let client: kafkajs.Kafka;
  let admin: kafkajs.Admin;
  let log: KafkaEventLog;
  const faults: string[] = [];
  beforeAll(async () => {
    kafka = await testKafka();
    client = kafkaClient({ brokers: kafka.brokers, clientId: 'spec' });
    admin = client.admin();
    await admin.connect();
  });
  afterAll(() => admin?.disconnect());
  beforeEach(() => {
    faults.length = 0;
    log = new KafkaEventLog({
      ...{ brokers: kafka.brokers, clientId: 'spec', clock: new SystemClock(), random: seededRandom(1) },
      onFault: (error) => faults.push(String(error)),
    });
  });
  afterEach(() => log.close());

  const setting = (topic: string, name: string, value: string): Promise<unknown> =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name, value }] }],
    });
  const sent = (topic: string, bytes: number): Promise<void> =>
    log.append(topic, [{ key: 'acct_1', value: `${topic} ${'x'.repeat(bytes)}` }]);
  const seenOf = async (topic: string): Promise<string[]> => {
    const seen: string[] = [];
    const handler = async (batch: { value: string }[]): Promise<void> =>
      void seen.push(...batch.map(({ value }) => value));
    await log.consume({ topics: [topic], group: `${topic}.group`, maxBatch: 10, lingerMs: 0, handler });
    return seen;
  };
  it('operations 5: reads what a broker has packed with zstd, also after the setting is taken back', async () => {
    await kafka.createTopics(['zstd'], 1);
    const topic = kafka.topic('zstd');
    await setting(topic, 'compression.type', 'zstd');
    await sent(topic, 100);
    await sent(topic, 20_000);
    await setting(topic, 'compression.type', 'producer');
    await sent(topic, 20_000);
    const seen = await seenOf(topic);
    await eventually(() => seen.length === 3, { timeoutMs: 30_000 });
    expect(seen.map(({ length }) => length - topic.length - 1)).toEqual([100, 20_000, 20_000]);
  });

  it('operations 5: says of a batch that cannot be read what to do', async () => {
    await kafka.createTopics(['lz4'], 1);
    const topic = kafka.topic('lz4');
    await setting(topic, 'compression.type', 'lz4');
    await sent(topic, 10);
    await setting(topic, 'compression.type', 'producer');
    await sent(topic, 20);
    const seen = await seenOf(topic);
    const told = /packed with lz4, which is not read here: set compression\.type=producer/;
    await eventually(() => faults.some((fault) => told.test(fault)), { timeoutMs: 30_000 });
    expect(seen).toEqual([]);
  });

  it('packs batches of many records with gzip, and no small one that an answer may wait for', async () => {
    const codecs: unknown[] = [];
    const producer = {
      send: async ({ compression }: kafkajs.ProducerRecord): Promise<kafkajs.RecordMetadata[]> => {
        codecs.push(compression);
        return [];
      },
    };
    const appender = new KafkaAppender('events', producer, new SystemClock());
    await appender.append([{ key: 'a', value: 'x'.repeat(3_000) }]);
    await appender.append(Array.from({ length: 4 }, () => ({ key: 'a', value: 'x'.repeat(3_000) })));
    expect(codecs).toEqual([CompressionTypes.None, CompressionTypes.GZIP]);
  });
});
