import type { PutUnit } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing/plain';
import type { FixedClock } from '@gateway/testing/plain';
import { SettlementQueue } from './settlement-queue.js';

function put(unit: string, action: PutUnit['action'] = 'settle', accountId = 'a'): PutUnit {
  return {
    accountId,
    unit,
    action,
    nano: 1n,
    scopes: [],
    tokens: 0,
    tokenEstimate: 0,
    minute: 0,
    leaseMs: 1,
  };
}

/** A store whose calls the test answers one by one. */
class SlowStore {
  readonly batches: PutUnit[][] = [];
  private answer: ((error?: Error) => void) | null = null;
  private readonly answers: (() => void)[] = [];

  put(units: PutUnit[]): Promise<void> {
    this.batches.push(units);
    return new Promise((done, fail) => {
      this.answer = (error) => (error ? fail(error) : done());
      this.answers.push(done);
    });
  }

  async acknowledgeAll(): Promise<void> {
    for (const answer of this.answers.splice(0)) answer();
    await new Promise((turn) => setImmediate(turn));
  }

  async acknowledge(error?: Error): Promise<void> {
    this.answer?.(error);
    await new Promise((turn) => setImmediate(turn));
  }

  get sent(): string[][] {
    return this.batches.map((batch) => batch.map((unit) => `${unit.action} ${unit.unit}`));
  }
}

describe('SettlementQueue', () => {
  let clock: FixedClock;
  let store: SlowStore;

  beforeEach(() => {
    clock = fixedClock('2026-03-01T12:00:00.000Z');
    store = new SlowStore();
  });

  it('R1 sends what waits of one account at once, and tells what waits no more', async () => {
    const left: string[] = [];
    const queue = new SettlementQueue({ store, clock, onLeft: ({ unit }) => left.push(unit) });
    expect(await queue.deliveredOf('a')).toBe(true);
    queue.add(put('a1'));
    queue.add(put('b1', 'settle', 'b'));
    const delivered = queue.deliveredOf('a');
    expect(store.sent).toEqual([['settle a1'], ['settle b1']]);
    for (const batch of store.batches) expect(batch).toHaveLength(1);
    await store.acknowledgeAll();
    expect(await delivered).toBe(true);
    expect(left.toSorted()).toEqual(['a1', 'b1']);
    await queue.close();
  });

  it('R1 an account whose node is away is not waited for', async () => {
    const queue = new SettlementQueue({ store, clock });
    queue.add(put('a1'));
    const first = queue.deliveredOf('a');
    await store.acknowledge(new Error('away'));
    expect(await first).toBe(false);
    expect(await queue.deliveredOf('a')).toBe(false);
    expect(store.batches).toHaveLength(1);
  });

  it('waits 2 ms for company, or sends 64 at once', async () => {
    const queue = new SettlementQueue({ store, clock });
    queue.add(put('u1'));
    await clock.advance(1);
    queue.add(put('u2'));
    expect(store.sent).toEqual([]);
    await clock.advance(1);
    expect(store.sent).toEqual([['settle u1', 'settle u2']]);
    await store.acknowledge();
    for (let count = 0; count < 64; count += 1) queue.add(put(`v${count}`));
    expect(store.batches[1]).toHaveLength(64);
  });

  it('keeps one batch on its way; what comes meanwhile follows it', async () => {
    const queue = new SettlementQueue({ store, clock, batchSize: 1 });
    queue.add(put('u1', 'renew'));
    queue.add(put('u1', 'settle'));
    await clock.advance(1_000);
    expect(store.sent).toEqual([['renew u1']]);
    await store.acknowledge();
    expect(store.sent).toEqual([['renew u1'], ['settle u1']]);
    await store.acknowledge();
    expect(queue.pending).toBe(0);
  });

  it('sends a batch again until it is acknowledged, at the pace of retryMs however much waits', async () => {
    const failures: unknown[] = [];
    const queue = new SettlementQueue({
      store,
      clock,
      batchSize: 2,
      onFailure: (cause) => failures.push(cause),
    });
    queue.add(put('u1'));
    queue.add(put('u2'));
    await store.acknowledge(new Error('away'));
    for (let count = 0; count < 10; count += 1) queue.add(put(`v${count}`));
    await clock.advance(249);
    expect(store.batches).toHaveLength(1);
    await clock.advance(1);
    expect(store.sent).toEqual([
      ['settle u1', 'settle u2'],
      ['settle u1', 'settle u2'],
    ]);
    expect(failures).toHaveLength(1);
    await store.acknowledge();
    expect(store.sent[2]).toEqual(['settle v0', 'settle v1']);
  });

  it('an account whose node is away waits for the retry and holds up no other one', async () => {
    const away = new Set(['b']);
    const taken: string[] = [];
    let tries = 0;
    let failures = 0;
    const queue = new SettlementQueue({
      store: {
        put: async (units) => {
          tries += 1;
          if (away.has(units[0].accountId)) throw new Error('CLUSTERDOWN');
          taken.push(...units.map(({ accountId, unit }) => `${accountId} ${unit}`));
        },
      },
      clock,
      batchSize: 4,
      onFailure: () => (failures += 1),
    });
    for (let n = 0; n < 10; n += 1) queue.add(put(`u${n}`, 'settle', 'b'));
    for (let n = 0; n < 10; n += 1) queue.add(put(`u${n}`, 'settle', n % 2 === 0 ? 'a' : 'c'));
    await clock.advance(100);
    expect([...taken].sort()).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `${n % 2 === 0 ? 'a' : 'c'} u${n}`).sort(),
    );
    expect([queue.pending, failures]).toEqual([10, 1]);
    const before = tries;
    queue.add(put('u10', 'settle', 'b'));
    await clock.advance(100);
    expect(tries).toBe(before);
    expect(await queue.delivered()).toBe(false);
    away.clear();
    await clock.advance(250);
    await clock.advance(100);
    expect(queue.pending).toBe(0);
    expect(taken.filter((unit) => unit.startsWith('b'))).toHaveLength(11);
    expect(await queue.delivered()).toBe(true);
    await queue.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('a waiting renewal gives way to a settle, never the other way round', async () => {
    const queue = new SettlementQueue({ store, clock });
    queue.add(put('u1', 'renew'));
    queue.add(put('u1', 'settle'));
    queue.add(put('u1', 'renew'));
    queue.add(put('u1', 'cancel'));
    await clock.advance(2);
    expect(store.sent).toEqual([['settle u1']]);
  });

  it('is bounded: drops the oldest past its bound and counts that', () => {
    const queue = new SettlementQueue({ store, clock, capacity: 2 });
    queue.add(put('u1'));
    queue.add(put('u2'));
    queue.add(put('u3'));
    expect([queue.pending, queue.dropped]).toEqual([2, 1]);
  });

  it('close sends what waits, once, and leaves no timer', async () => {
    const queue = new SettlementQueue({ store, clock, batchSize: 1 });
    queue.add(put('u1'));
    queue.add(put('u2'));
    const closed = queue.close();
    await store.acknowledge();
    await store.acknowledge(new Error('away'));
    await closed;
    expect(store.sent).toEqual([['settle u1'], ['settle u2']]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('close tries once more what waits for its retry, and leaves the rest to the journal', async () => {
    const queue = new SettlementQueue({ store, clock });
    queue.add(put('u1'));
    await clock.advance(2);
    await store.acknowledge(new Error('away'));
    const closed = queue.close();
    await store.acknowledge(new Error('away'));
    await closed;
    expect(store.sent).toEqual([['settle u1'], ['settle u1']]);
    expect([queue.pending, clock.pendingTimers]).toEqual([1, 0]);
  });
});
