import type { ConsumedRecord } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing';
import { BatchCollector, CollectorStopped } from './batch-collector.js';

function setUp(options: { lingerMs?: number; maxBatch?: number; failures?: number } = {}) {
  const clock = fixedClock('2026-01-01T00:00:00Z');
  const batches: string[][] = [];
  const committed: string[] = [];
  let failures = options.failures ?? 0;
  const collector = new BatchCollector(
    {
      topics: ['t'],
      group: 'g',
      maxBatch: options.maxBatch ?? 4,
      lingerMs: options.lingerMs ?? 10,
      handler: async (batch) => {
        batches.push(names(batch));
        failures -= 1;
        if (failures >= 0) throw new Error('The database is away.');
      },
    },
    {
      clock,
      commit: async (batch) => void committed.push(...names(batch)),
      backOffMs: () => 100,
      onFault: () => undefined,
    },
  );
  return { clock, collector, batches, committed };
}

function names(batch: ConsumedRecord[]): string[] {
  return batch.map(({ partition, offset }) => `${partition}/${offset}`);
}

function segment(partition: number, count: number, from = 0): ConsumedRecord[] {
  return Array.from({ length: count }, (_, n) => ({
    topic: 't',
    partition,
    offset: String(from + n),
    key: '',
    value: '',
  }));
}

const ignore = (): void => undefined;

describe('BatchCollector', () => {
  it('fills a batch across partitions and waits no longer than the linger', async () => {
    const { clock, collector, batches } = setUp();
    const both = Promise.all([collector.add(segment(0, 3), ignore), collector.add(segment(1, 3), ignore)]);
    await clock.advance(0);
    expect(batches).toEqual([['0/0', '0/1', '0/2', '1/0']]);
    await clock.advance(9);
    expect(batches).toHaveLength(1);
    await clock.advance(1);
    await both;
    expect(batches[1]).toEqual(['1/1', '1/2']);
  });

  it('handles what comes in the very moment the last record was handled', async () => {
    const { clock, collector, committed } = setUp({ lingerMs: 0 });
    let chain = Promise.resolve();
    for (let n = 0; n < 5; n += 1) chain = chain.then(() => collector.add(segment(0, 1, n), ignore));
    await clock.advance(0);
    await chain;
    expect(committed).toEqual(['0/0', '0/1', '0/2', '0/3', '0/4']);
  });

  it('gives a failed batch again first, after a back-off, and commits it once', async () => {
    const { clock, collector, batches, committed } = setUp({ failures: 2, lingerMs: 0 });
    const done = collector.add(segment(0, 2), ignore);
    await clock.advance(199);
    expect(batches).toHaveLength(2);
    expect(committed).toEqual([]);
    await clock.advance(1);
    await done;
    expect(committed).toEqual(['0/0', '0/1']);
  });

  it('gives nothing more to the handler once it was stopped', async () => {
    const { clock, collector, batches } = setUp();
    const waiting = expect(collector.add(segment(0, 2), ignore)).rejects.toThrow(CollectorStopped);
    await collector.stop();
    await waiting;
    await clock.advance(1_000);
    expect(batches).toEqual([]);
    await expect(collector.add(segment(0, 1), ignore)).rejects.toThrow(CollectorStopped);
  });
});
