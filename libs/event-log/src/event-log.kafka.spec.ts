import type { ConsumedRecord, EventLog, LogRecord, Subscription } from '@gateway/contracts';
import { eventually, seededRandom, testKafka } from '@gateway/testing';
import { SystemClock } from '@gateway/platform';
import { InProcessEventLog } from './in-process-event-log.js';
import { KafkaEventLog } from './kafka-event-log.js';

/** One driver. */
interface EventLogUnderTest {
  /** A new connection to the same log. */
  open(options?: { stopTimeoutMs?: number }): EventLog;
  /** A name of a fresh topic with several partitions, or of a fresh group. */
  topic(): Promise<string>;
  group(): string;
  waitMs: number;
}

const clock = new SystemClock();
let names = 0;

const drivers: [string, () => Promise<EventLogUnderTest>][] = [
  [
    'InProcessEventLog',
    async () => {
      const log = new InProcessEventLog({ clock, random: seededRandom(1), stopTimeoutMs: 50 });
      return {
        open: () => log,
        topic: async () => `topic-${++names}`,
        group: () => `group-${++names}`,
        waitMs: 5_000,
      };
    },
  ],
  [
    'KafkaEventLog',
    async () => {
      const kafka = await testKafka();
      const options = { brokers: kafka.brokers, clientId: 'spec', clock, random: seededRandom(1) };
      return {
        open: ({ stopTimeoutMs = 5_000 } = {}) =>
          new KafkaEventLog({ ...options, stopTimeoutMs, sessionTimeoutMs: 6_000, startWaitMs: 30_000 }),
        topic: async () => {
          names += 1;
          await kafka.createTopics([`topic-${names}`], 4);
          return kafka.topic(`topic-${names}`);
        },
        group: () => kafka.topic(`group-${++names}`),
        waitMs: 20_000,
      };
    },
  ],
];

