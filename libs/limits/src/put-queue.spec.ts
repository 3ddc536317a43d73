import type { PutUnit } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing';
import type { FixedClock } from '@gateway/testing';
import { PutQueue } from './put-queue.js';

function put(unit: string, action: PutUnit['action'] = 'settle', nano = 1n): PutUnit {
  return {
    accountId: 'a',
    unit,
    action,
    nano,
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

  put(units: PutUnit[]): Promise<void> {
    this.batches.push(units);
    return new Promise((done, fail) => {
      this.answer = (error) => (error ? fail(error) : done());
    });
  }

  async acknowledge(error?: Error): Promise<void> {
    this.answer?.(error);
    await new Promise((turn) => setImmediate(turn));
  }

  get sent(): string[][] {
    return this.batches.map((batch) => batch.map((unit) => `${unit.action} ${unit.unit}`));
  }
}

describe('PutQueue', () => {
  let clock: FixedClock;
  let store: SlowStore;

  beforeEach(() => {
    clock = fixedClock('2026-03-01T12:00:00.000Z');
    store = new SlowStore();
  });

  it('waits 2 ms for company, or sends 64 at once', async () => {
    const queue = new PutQueue({ store, clock });
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
    const queue = new PutQueue({ store, clock, batchSize: 1 });
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
    const queue = new PutQueue({ store, clock, batchSize: 2, onFailure: (cause) => failures.push(cause) });
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

  it('a waiting renewal gives way to a settle, never the other way round', async () => {
    const queue = new PutQueue({ store, clock });
    queue.add(put('u1', 'renew'));
    queue.add(put('u1', 'settle'));
    queue.add(put('u1', 'renew'));
    queue.add(put('u1', 'cancel'));
    await clock.advance(2);
    expect(store.sent).toEqual([['settle u1']]);
  });

  it('is bounded: says so when full, drops the oldest past it and counts that', () => {
    const queue = new PutQueue({ store, clock, capacity: 2 });
    queue.add(put('u1'));
    expect(queue.isFull).toBe(false);
    queue.add(put('u2'));
    expect(queue.isFull).toBe(true);
    queue.add(put('u3'));
    expect([queue.pending, queue.dropped]).toEqual([2, 1]);
  });

  it('forgets units that the ledger has posted', async () => {
    const queue = new PutQueue({ store, clock });
    queue.add(put('u1'));
    queue.add(put('u2'));
    queue.forget('a', ['u1']);
    await clock.advance(2);
    expect(store.sent).toEqual([['settle u2']]);
  });

  it('close sends what waits, once, and leaves no timer', async () => {
    const queue = new PutQueue({ store, clock, batchSize: 1 });
    queue.add(put('u1'));
    queue.add(put('u2'));
    const closed = queue.close();
    await store.acknowledge();
    await store.acknowledge(new Error('away'));
    await closed;
    expect(store.sent).toEqual([['settle u1'], ['settle u2']]);
    expect(clock.pendingTimers).toBe(0);
  });
});
