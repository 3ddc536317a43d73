import type { ConsumedRecord } from '@gateway/contracts';
import { eventually, ownKafka, seededRandom, testKafka, type TestKafka } from '@gateway/testing';
import { SystemClock } from '@gateway/platform';
import { KafkaEventLog, type KafkaEventLogOptions } from './kafka-event-log.js';

function open(kafka: TestKafka, options: Partial<KafkaEventLogOptions> = {}): KafkaEventLog {
  return new KafkaEventLog({
    brokers: kafka.brokers,
    clientId: 'spec',
    clock: new SystemClock(),
    random: seededRandom(1),
    stopTimeoutMs: 5_000,
    sessionTimeoutMs: 6_000,
    // Which of two consumers came first has to be known.
    startWaitMs: 30_000,
    ...options,
  });
}

describe('KafkaEventLog', () => {
  it('B04 lets a service start without a broker, and consumes when it has come', async () => {
    const kafka = await ownKafka();
    await kafka.createTopics(['events'], 1);
    const topic = kafka.topic('events');
    kafka.server.freeze();
    const log = open(kafka, { startWaitMs: 100 });
    const seen: string[] = [];
    const consumer = await log.consume({
      topics: [topic],
      group: kafka.topic('group'),
      maxBatch: 10,
      lingerMs: 0,
      handler: async (batch) => void seen.push(...batch.map(({ value }) => value)),
    });
    // It has returned though the broker stands still until now.
    kafka.server.thaw();
    await eventually(() => log.append(topic, [{ key: 'acct_1', value: 'first' }]).then(() => true), {
      timeoutMs: 30_000,
    });
    await eventually(() => seen.includes('first'), { timeoutMs: 60_000 });
    await consumer.stop();
    await log.close();
    await kafka.server.drop();
  }, 300_000);

  it('keeps its partitions through a handler that takes longer than the session', async () => {
    const kafka = await testKafka();
    await kafka.createTopics(['slow'], 1);
    const log = open(kafka);
    const other = open(kafka);
    const batches: string[] = [];
    let finished = 0;
    const subscription = (name: string) => ({
      topics: [kafka.topic('slow')],
      group: kafka.topic('slow-group'),
      maxBatch: 10,
      lingerMs: 0,
      handler: async () => {
        batches.push(name);
        if (name === 'first') await new SystemClock().sleep(8_000); // The session ends after 6 s.
        finished += 1;
      },
    });
    await log.consume(subscription('first'));
    await log.append(kafka.topic('slow'), [{ key: 'a', value: '1' }]);
    await eventually(() => batches.length === 1);
    await eventually(() => finished === 1, { timeoutMs: 60_000 });
    await log.close();
    await other.consume(subscription('second'));
    await other.append(kafka.topic('slow'), [{ key: 'a', value: '2' }]);
    await eventually(() => batches.includes('second'), { timeoutMs: 60_000 });
    expect(batches).toEqual(['first', 'second']);
    await other.close();
  });

  it('reports how far a group is behind with each fetch, and 0 when it is through', async () => {
    const kafka = await testKafka();
    await kafka.createTopics(['lag'], 1);
    const reported: [string, string, number, number][] = [];
    const log = open(kafka, { onLag: (...lag) => reported.push(lag) });
    const [topic, group] = [kafka.topic('lag'), kafka.topic('lag-group')];
    await log.append(
      topic,
      ['1', '2', '3'].map((value) => ({ key: 'a', value })),
    );
    await log.consume({ topics: [topic], group, maxBatch: 10, lingerMs: 0, handler: async () => undefined });
    await eventually(() => reported.at(-1)?.[3] === 0, { timeoutMs: 60_000 });
    expect(reported[0]).toEqual([group, topic, 0, 3]);
    await log.close();
  });

  it('rejects an append to a topic that nobody created, and to brokers that are not there', async () => {
    const kafka = await testKafka();
    const log = open(kafka);
    await expect(log.append(kafka.topic('misspelt'), [{ key: 'a', value: '1' }])).rejects.toThrow('misspelt');
    await log.close();
    const nowhere = open({ ...kafka, brokers: ['127.0.0.1:1'] });
    await expect(nowhere.append('t', [{ key: 'a', value: '1' }])).rejects.toThrow();
    await nowhere.close();
  });

  it('takes an append that is longer than one request, in order', async () => {
    const kafka = await testKafka();
    await kafka.createTopics(['long'], 1);
    const log = open(kafka);
    const records = Array.from({ length: 2_300 }, (_, n) => ({ key: 'a', value: `${n} ${'x'.repeat(400)}` }));
    await Promise.all([log.append(kafka.topic('long'), records), log.append(kafka.topic('long'), [])]);
    await log.append(kafka.topic('long'), records.slice(0, 1_200));
    const seen: ConsumedRecord[] = [];
    await log.consume({
      topics: [kafka.topic('long')],
      group: kafka.topic('long-group'),
      maxBatch: 500,
      lingerMs: 5,
      handler: async (batch) => void seen.push(...batch),
    });
    await eventually(() => seen.length === 3_500, { timeoutMs: 60_000 });
    expect(seen.slice(0, 2_300).map((record) => record.value)).toEqual(records.map((record) => record.value));
    await log.close();
  });

  it('sets no timer below zero', async () => {
    const delays: (number | undefined)[] = [];
    const { setTimeout: original } = globalThis;
    const noting = (callback: () => void, delayMs?: number) => {
      delays.push(delayMs);
      return original(callback, delayMs);
    };
    globalThis.setTimeout = Object.assign(noting, original);
    const kafka = await testKafka();
    await kafka.createTopics(['quiet'], 1);
    const log = open(kafka);
    for (let n = 0; n < 20; n += 1) await log.append(kafka.topic('quiet'), [{ key: 'a', value: `${n}` }]);
    await log.close();
    globalThis.setTimeout = original;
    expect(delays.length).toBeGreaterThan(0);
    expect(delays.filter((delayMs) => (delayMs ?? 0) < 0)).toEqual([]);
  });
});
