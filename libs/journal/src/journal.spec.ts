import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { nodeDisk } from './disk.js';
import { decodeFrames } from './frame.js';
import {
  abandon,
  crashRecord,
  faultyDisk,
  intentFor,
  ioTick,
  openJournal,
  rejection,
  unpostedOf,
  usage,
  withFolder,
} from './journal.fixture.js';
import { isOutcome, type OutcomeHead, parseFrame } from './records.js';

const USAGE = 'gateway.usage.v1';
const REJECTIONS = 'gateway.rejections.v1';

function headsIn(folder: string): OutcomeHead[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .flatMap((name) => {
      const heads: OutcomeHead[] = [];
      decodeFrames(readFileSync(join(folder, name)), true, (json) => {
        const frame = parseFrame(json);
        if (frame.kind === 'outcome') heads.push(frame.head);
        return true;
      });
      return heads;
    });
}

function noSpace(): never {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
}

describe('the journal while it is written', () => {
  it('settles nothing before it is synced, and then everything in order', () =>
    withFolder(async (dir) => {
      let letSync: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        letSync = resolve;
      });
      const disk = faultyDisk({ sync: () => gate });
      const { journal, settled } = await openJournal(dir, { disk });
      const settle = {
        accountId: 'acct_1',
        unit: 'req_1/0',
        nano: '125',
        scopes: [],
        tokens: 1,
        tokenEstimate: 2,
        minute: 3,
      };
      const receipts = [1, 2, 3].map((n) =>
        journal.outcome(USAGE, 'acct_1', usage(n), n === 1 ? settle : null),
      );
      expect(journal.flush()).toBe(true);
      await ioTick();
      expect(settled).toEqual([]);
      expect(await unpostedOf(journal)).toEqual([]);
      letSync();
      await Promise.all(receipts.map((receipt) => receipt.synced));
      expect(settled.map((outcome) => outcome.seq)).toEqual([1, 2, 3]);
      expect(settled.map((outcome) => outcome.settle)).toEqual([settle, null, null]);
      await journal.close();
    }));

  it('an answer waits for the disk only where JOURNAL_SYNC is wait', () =>
    withFolder(async (dir) => {
      let writes = 0;
      let letSync = (): void => undefined;
      const gate = new Promise<void>((resolve) => (letSync = resolve));
      const disk = faultyDisk({
        write: (fd, bytes, offset) => (writes++, nodeDisk.write(fd, bytes, offset)),
        sync: (fd) => gate.then(() => nodeDisk.sync(fd)),
      });
      const group = await openJournal(dir, { disk });
      const outcomes = [1, 2, 3].map((n) => group.journal.outcome(USAGE, 'a', usage(n)));
      await Promise.all(outcomes.map((receipt) => group.journal.commit(receipt)));
      expect(writes).toBe(1);
      expect(group.journal.stats()).toMatchObject({ syncedSeq: 0, lastSyncMs: 0 });
      letSync();
      await group.journal.close();
      const wait = await openJournal(dir, { producer: 'edge-1', sync: 'wait' });
      await wait.journal.commit(wait.journal.outcome(USAGE, 'a', usage(1)));
      expect(wait.journal.stats().syncedSeq).toBe(1);
      await wait.journal.close();
    }));

  it('one event-loop tick is one write', () =>
    withFolder(async (dir) => {
      let writes = 0;
      const disk = faultyDisk({
        write: (fd, bytes, offset) => (writes++, nodeDisk.write(fd, bytes, offset)),
      });
      const { journal } = await openJournal(dir, { disk });
      for (let n = 0; n < 50; n += 1) journal.intent(intentFor(n));
      const last = journal.outcome(USAGE, 'a', usage(1));
      await last.synced;
      expect(writes).toBe(1);
      await journal.close();
    }));

  it('sequence numbers have no gap over 10,000 random operations, rolls and faults', () =>
    withFolder(async (dir) => {
      const operation = fc.constantFrom(
        'intent',
        'usage',
        'usage',
        'rejection',
        'flush',
        'turn',
        'fault',
        'big',
      );
      // Each waits until it is met, and no sync is real: how many there are must not depend on the machine's disk.
      const faults = new Set<'write' | 'short' | 'sync'>();
      const disk = faultyDisk({
        write: (fd, bytes, offset) => {
          if (faults.delete('write')) noSpace();
          const part = faults.delete('short')
            ? bytes.subarray(0, offset + Math.ceil((bytes.length - offset) / 2))
            : bytes;
          return nodeDisk.write(fd, part, offset);
        },
        sync: () => (faults.delete('sync') ? Promise.reject(new Error('EIO')) : Promise.resolve()),
        syncFolder: () => Promise.resolve(),
      });
      const { journal, clock, settled } = await openJournal(dir, { disk, segmentBytes: 64 * 1024 });
      let n = 0;
      const open: number[] = [];
      const tooLarge = { ...usage(0), endpoint: '/'.repeat(1 << 20) };
      const operations = fc.sample(operation, { numRuns: 10_000, seed: 7 });
      for (const name of operations) {
        n += 1;
        if (name === 'intent' && journal.intent(intentFor(n))) open.push(n);
        if (name === 'usage') journal.outcome(USAGE, `acct_${n % 3}`, usage(open.shift() ?? n));
        if (name === 'rejection') journal.outcome(REJECTIONS, `acct_${n % 3}`, rejection(n));
        if (name === 'flush') journal.flush();
        if (name === 'fault' && n % 5 === 0) faults.add((['write', 'short', 'sync'] as const)[n % 3]);
        if (name === 'big' && n % 20 === 0)
          expect(() => journal.outcome(USAGE, 'a', tooLarge)).toThrow(RangeError);
        if (name === 'turn' && n % 10 === 0) {
          clock.advance(60);
          await ioTick();
        }
      }
      const { seq } = journal.stats();
      await clock.until(() => journal.flush() && journal.stats().syncedSeq === seq, 100);
      expect(settled.map((outcome) => outcome.seq)).toEqual(
        Array.from({ length: seq }, (_, index) => index + 1),
      );
      // On the disk a number may stand twice (rewritten after a failed sync), but none is missing.
      const numbers = [...new Set(headsIn(join(dir, 'edge-0', journal.epoch)).map((head) => head.seq))];
      expect(numbers).toEqual(settled.map((outcome) => outcome.seq));
      expect(journal.stats()).toMatchObject({ isAccepting: true });
      expect(journal.stats().syncFailures).toBeGreaterThan(3);
      expect(journal.stats().writeFailures).toBeGreaterThan(3);
      await journal.close();
    }));
});

