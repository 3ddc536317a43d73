import { kafkaClient } from '@gateway/event-log';
import { eventually, testKafka } from '@gateway/testing';
import kafkajs from 'kafkajs';
import { growTopic } from './kafka-growth.js';
import { createTopics } from './kafka-topics.js';

const ACCOUNTS = 20;
/** Records of each account before, during and after the growth. */
const RECORDS = 60;
const METADATA_MS = 500;

describe('growTopic', () => {
  it('operations 5: makes more partitions under load, and each account is read in the order in which it was sent', async () => {
    const { brokers, prefix } = await testKafka();
    const options = { prefix, replication: 1, partitionsMax: 2 };
    await createTopics(brokers, options);
    const topic = `${prefix}gateway.usage.v1`;
    const kafka = kafkaClient({ brokers, clientId: 'growth' });
    const consumer = kafka.consumer({ groupId: `${prefix}growth`, metadataMaxAge: METADATA_MS });
    const producer = kafka.producer({
      metadataMaxAge: METADATA_MS,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      retry: { retries: 0 },
    });
    await Promise.all([consumer.connect(), producer.connect()]);
    const seen = new Map<string, number[]>();
    const partitions = new Set<number>();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      partitionsConsumedConcurrently: 8,
      eachMessage: async ({ partition, message }) => {
        partitions.add(partition);
        const account = String(message.key);
        seen.set(account, [...(seen.get(account) ?? []), Number(message.value)]);
      },
    });
    let refused = 0;
    const said: string[] = [];
    const load = async (): Promise<void> => {
      for (let n = 0; n < RECORDS; n += 1) {
        const messages = Array.from({ length: ACCOUNTS }, (_, account) => ({
          key: `acct_${account}`,
          value: String(n),
        }));
        // As a journal ships: the same batch again until the brokers have it.
        const send = (): Promise<boolean> =>
          producer.send({ topic, acks: -1, messages }).then(
            () => true,
            () => {
              refused += 1;
              return false;
            },
          );
        await eventually(send, { timeoutMs: 60_000 });
        // The growth begins amid the load, and the rest comes behind it.
        if (n === RECORDS / 2) await eventually(() => said.length > 0, { timeoutMs: 60_000 });
      }
    };
    const loaded = load();
    await eventually(() => seen.size === ACCOUNTS, { timeoutMs: 60_000 });
    const growth = { topic: 'gateway.usage.v1', partitions: 8, drainMs: 60_000, ignored: [] };
    await growTopic(
      kafka,
      { ...growth, holdMs: 4 * METADATA_MS },
      { ...options, say: (line) => said.push(line) },
    );
    await loaded;
    const all = Array.from({ length: RECORDS }, (_, n) => n);
    await eventually(() => [...seen.values()].every(({ length }) => length >= RECORDS), {
      timeoutMs: 60_000,
    });
    await Promise.all([consumer.disconnect(), producer.disconnect()]);
    expect(refused).toBeGreaterThan(0);
    expect(partitions.size).toBeGreaterThan(2);
    // A batch that was refused in part is sent again whole: what comes twice is known by its number.
    for (const [account, numbers] of seen) expect([account, [...new Set(numbers)]]).toEqual([account, all]);
  });

  it('makes no partition while a group has records left, and names it', async () => {
    const { brokers, prefix } = await testKafka();
    const options = { prefix, replication: 1, partitionsMax: 1 };
    await createTopics(brokers, options);
    const topic = `${prefix}gateway.usage.v1`;
    const kafka = kafkaClient({ brokers, clientId: 'growth' });
    const [producer, admin] = [kafka.producer(), kafka.admin()];
    await Promise.all([producer.connect(), admin.connect()]);
    const sent = (): Promise<unknown> => producer.send({ topic, messages: [{ key: 'a', value: '1' }] });
    await sent();
    const partitions = [{ partition: 0, offset: '0' }];
    await admin.setOffsets({ groupId: `${prefix}behind`, topic, partitions });
    const growth = { topic: 'gateway.usage.v1', partitions: 2, drainMs: 2_000, holdMs: 0 };
    const say = (): void => undefined;
    await expect(growTopic(kafka, { ...growth, ignored: [] }, { ...options, say })).rejects.toThrow(
      `behind are: ${prefix}behind`,
    );
    // It takes records again.
    await eventually(() => sent().then(() => true), { timeoutMs: 30_000 });
    const ignored = [`${prefix}behind`];
    await growTopic(kafka, { ...growth, drainMs: 30_000, ignored }, { ...options, say });
    await expect(
      growTopic(kafka, { ...growth, partitions: 1, ignored }, { ...options, say }),
    ).rejects.toThrow('Kafka takes none away');
    await Promise.all([producer.disconnect(), admin.disconnect()]);
  });
});
