import type { ConsumedRecord } from '@gateway/contracts';
import { eventually, ownKafka, seededRandom } from '@gateway/testing';
import { SystemClock } from '@gateway/platform';
import { KafkaEventLog } from './kafka-event-log.js';

describe('KafkaEventLog', () => {
  it('B04 loses no acknowledged record when the broker is killed and comes back, and its consumer goes on', async () => {
    const kafka = await ownKafka();
    await kafka.createTopics(['events'], 4);
    const topic = kafka.topic('events');
    const log = new KafkaEventLog({
      brokers: kafka.brokers,
      clientId: 'spec',
      clock: new SystemClock(),
      random: seededRandom(1),
      stopTimeoutMs: 5_000,
      sessionTimeoutMs: 6_000,
      // Which of two consumers came first has to be known.
      startWaitMs: 30_000,
    });
    const seen: ConsumedRecord[] = [];
    await log.consume({
      topics: [topic],
      group: kafka.topic('group'),
      maxBatch: 200,
      lingerMs: 5,
      handler: async (batch) => void seen.push(...batch),
    });
    const acknowledged: string[] = [];
    let isOver = false;
    const appending = (async () => {
      for (let n = 0; !isOver; n += 1) {
        const values = Array.from({ length: 20 }, (_, index) => `${n}/${index}`);
        const records = values.map((value, index) => ({ key: `acct_${index}`, value }));
        await log.append(topic, records).then(
          () => acknowledged.push(...values),
          () => undefined,
        );
      }
    })();
    await eventually(() => seen.length > 200, { timeoutMs: 60_000 });
    kafka.server.kill();
    await kafka.server.restart();
    const before = acknowledged.length;
    await eventually(() => acknowledged.length > before + 400, { timeoutMs: 60_000 });
    isOver = true;
    await appending;
    await eventually(
      () => {
        const values = new Set(seen.map((record) => record.value));
        return acknowledged.every((value) => values.has(value));
      },
      { timeoutMs: 60_000, intervalMs: 200 },
    );
    await log.close();
    await kafka.server.drop();
  }, 300_000);
});