describe('the journal when the disk is full', () => {
  it('an INTENT alone is written and not synced, and a disk that failed on one is tried until it is well', () =>
    withFolder(async (dir) => {
      let syncs = 0;
      let isFull = false;
      const disk = faultyDisk({
        write: (fd, bytes, offset) => (isFull ? noSpace() : nodeDisk.write(fd, bytes, offset)),
        sync: (fd) => {
          syncs += 1;
          return nodeDisk.sync(fd);
        },
      });
      const { journal, clock } = await openJournal(dir, { disk });
      journal.intent(intentFor(1));
      journal.flush();
      await ioTick();
      expect(syncs).toBe(0);
      isFull = true;
      journal.intent(intentFor(2));
      expect(journal.flush()).toBe(false);
      expect(journal.isAccepting).toBe(false);
      isFull = false;
      await clock.until(() => journal.isAccepting, 100);
      expect(syncs).toBe(1);
      await journal.close();
    }));

  it('outcomes within the gap share one sync, which nobody waits for; the gap grows while many end', () =>
    withFolder(async (dir) => {
      let syncs = 0;
      const disk = faultyDisk({ sync: (fd) => ((syncs += 1), nodeDisk.sync(fd)) });
      const { journal, clock, settled } = await openJournal(dir, { disk, syncGapMs: { usual: 5, busy: 50 } });
      journal.outcome(USAGE, 'a', usage(1));
      journal.flush();
      await clock.until(() => settled.length === 1);
      for (const n of [2, 3, 4]) {
        journal.outcome(USAGE, 'a', usage(n));
        expect(journal.flush()).toBe(true);
      }
      await ioTick();
      expect([syncs, settled.length]).toEqual([1, 1]);
      clock.advance(5);
      await clock.until(() => settled.length === 4);
      expect(syncs).toBe(2);
      // Three within 5 ms are more than 500 a second: the next ones wait longer.
      journal.outcome(USAGE, 'a', usage(5));
      journal.flush();
      clock.advance(49);
      await ioTick();
      expect([syncs, settled.length]).toEqual([2, 4]);
      clock.advance(1);
      await clock.until(() => settled.length === 5);
      journal.outcome(USAGE, 'a', usage(6));
      journal.flush();
      clock.advance(5);
      await clock.until(() => settled.length === 6);
      expect(syncs).toBe(4);
      await journal.close();
    }));

  it('a journal that closes waits for no gap between two syncs, and each refused sync or write is counted once', () =>
    withFolder(async (dir) => {
      const faults = new Set<'write' | 'sync'>();
      const disk = faultyDisk({
        write: (fd, bytes, offset) =>
          faults.delete('write') ? noSpace() : nodeDisk.write(fd, bytes, offset),
        sync: (fd) => (faults.delete('sync') ? Promise.reject(new Error('EIO')) : nodeDisk.sync(fd)),
      });
      const { journal, clock, settled } = await openJournal(dir, {
        disk,
        syncGapMs: { usual: 60_000, busy: 60_000 },
      });
      const failures = (): number[] => [journal.stats().writeFailures, journal.stats().syncFailures];
      faults.add('write').add('sync');
      journal.outcome(USAGE, 'a', usage(1));
      expect(journal.flush()).toBe(false);
      expect(failures()).toEqual([1, 0]);
      await clock.until(() => settled.length === 1, 1_000);
      expect(failures()).toEqual([1, 1]);
      journal.outcome(USAGE, 'a', usage(2));
      expect(journal.flush()).toBe(true);
      // The clock stands: the gap would never be over.
      await journal.close();
      expect(settled.map(({ seq }) => seq)).toEqual([1, 2]);
    }));

  it('B08 no space: units are refused, nothing is lost, and it recovers', () =>
    withFolder(async (dir) => {
      let isFull = true;
      const disk = faultyDisk({
        write: (fd, bytes, offset) => {
          // Half of it fits, as on a real disk.
          if (isFull && bytes.length - offset > 1)
            return nodeDisk.write(fd, bytes.subarray(0, offset + 1), offset);
          return isFull ? noSpace() : nodeDisk.write(fd, bytes, offset);
        },
      });
      const { journal, clock, alarms, settled } = await openJournal(dir, { disk });
      journal.outcome(USAGE, 'a', usage(1));
      expect(journal.flush()).toBe(false);
      expect(alarms).toEqual([{ kind: 'write_failed', code: 'ENOSPC', message: 'no space left on device' }]);
      expect(journal.isAccepting).toBe(false);
      expect(journal.intent(intentFor(2))).toBe(false);
      journal.outcome(USAGE, 'a', usage(3));
      clock.advance(5_000);
      await ioTick();
      expect(settled).toEqual([]);
      expect(alarms).toHaveLength(1);
      isFull = false;
      await clock.until(() => settled.length === 2, 1_000);
      expect(journal.isAccepting).toBe(true);
      expect(journal.intent(intentFor(4))).toBe(true);
      expect(headsIn(join(dir, 'edge-0', journal.epoch)).map((head) => head.unit)).toEqual([
        'req_1/0',
        'req_3/0',
      ]);
      await journal.close();
    }));

  it('B08 at 90 % of the budget no unit is accepted, outcomes still are, and deletion reopens it', () =>
    withFolder(async (dir) => {
      const { journal, alarms, clock } = await openJournal(dir, {
        budgetBytes: 200_000,
        segmentBytes: 20_000,
      });
      for (let n = 1; !journal.isFull; n += 1) {
        expect(journal.intent(intentFor(n))).toBe(true);
        journal.outcome(USAGE, 'a', usage(n));
        journal.flush();
      }
      expect(journal.stats().usedBytes).toBeGreaterThanOrEqual(180_000);
      expect(journal.intent(intentFor(1_000))).toBe(false);
      expect(alarms.filter((alarm) => alarm.kind === 'full')).toHaveLength(1);
      const last = journal.outcome(USAGE, 'a', usage(1_000));
      await last.synced;
      await journal.passed('edge-0', journal.epoch, last.seq);
      await clock.until(() => journal.stats().segments === 1);
      expect(journal.isAccepting).toBe(true);
      await journal.close();
    }));

  it('a segment goes only when the watermark has passed every number in it', () =>
    withFolder(async (dir) => {
      const { journal } = await openJournal(dir, { segmentBytes: 5_000 });
      for (let n = 1; n <= 60; n += 1) {
        journal.outcome(USAGE, 'a', usage(n));
        journal.flush();
      }
      await journal.outcome(USAGE, 'a', usage(61)).synced;
      const folder = join(dir, 'edge-0', journal.epoch);
      for (let mark = 0; mark <= 61; mark += 1) {
        await journal.passed('edge-0', journal.epoch, mark);
        const left = headsIn(folder).map((head) => head.seq);
        expect(left.at(-1)).toBe(61);
        expect(left[0]).toBeLessThanOrEqual(mark + 1);
        expect(left).toEqual(left.map((_, index) => left[0] + index));
      }
      expect(readdirSync(folder)).toHaveLength(1);
      await journal.close();
      expect(existsSync(folder)).toBe(false);
    }));

  it('a unit still open is carried into each new segment, so its old one can go', () =>
    withFolder(async (dir) => {
      const first = await openJournal(dir, { segmentBytes: 5_000 });
      first.journal.intent(intentFor(999));
      for (let n = 1; n <= 30; n += 1) {
        first.journal.outcome(USAGE, 'a', usage(n));
        first.journal.flush();
      }
      await first.journal.outcome(USAGE, 'a', usage(31)).synced;
      await first.journal.passed('edge-0', first.journal.epoch, 31);
      expect(first.journal.stats().segments).toBe(1);
      await abandon(first.journal);
      const second = await openJournal(dir);
      expect((await second.journal.recover(crashRecord)).crashed).toBe(1);
      await second.journal.close();
    }));
});

describe('a frame', () => {
  it('carries the value as text with its stamps, and knows outcomes without parsing', () =>
    withFolder(async (dir) => {
      const { journal } = await openJournal(dir);
      await journal.outcome(USAGE, 'acct_1', usage(4)).synced;
      const path = join(dir, 'edge-0', journal.epoch, '00000001.log');
      decodeFrames(readFileSync(path), true, (json) => {
        const frame = parseFrame(json);
        expect(isOutcome(json)).toBe(true);
        if (frame.kind === 'begin') return true;
        if (frame.kind !== 'outcome') throw new Error('Not an outcome.');
        expect(JSON.parse(frame.value)).toEqual({
          ...usage(4),
          producer: 'edge-0',
          epoch: journal.epoch,
          seq: 1,
        });
        return true;
      });
      await journal.close();
    }));
});
