import { fixedClock } from '@gateway/testing/plain';
import { BrokerAcks } from './broker-acks.js';
import { nodeDisk } from './disk.js';
import { faultyDisk, ioTick, openJournal, usage, withFolder } from './journal.fixture.js';
import type { Position } from './segment-writer.js';
import type { ShipperHandle } from './shipper-handle.js';

function acksWith() {
  const clock = fixedClock('2026-11-28T00:00:00.000Z');
  return { clock, acks: new BrokerAcks(clock, 50) };
}

/** Returns what has happened to a promise so far. */
function watched(promise: Promise<void>): { isDone: boolean } {
  const state = { isDone: false };
  void promise.then(() => (state.isDone = true));
  return state;
}

describe('an answer that waits for the brokers', () => {
  it('goes when the brokers have its record, and not with an earlier one', async () => {
    const { acks, clock } = acksWith();
    const [first, second] = [watched(acks.acked(1)), watched(acks.acked(2))];
    await clock.advance(1);
    expect([first.isDone, second.isDone]).toEqual([false, false]);
    acks.shipped(1);
    await clock.advance(1);
    expect([first.isDone, second.isDone]).toEqual([true, false]);
    acks.shipped(7);
    await clock.advance(1);
    expect(second.isDone).toBe(true);
    // What is acknowledged already waits for nothing.
    await acks.acked(5);
    expect(acks.late).toBe(0);
  });

  it('goes after the longest wait without them, and is counted', async () => {
    const { acks, clock } = acksWith();
    const answer = watched(acks.acked(1));
    await clock.advance(49);
    expect(answer.isDone).toBe(false);
    await clock.advance(1);
    expect(answer.isDone).toBe(true);
    expect(acks.late).toBe(1);
    acks.shipped(1);
    expect(acks.late).toBe(1);
  });

  it.each([
    ['JOURNAL_ACK is kafka', { ack: 'kafka' as const }],
    ['its organization asks for it', { ackFor: new Set(['org_1']) }],
  ])('ships what is written and waits for no disk, where %s; then for its own epoch alone', (_, asked) =>
    withFolder(async (dir) => {
      const alone = await openJournal(dir);
      await alone.journal.commit(alone.journal.outcome('gateway.usage.v1', 'a', usage(1)));
      await alone.journal.close();
      let letSync = (): void => undefined;
      const gate = new Promise<void>((resolve) => (letSync = resolve));
      const disk = faultyDisk({ sync: (fd) => gate.then(() => nodeDisk.sync(fd)) });
      const { journal } = await openJournal(dir, { producer: 'edge-1', ...asked, ackMs: 50, disk });
      const orders: (number | 'hurry')[] = [];
      journal.follow({
        addSource: () => undefined,
        mayShip: ({ seq }: Position) => void orders.push(seq),
        hurry: () => void orders.push('hurry'),
      } as unknown as ShipperHandle);
      const receipt = journal.outcome('gateway.usage.v1', 'a', usage(2));
      const answer = watched(journal.commit(receipt, 'org_1'));
      await ioTick();
      expect(orders).toEqual([1, 'hurry']);
      expect(journal.stats().syncedSeq).toBe(0);
      journal.shipped('another epoch', receipt.seq);
      await ioTick();
      expect(answer.isDone).toBe(false);
      journal.shipped(journal.epoch, receipt.seq);
      await ioTick();
      expect(answer.isDone).toBe(true);
      expect(journal.stats().lateAcks).toBe(0);
      letSync();
      await receipt.synced;
      // What has shipped is not named again.
      expect(orders).toEqual([1, 'hurry']);
      await journal.close();
    }),
  );

  it('an answer of another organization, or of none, waits for no brokers', () =>
    withFolder(async (dir) => {
      const { journal } = await openJournal(dir, { ackFor: new Set(['org_1']), ackMs: 50 });
      for (const [n, orgId] of ['org_2', null].entries())
        await journal.commit(journal.outcome('gateway.usage.v1', 'a', usage(n)), orgId);
      expect(journal.stats().lateAcks).toBe(0);
      await journal.close();
    }));
});
