import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalAlarm } from './alarm.js';
import { nodeDisk } from './disk.js';
import { faultyDisk, intentFor, openJournal, usage, withFolder } from './journal.fixture.js';

const USAGE = 'gateway.usage.v1';

describe('the segments of a journal', () => {
  it('B01 a new segment is no record before the disk knows its name: the folder is synced first, and again after a failure', () =>
    withFolder(async (dir) => {
      let failures = 1;
      const synced: string[] = [];
      const disk = faultyDisk({
        syncFolder: async (path) => {
          if (failures-- > 0) throw new Error('no room for a name');
          synced.push(path);
          await nodeDisk.syncFolder(path);
        },
      });
      const { journal, clock } = await openJournal(dir, { disk });
      const folder = join(dir, 'edge-0', journal.epoch);
      let before: string[] | null = null;
      void journal.outcome(USAGE, 'a', usage(1)).synced.then(() => (before = [...synced]));
      journal.flush();
      await clock.until(() => failures <= 0, 10);
      expect(before).toBeNull();
      await clock.until(() => before !== null, 10);
      expect(before).toContain(folder);
      expect(journal.stats().syncFailures).toBe(1);
      await journal.close();
    }));

  it('B01 the folder is synced again where the disk takes no new file either, and once for a segment', () =>
    withFolder(async (dir) => {
      let failures = 1;
      const synced: string[] = [];
      const disk = faultyDisk({
        create: (path) => {
          if (path.endsWith('00000002.log')) throw new Error('no room for a file');
          return nodeDisk.create(path);
        },
        syncFolder: async (path) => {
          if (failures-- > 0) throw new Error('no room for a name');
          synced.push(path);
          await nodeDisk.syncFolder(path);
        },
      });
      const { journal, clock } = await openJournal(dir, { disk });
      const folder = join(dir, 'edge-0', journal.epoch);
      for (const n of [1, 2, 3]) {
        let isSynced = false;
        void journal.outcome(USAGE, 'a', usage(n)).synced.then(() => (isSynced = true));
        journal.flush();
        await clock.until(() => isSynced, 10);
        expect(synced.filter((path) => path === folder)).toEqual([folder]);
      }
      await journal.close();
    }));

  it('a unit that has ended is carried into no segment, and leaves nothing behind', () =>
    withFolder(async (dir) => {
      const { journal } = await openJournal(dir, { segmentBytes: 1 });
      const folder = join(dir, 'edge-0', journal.epoch);
      for (const n of [1, 2]) journal.intent(intentFor(n));
      await journal.outcome(USAGE, 'a', usage(1)).synced;
      expect(journal.stats().openUnits).toBe(1);
      await journal.outcome(USAGE, 'a', usage(2)).synced;
      await journal.outcome(USAGE, 'a', usage(3)).synced;
      const segments = readdirSync(folder).sort();
      expect(readFileSync(join(folder, segments[segments.length - 1]), 'utf8')).not.toContain('"intent"');
      await journal.passed('edge-0', journal.epoch, 3);
      await journal.close();
      expect(existsSync(folder)).toBe(false);
    }));

  it('a journal that is closed holds no file', () =>
    withFolder(async (dir) => {
      const held = new Set<number>();
      const disk = faultyDisk({
        create: (path) => {
          const fd = nodeDisk.create(path);
          held.add(fd);
          return fd;
        },
        close: async (fd) => {
          held.delete(fd);
          await nodeDisk.close(fd);
        },
      });
      const { journal } = await openJournal(dir, { disk });
      await journal.outcome(USAGE, 'a', usage(1)).synced;
      expect(held.size).toBe(1);
      await journal.close();
      expect(held.size).toBe(0);
    }));

  it('a journal that is closed writes nothing, not even into a file that has the number of its own since', () =>
    withFolder(async (dir) => {
      const alarms: JournalAlarm[] = [];
      const { journal } = await openJournal(join(dir, 'one'), { onAlarm: (alarm) => alarms.push(alarm) });
      await journal.outcome(USAGE, 'a', usage(1)).synced;
      await journal.close();
      const next = await openJournal(join(dir, 'two'));
      const folder = join(dir, 'two', 'edge-0', next.journal.epoch);
      const bytes = (): number[] => readdirSync(folder).map((name) => statSync(join(folder, name)).size);
      const before = bytes();

      expect(journal.intent(intentFor(2))).toBe(false);
      void journal.outcome(USAGE, 'a', usage(2));
      expect(journal.flush()).toBe(false);

      expect(bytes()).toEqual(before);
      expect(alarms).toEqual([expect.objectContaining({ kind: 'write_failed', code: 'CLOSED' })]);
      await next.journal.close();
    }));
});