/** Promises of EventLog that hold for each driver. */
describe.each(drivers)('%s as an EventLog', (_name, setUp) => {
  let under: EventLogUnderTest;
  const open: EventLog[] = [];
  const log = (options?: { stopTimeoutMs?: number }): EventLog => {
    const made = under.open(options);
    open.push(made);
    return made;
  };
  const soon = (condition: () => unknown) => eventually(condition, { timeoutMs: under.waitMs });

  beforeEach(async () => {
    under = await setUp();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((made) => made.close()));
  });

  const collecting = (topic: string, group: string, seen: ConsumedRecord[]): Subscription => ({
    topics: [topic],
    group,
    maxBatch: 50,
    lingerMs: 5,
    handler: async (batch) => void seen.push(...batch),
  });

  it('hands over what was appended, in the order of each key, in batches up to the bound', async () => {
    const [topic, seen] = [await under.topic(), [] as ConsumedRecord[]];
    const sizes: number[] = [];
    const events = log();
    await events.append(topic, records(0, 100));
    await events.consume({
      ...collecting(topic, under.group(), seen),
      handler: async (batch) => {
        sizes.push(batch.length);
        seen.push(...batch);
      },
    });
    await Promise.all([events.append(topic, records(100, 200)), events.append(topic, records(200, 300))]);
    await soon(() => valuesOf(seen).size >= 300);
    expectOrder(seen, 300);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
    expect(seen[0]).toMatchObject({ topic, offset: expect.stringMatching(/^\d+$/) });
  });

  it('hands over the trace context that a record was appended with, and none where it had none', async () => {
    const [topic, seen] = [await under.topic(), [] as ConsumedRecord[]];
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const events = log();
    await events.append(topic, [
      { key: 'acct_1', value: 'traced', headers: { traceparent } },
      { key: 'acct_1', value: 'plain' },
    ]);
    await events.consume(collecting(topic, under.group(), seen));
    await soon(() => seen.length >= 2);
    expect(seen.map(({ value, headers }) => [value, headers])).toEqual([
      ['traced', { traceparent }],
      ['plain', undefined],
    ]);
  });

  it('hands over a batch again when its handler failed, before anything later of the same key', async () => {
    const [topic, seen] = [await under.topic(), [] as ConsumedRecord[]];
    const attempts: string[] = [];
    const events = log();
    await events.consume({
      ...collecting(topic, under.group(), seen),
      maxBatch: 10,
      handler: async (batch) => {
        attempts.push(batch[0].value);
        if (attempts.length <= 2) throw new Error('The database is away.');
        seen.push(...batch);
      },
    });
    await events.append(topic, records(0, 30, 1));
    await soon(() => valuesOf(seen).size >= 30);
    expect(attempts.slice(0, 3)).toEqual(['0', '0', '0']);
    expectOrder(seen, 30);
  });

  it('commits after the handler only: a consumer that never finished leaves its batch to the next', async () => {
    const [topic, group] = [await under.topic(), under.group()];
    const dying = log({ stopTimeoutMs: 50 });
    let began = false;
    const consumer = await dying.consume({
      ...collecting(topic, group, []),
      handler: () => {
        began = true;
        return new Promise(() => undefined);
      },
    });
    await dying.append(topic, records(0, 5));
    await soon(() => began);
    const seen: ConsumedRecord[] = [];
    await consumer.stop();
    await log().consume(collecting(topic, group, seen));
    await soon(() => valuesOf(seen).size >= 5);
    expectOrder(seen, 5);
  });

  it('finishes and commits the batch under way on stop, and takes no other', async () => {
    const [topic, group] = [await under.topic(), under.group()];
    const events = log();
    const begun: (() => void)[] = [];
    const seen: string[] = [];
    const consumer = await events.consume({
      ...collecting(topic, group, []),
      maxBatch: 1,
      handler: async ([record]) => {
        await new Promise<void>((resolve) => begun.push(resolve));
        seen.push(record.value);
      },
    });
    await events.append(topic, records(0, 3, 1));
    await soon(() => begun.length === 1);
    const stopped = consumer.stop();
    begun[0]();
    await stopped;
    expect(seen).toEqual(['0']);
    const rest: ConsumedRecord[] = [];
    await events.consume(collecting(topic, group, rest));
    await soon(() => rest.length >= 2);
    expect(rest.map((record) => record.value)).toEqual(['1', '2']);
  });

  it('shares the partitions between two consumers of a group, and shows two groups everything', async () => {
    const [topic, group] = [await under.topic(), under.group()];
    const shares: ConsumedRecord[][] = [[], [], []];
    const consumers = [log(), log(), log()];
    await consumers[0].consume(collecting(topic, group, shares[0]));
    await consumers[1].consume(collecting(topic, group, shares[1]));
    await consumers[2].consume(collecting(topic, under.group(), shares[2]));
    let next = 0;
    await soon(async () => {
      await consumers[2].append(topic, records(next, next + 40));
      next += 40;
      return shares[0].length > 0 && shares[1].length > 0;
    });
    await soon(() => valuesOf(shares[2]).size >= next && valuesOf([...shares[0], ...shares[1]]).size >= next);
    expectOrder(shares[2], next);
  });

  it('refuses to append once it is closed', async () => {
    const topic = await under.topic();
    const events = log();
    await events.append(topic, records(0, 1));
    await events.close();
    await expect(events.append(topic, records(1, 2))).rejects.toThrow('closed');
  });
});

function records(from: number, to: number, keys = 7): LogRecord[] {
  return Array.from({ length: to - from }, (_, index) => ({
    key: `acct_${(from + index) % keys}`,
    value: String(from + index),
  }));
}

/** Each once: a rebalance may hand records over again, from an earlier one on. */
function valuesOf(seen: ConsumedRecord[]): Set<string> {
  return new Set(seen.map((record) => record.value));
}

/** Every record is there and those of a key rise. */
function expectOrder(seen: ConsumedRecord[], count: number): void {
  const byKey = new Map<string, number[]>();
  // What counts is when each came first.
  for (const value of valuesOf(seen)) {
    const key = seen.find((record) => record.value === value)?.key ?? '';
    byKey.set(key, [...(byKey.get(key) ?? []), Number(value)]);
  }
  for (const numbers of byKey.values()) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  expect(valuesOf(seen).size).toBe(count);
}
