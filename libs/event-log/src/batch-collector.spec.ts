import type { ConsumedRecord } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing/plain';
import { BatchCollector, CollectorStopped } from './batch-collector.js';

function setUp(
  options: { lingerMs?: number; maxBatch?: number; failures?: number; lostCommits?: number } = {},
) {
  const clock = fixedClock('2026-01-01T00:00:00Z');
  const batches: string[][] = [];
  const committed: string[] = [];
  let failures = options.failures ?? 0;
  let lostCommits = options.lostCommits ?? 0;
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
      commit: async (batch) => {
        lostCommits -= 1;
        if (lostCommits >= 0) throw new Error('The coordinator is away.');
        committed.push(...names(batch));
      },
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
    await Promise.all([collector.add(segment(0, 3), ignore), collector.add(segment(1, 3), ignore)]);
    await clock.advance(0);
    expect(batches).toEqual([['0/0', '0/1', '0/2', '1/0']]);
    await clock.advance(9);
    expect(batches).toHaveLength(1);
    await clock.advance(1);
    expect(batches[1]).toEqual(['1/1', '1/2']);
  });

  it('hands a lone record over at once, and what follows together when the linger has passed', async () => {
    const { clock, collector, batches } = setUp({ lingerMs: 250, maxBatch: 100 });
    for (let n = 0; n < 3; n += 1) {
      await collector.add(segment(0, 1, n), ignore);
      await clock.advance(100);
    }
    expect(batches).toEqual([['0/0'], ['0/1', '0/2']]);
    await clock.advance(1_000);
    await collector.add(segment(0, 1, 3), ignore);
    await clock.advance(0);
    expect(batches[2]).toEqual(['0/3']);
  });

  it('handles what comes in the very moment the last record was handled', async () => {
    const { clock, collector, committed } = setUp({ lingerMs: 0 });
    const addFrom = (n: number): void => {
      if (n < 5) void collector.add(segment(0, 1, n), () => addFrom(n + 1));
    };
    addFrom(0);
    await clock.advance(0);
    expect(committed).toEqual(['0/0', '0/1', '0/2', '0/3', '0/4']);
  });

  it('gives a failed batch again first, after a back-off, and commits it once', async () => {
    const { clock, collector, batches, committed } = setUp({ failures: 2, lingerMs: 0 });
    let handled = 0;
    await collector.add(segment(0, 2), () => (handled += 1));
    await collector.add(segment(1, 1), () => (handled += 1));
    await clock.advance(199);
    expect(batches).toEqual([
      ['0/0', '0/1'],
      ['0/0', '0/1', '1/0'],
    ]);
    expect([committed, handled]).toEqual([[], 0]);
    await clock.advance(1);
    expect([committed, handled]).toEqual([['0/0', '0/1', '1/0'], 2]);
  });

  it('takes a fetch while two batches are held at most, and holds up the next until one is handled', async () => {
    const { clock, collector, committed } = setUp({ failures: 1, lingerMs: 0 });
    await collector.add(segment(0, 8), ignore);
    let isTaken = false;
    const late = collector.add(segment(1, 4), ignore).then(() => (isTaken = true));
    await clock.advance(99);
    expect([committed, isTaken]).toEqual([[], false]);
    await clock.advance(1);
    await late;
    expect(committed.slice(0, 4)).toEqual(['0/0', '0/1', '0/2', '0/3']);
  });

  it('goes on after a commit that failed: the next one commits its records, too', async () => {
    const { clock, collector, batches, committed } = setUp({ lingerMs: 0, lostCommits: 1 });
    await collector.add(segment(0, 2), ignore);
    await clock.advance(0);
    await collector.add(segment(0, 2, 2), ignore);
    await clock.advance(0);
    expect(batches).toEqual([
      ['0/0', '0/1'],
      ['0/2', '0/3'],
    ]);
    expect(committed).toEqual(['0/2', '0/3']);
  });

  it('gives nothing more to the handler once it was stopped, and turns away who waits for room', async () => {
    const { clock, collector, batches } = setUp({ failures: 1 });
    const late = expect(collector.add(segment(0, 9), ignore)).rejects.toThrow(CollectorStopped);
    await clock.advance(0);
    await collector.stop();
    await late;
    await clock.advance(1_000);
    expect(batches).toHaveLength(1);
    await expect(collector.add(segment(0, 1), ignore)).rejects.toThrow(CollectorStopped);
  });
});
