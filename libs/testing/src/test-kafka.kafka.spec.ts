import { jest } from '@jest/globals';
import kafkajs from 'kafkajs';
import { eventually } from './eventually.js';
import { ownKafka, testKafka } from './test-kafka.js';

const quiet = { clientId: 'spec', logLevel: kafkajs.logLevel.NOTHING, connectionTimeout: 1_000 };

async function firstOffset(brokers: string[], topic: string, value: string): Promise<string | undefined> {
  const producer = new kafkajs.Kafka({ ...quiet, brokers }).producer({ retry: { retries: 0 } });
  await producer.connect();
  try {
    const [written] = await producer.send({ topic, acks: -1, messages: [{ key: 'account', value }] });
    return written.baseOffset;
  } finally {
    await producer.disconnect();
  }
}

describe('testKafka', () => {
  it('gives two callers topics of their own on one broker, and the topics of the fleet', async () => {
    const [first, second] = [await testKafka(), await testKafka()];
    await Promise.all([first.createTopics(['events']), second.createTopics(['events'], 3)]);
    expect(await firstOffset(first.brokers, first.topic('events'), 'one')).toBe('0');
    expect(await firstOffset(first.brokers, 'gateway.usage.v1', 'unit')).toBeDefined();

    await first.createFleetTopics();
    const admin = new kafkajs.Kafka({ ...quiet, brokers: first.brokers }).admin();
    await admin.connect();
    const names = (await admin.listTopics()).filter((name) => name.startsWith(first.prefix));
    await admin.disconnect();
    expect(names).toContain(first.topic('gateway.usage.v1.dlq'));
    expect(names).not.toContain(second.topic('events'));
  });

  it('sets no timer below zero, at which Node warns', async () => {
    const set = jest.spyOn(globalThis, 'setTimeout');
    await (await testKafka()).createTopics(['events']);
    const delays = set.mock.calls.map(([, delayMs]) => delayMs ?? 0);
    set.mockRestore();
    expect(delays.length).toBeGreaterThan(0);
    expect(delays.filter((delayMs) => delayMs < 0)).toEqual([]);
  });

  it('refuses a topic that nobody created, as production does', async () => {
    const kafka = await testKafka();
    await expect(firstOffset(kafka.brokers, kafka.topic('misspelt'), 'one')).rejects.toThrow();
  });
});

describe('ownKafka', () => {
  it('keeps an acknowledged record over kill -9 and a restart at the same address', async () => {
    const kafka = await ownKafka();
    await kafka.createTopics(['events']);
    expect(await firstOffset(kafka.brokers, kafka.topic('events'), 'one')).toBe('0');
    kafka.server.kill();
    await kafka.server.restart();
    const offset = await eventually(() => firstOffset(kafka.brokers, kafka.topic('events'), 'two'), {
      timeoutMs: 60_000,
      intervalMs: 200,
    });
    expect(offset).toBe('1');
    await kafka.server.drop();
  });
});
