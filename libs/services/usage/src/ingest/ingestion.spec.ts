import type { UsageRecord } from '@gateway/contracts';
import { FixedClock, usageRecord } from '@gateway/testing/plain';
import { pino } from 'pino';
import { delivered } from '../usage.fixture.js';
import { Ingestion } from './ingestion.js';

/** A check of prices that ends when it is said to. */
interface Check {
  units: readonly UsageRecord[];
  end(): void;
}

describe('checking prices beside the posting', () => {
  let checks: Check[];
  let ingestion: Ingestion;
  beforeEach(() => {
    checks = [];
    ingestion = new Ingestion(
      {
        post: (parts) => {
          const fresh = [...parts].flatMap(({ usage }) => usage.map((one) => one.usage));
          return Promise.resolve({ fresh, balances: [], totals: [] });
        },
      },
      { report: () => Promise.resolve() },
      { check: (units) => new Promise((end) => checks.push({ units, end })) },
      { batchPosted: () => undefined },
      new FixedClock('2026-11-23T00:00:00Z'),
      pino({ level: 'silent' }),
      { wake: () => undefined },
    );
  });
  const apply = (seq: number): Promise<void> => ingestion.apply([delivered(usageRecord({ seq }))]);
  const isOver = (promise: Promise<void>): Promise<boolean> => {
    const turn = new Promise<boolean>((resolve) => setImmediate(() => resolve(false)));
    return Promise.race([promise.then(() => true), turn]);
  };

  it('B15 a batch does not wait for its own check, and the next one waits for it', async () => {
    await apply(1);
    expect(checks.map(({ units }) => units.map(({ seq }) => seq))).toEqual([[1]]);
    const second = apply(2);
    expect(await isOver(second)).toBe(false);
    checks[0].end();
    await second;
  });

  it('B15 a busy second has one price in 16 checked beyond its first 500', async () => {
    await ingestion.apply(Array.from({ length: 1_300 }, (_, n) => delivered(usageRecord({ seq: n + 1 }))));
    expect(checks.map(({ units }) => units.length)).toEqual([500 + 50]);
  });

  it('B15 a service that stops ends the check of its last batch first', async () => {
    await apply(1);
    const stopped = ingestion.onApplicationShutdown();
    expect(await isOver(stopped)).toBe(false);
    checks[0].end();
    await stopped;
  });
});
