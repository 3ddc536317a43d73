import type { PutUnit } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing/plain';
import { Settling } from './settling.js';

function settled(accountId: string, unit: string, action: PutUnit['action'] = 'settle'): PutUnit {
  return {
    ...{ accountId, unit, action, nano: 1n, scopes: [] },
    ...{ tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 1 },
  };
}

describe('Settling', () => {
  const make = (journal: () => Promise<void>, deliveredOf: () => Promise<boolean>) => {
    const clock = fixedClock('2026-03-01T12:00:00.000Z');
    const settling = new Settling({
      journal: () => ({ synced: journal }),
      settlementQueue: { deliveredOf },
      clock,
    });
    return { clock, settling };
  };

  it('R2 counts what has ended until the store has it, and nothing twice', () => {
    const { settling } = make(
      () => Promise.resolve(),
      () => Promise.resolve(true),
    );
    settling.add({ accountId: 'a', unit: 'u1', nano: 5 });
    settling.add({ accountId: 'a', unit: 'u2', nano: 7 });
    settling.add({ accountId: 'b', unit: 'u3', nano: 0 });
    expect([settling.spent('a'), settling.spent('b'), settling.spent('c')]).toEqual([12, 0, 0]);
    settling.left(settled('a', 'u1', 'renew'));
    settling.left(settled('a', 'u1'));
    settling.left(settled('a', 'u1'));
    expect([settling.spent('a'), settling.has('a'), settling.has('b')]).toEqual([7, true, true]);
    settling.left(settled('a', 'u2'));
    expect([settling.spent('a'), settling.has('a')]).toEqual([0, false]);
  });

  it('R1 reports only what the disk has, and asks no disk where nothing has ended', async () => {
    const done: string[] = [];
    const { settling } = make(
      async () => void done.push('synced'),
      async () => done.push('delivered') > 0,
    );
    await settling.reported('a');
    expect(done).toEqual(['delivered']);
    settling.add({ accountId: 'a', unit: 'u1', nano: 5 });
    await settling.reported('a');
    expect(done).toEqual(['delivered', 'synced', 'delivered']);
  });

  it('R1 a disk or a store that does not answer holds an answer back for five seconds at most', async () => {
    const { clock, settling } = make(
      () => new Promise(() => undefined),
      () => Promise.reject(new Error('away')),
    );
    await settling.reported('a');
    settling.add({ accountId: 'a', unit: 'u1', nano: 5 });
    let isOver = false;
    void settling.reported('a').then(() => (isOver = true));
    await clock.advance(4_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(isOver).toBe(true);
  });
});
