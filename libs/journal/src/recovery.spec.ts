import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { decodeFrames, encodeFrame } from './frame.js';
import { JournalOwnedError } from './own-folder.js';
import {
  abandon,
  crashRecord,
  intentFor,
  openJournal,
  rejection,
  unpostedOf,
  usage,
  withFolder,
} from './journal.fixture.js';
import { beginJson, type OutcomeHead, parseFrame } from './records.js';

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

describe('the journal after a death', () => {
  it('B01 closes each open unit once, in its own epoch, also when the heir dies too', () =>
    withFolder(async (dir) => {
      const dead = await openJournal(dir);
      for (let n = 1; n <= 5; n += 1) dead.journal.intent(intentFor(n));
      dead.journal.outcome(USAGE, 'acct_1', usage(1));
      dead.journal.outcome(USAGE, 'acct_2', usage(2));
      await abandon(dead.journal);
      const successor = await openJournal(dir);
      const lost: boolean[] = [];
      const recovery = await successor.journal.recover((open, isUnreadable) => {
        lost.push(isUnreadable);
        return crashRecord(open);
      });
      expect(recovery).toEqual({
        epochs: [{ producer: 'edge-0', epoch: dead.journal.epoch, lastSeq: 2 }],
        crashed: 3,
      });
      expect(lost).toEqual([false, false, false]);
      const closings = headsIn(join(dir, 'edge-0', successor.journal.epoch));
      expect(closings.map(({ unit, seq, isCrash }) => ({ unit, seq, isCrash }))).toEqual(
        [3, 4, 5].map((n, index) => ({ unit: `req_${n}/0`, seq: index + 1, isCrash: true })),
      );
      expect(successor.settled.map((outcome) => outcome.settle)).toEqual([null, null, null]);
      await abandon(successor.journal);
      const third = await openJournal(dir);
      const again = await third.journal.recover(crashRecord);
      expect(again.crashed).toBe(0);
      expect(again.epochs.map((epoch) => epoch.lastSeq).sort()).toEqual([2, 3]);
      await third.journal.close();
    }));

  it('B01 what was synced and not posted can be put again, with what settling needs', () =>
    withFolder(async (dir) => {
      const settle = {
        accountId: 'acct_1',
        unit: 'req_2/0',
        nano: '125',
        scopes: [],
        tokens: 1,
        tokenEstimate: 2,
        minute: 3,
      };
      const dead = await openJournal(dir);
      dead.journal.outcome(USAGE, 'acct_1', usage(1));
      dead.journal.outcome(USAGE, 'acct_1', usage(2), settle);
      await abandon(dead.journal);
      const successor = await openJournal(dir);
      await successor.journal.recover(crashRecord);
      await successor.journal.passed('edge-0', dead.journal.epoch, 1);
      await successor.journal.outcome(REJECTIONS, 'acct_1', rejection(3)).synced;
      const found = await unpostedOf(successor.journal);
      expect(found.map(({ epoch, seq, settle: facts }) => ({ epoch, seq, facts }))).toEqual([
        { epoch: successor.journal.epoch, seq: 1, facts: null },
        { epoch: dead.journal.epoch, seq: 2, facts: settle },
      ]);
      await successor.journal.close();
    }));

  it('B09 a torn tail is cut in silence; a flipped bit alarms, keeps the rest aside and ships what came before', () =>
    withFolder(async (dir) => {
      for (const damage of ['torn', 'flipped'] as const) {
        const dead = await openJournal(dir, { producer: damage, segmentBytes: 1 });
        for (let n = 1; n <= 3; n += 1) {
          dead.journal.outcome(USAGE, 'a', usage(n));
          dead.journal.outcome(USAGE, 'a', usage(n));
          dead.journal.flush();
        }
        await abandon(dead.journal);
        const folder = join(dir, damage, dead.journal.epoch);
        const path = join(folder, '00000003.log');
        const bytes = readFileSync(path);
        if (damage === 'torn') truncateSync(path, bytes.length - 5);
        else {
          bytes[bytes.length - 5] ^= 4;
          writeFileSync(path, bytes);
        }
        const successor = await openJournal(dir, { producer: damage });
        const { epochs } = await successor.journal.recover(crashRecord);
        expect(epochs).toEqual([{ producer: damage, epoch: dead.journal.epoch, lastSeq: 5 }]);
        const kinds = successor.alarms.map((alarm) => alarm.kind);
        expect(kinds).toEqual(damage === 'torn' ? [] : ['bad_frame']);
        await successor.journal.passed(damage, dead.journal.epoch, 5);
        expect(existsSync(folder)).toBe(damage === 'flipped');
        if (damage === 'flipped') expect(readdirSync(folder)).toEqual(['00000003.log.quarantine']);
        await successor.journal.close();
      }
    }));

  it('B09 a bad frame in mid-epoch names the numbers that are missing and ships the later segments', () =>
    withFolder(async (dir) => {
      const dead = await openJournal(dir, { segmentBytes: 1 });
      for (let n = 1; n <= 3; n += 1) {
        dead.journal.outcome(USAGE, 'a', usage(n));
        dead.journal.flush();
      }
      await abandon(dead.journal);
      const path = join(dir, 'edge-0', dead.journal.epoch, '00000002.log');
      const bytes = readFileSync(path);
      // Behind the begin of the segment.
      bytes[encodeFrame(beginJson(1)).length + 100] ^= 1;
      writeFileSync(path, bytes);
      const successor = await openJournal(dir);
      expect((await successor.journal.recover(crashRecord)).epochs[0].lastSeq).toBe(3);
      expect(successor.alarms).toContainEqual(
        expect.objectContaining({ kind: 'sequence_gap', from: 2, to: 2 }),
      );
      await successor.journal.close();
    }));

  it('B01 segments that went because they were posted are no gap, also where units begin the first one that is left', () =>
    withFolder(async (dir) => {
      const dead = await openJournal(dir, { segmentBytes: 1 });
      dead.journal.intent(intentFor(9));
      for (let n = 1; n <= 4; n += 1) {
        dead.journal.outcome(USAGE, 'a', usage(n));
        dead.journal.flush();
      }
      const folder = join(dir, 'edge-0', dead.journal.epoch);
      await dead.clock.until(() => dead.journal.stats().syncedSeq === 4, 10);
      await dead.journal.passed('edge-0', dead.journal.epoch, 2);
      await abandon(dead.journal);
      expect(existsSync(join(folder, '00000001.log'))).toBe(false);
      const successor = await openJournal(dir);
      const recovery = await successor.journal.recover(crashRecord);
      expect(recovery).toEqual({
        epochs: [{ producer: 'edge-0', epoch: dead.journal.epoch, lastSeq: 4 }],
        crashed: 1,
      });
      expect(successor.alarms.map(({ kind }) => kind)).toEqual(['crashed_units']);
      await successor.journal.close();
    }));

  it('B09 one flipped bit costs one record: the others ship, its number and bytes are named, its unit is closed as lost', () =>
    withFolder(async (dir) => {
      const dead = await openJournal(dir);
      for (let n = 1; n <= 6; n += 1) {
        dead.journal.intent(intentFor(n));
        dead.journal.outcome(USAGE, 'a', usage(n));
      }
      await abandon(dead.journal);
      const path = join(dir, 'edge-0', dead.journal.epoch, '00000001.log');
      const bytes = readFileSync(path);
      const at = bytes.indexOf('req_3', bytes.indexOf('"outcome":{"seq":3'));
      bytes[at] ^= 1;
      writeFileSync(path, bytes);
      const successor = await openJournal(dir);
      const closed: [string, boolean][] = [];
      const { crashed, epochs } = await successor.journal.recover((open, isUnreadable) => {
        closed.push([open.unit, isUnreadable]);
        return crashRecord(open);
      });
      expect([crashed, epochs[0].lastSeq]).toEqual([1, 6]);
      expect(closed).toEqual([['req_3/0', true]]);
      const [bad, gap] = successor.alarms;
      expect(bad).toMatchObject({ kind: 'bad_frame', path });
      const lost = bad.kind === 'bad_frame' ? bytes.subarray(bad.offset, bad.offset + bad.lostBytes) : null;
      expect(lost?.includes('"outcome":{"seq":3')).toBe(true);
      expect(lost?.includes('"outcome":{"seq":2') || lost?.includes('"intent"')).toBe(false);
      expect(gap).toMatchObject({ kind: 'sequence_gap', from: 3, to: 3 });
      const seqs = (await unpostedOf(successor.journal)).map(({ seq }) => seq);
      expect(seqs.toSorted()).toEqual([1, 1, 2, 4, 5, 6]);
      await successor.journal.close();
    }));

  it('B09 a unit whose outcome stood at the damaged end is closed as lost, though no number is missing behind it', () =>
    withFolder(async (dir) => {
      const dead = await openJournal(dir);
      for (let n = 1; n <= 2; n += 1) {
        dead.journal.intent(intentFor(n));
        dead.journal.outcome(USAGE, 'a', usage(n));
      }
      await abandon(dead.journal);
      const path = join(dir, 'edge-0', dead.journal.epoch, '00000001.log');
      const bytes = readFileSync(path);
      bytes[bytes.length - 5] ^= 4;
      writeFileSync(path, bytes);
      const successor = await openJournal(dir);
      const closed: [string, boolean][] = [];
      await successor.journal.recover((open, isUnreadable) => {
        closed.push([open.unit, isUnreadable]);
        return crashRecord(open);
      });
      expect(closed).toEqual([['req_2/0', true]]);
      expect(successor.alarms.map(({ kind }) => kind)).toEqual(['bad_frame', 'crashed_units']);
      await successor.journal.close();
    }));

  it('its folders are for its user alone, and so are its files', () =>
    withFolder(async (dir) => {
      const { journal } = await openJournal(dir);
      const folder = join(dir, 'edge-0', journal.epoch);
      const modes = [join(dir, 'edge-0'), folder, join(folder, '00000001.log')].map((path) =>
        (statSync(path).mode & 0o777).toString(8),
      );
      expect(modes).toEqual(['700', '700', '600']);
      await journal.close();
    }));

  it('B10 clock steps of -1 h and +1 d change neither order nor epochs', () =>
    withFolder(async (dir) => {
      const first = await openJournal(dir);
      first.journal.outcome(USAGE, 'a', usage(1));
      first.clock.wall -= 3_600_000;
      first.journal.outcome(USAGE, 'a', usage(2));
      first.clock.wall += 86_400_000;
      await first.journal.outcome(USAGE, 'a', usage(3)).synced;
      expect(first.settled.map((outcome) => outcome.seq)).toEqual([1, 2, 3]);
      await abandon(first.journal);
      // The second process starts an hour before the first one did, by its clock.
      const second = await openJournal(dir);
      expect(second.journal.epoch).not.toBe(first.journal.epoch);
      expect((await second.journal.recover(crashRecord)).epochs).toEqual([
        { producer: 'edge-0', epoch: first.journal.epoch, lastSeq: 3 },
      ]);
      await second.journal.close();
    }));
});

describe('who owns a journal', () => {
  it('a second process of the same producer is refused while the first lives', () =>
    withFolder(async (dir) => {
      const first = await openJournal(dir);
      const second = openJournal(dir, { clock: { ...impatient(), now: () => 0 } });
      await expect(second).rejects.toBeInstanceOf(JournalOwnedError);
      expect(first.journal.flush()).toBe(true);
      await first.journal.close();
      const third = await openJournal(dir);
      await third.journal.close();
    }));

  it('takes away the socket of a process that died', () =>
    withFolder(async (dir) => {
      const first = await openJournal(dir);
      const sockets = (): string[] =>
        readdirSync(join(dir, 'edge-0')).filter((name) => name.endsWith('.sock'));
      const [mine] = sockets();
      const dead = `owner-${'0'.repeat(26)}.sock`;
      // As a killed process leaves it: closing looks for the first name.
      renameSync(join(dir, 'edge-0', mine), join(dir, 'edge-0', dead));
      await first.journal.close();
      expect(sockets()).toContain(dead);
      const second = await openJournal(dir);
      expect(sockets()).not.toContain(dead);
      await second.journal.close();
    }));

  it('takes over a sibling only when its socket is dead, and one heir only', () =>
    withFolder(async (dir) => {
      const sibling = await openJournal(dir, { producer: 'edge-1' });
      await sibling.journal.outcome(USAGE, 'a', usage(1)).synced;
      const successor = await openJournal(dir);
      expect((await successor.journal.recover(crashRecord)).epochs).toEqual([]);
      await abandon(sibling.journal);
      expect((await successor.journal.recover(crashRecord)).epochs).toEqual([
        { producer: 'edge-1', epoch: sibling.journal.epoch, lastSeq: 1 },
      ]);
      expect((await successor.journal.recover(crashRecord)).epochs).toEqual([]);
      const other = await openJournal(dir, { producer: 'edge-2' });
      expect((await other.journal.recover(crashRecord)).epochs).toEqual([]);
      // The sibling may come back while its old epoch is in other hands.
      const back = await openJournal(dir, { producer: 'edge-1' });
      expect((await back.journal.recover(crashRecord)).epochs).toEqual([]);
      await successor.journal.passed('edge-1', sibling.journal.epoch, 1);
      expect(existsSync(join(dir, 'edge-1', sibling.journal.epoch))).toBe(false);
      for (const { journal } of [successor, other, back]) await journal.close();
    }));

  it('stays the one heir of a sibling that died twice until the last of its epochs is posted', () =>
    withFolder(async (dir) => {
      const epochs: string[] = [];
      for (const n of [1, 2]) {
        const sibling = await openJournal(dir, { producer: 'edge-1' });
        await sibling.journal.outcome(USAGE, 'a', usage(n)).synced;
        await abandon(sibling.journal);
        epochs.push(sibling.journal.epoch);
      }
      const successor = await openJournal(dir);
      expect((await successor.journal.recover(crashRecord)).epochs).toHaveLength(2);
      await successor.journal.passed('edge-1', epochs[0], 1);
      const other = await openJournal(dir, { producer: 'edge-2' });
      expect((await other.journal.recover(crashRecord)).epochs).toEqual([]);
      await successor.journal.passed('edge-1', epochs[1], 1);
      expect(epochs.some((epoch) => existsSync(join(dir, 'edge-1', epoch)))).toBe(false);
      for (const { journal } of [successor, other]) await journal.close();
    }));

  it('meets other claimants in the folder itself: containers that share it share no temporary folder', () =>
    withFolder(async (dir) => {
      const { journal } = await openJournal(dir);
      expect(readdirSync(join(dir, 'edge-0'))).toContainEqual(expect.stringMatching(/^owner-.+\.sock$/));
      await journal.close();
    }));

  it('a path too long for a socket still has one owner', () =>
    withFolder(async (dir) => {
      const deep = join(dir, 'd'.repeat(60), 'e'.repeat(60));
      const first = await openJournal(deep);
      await expect(openJournal(deep, { clock: impatient() })).rejects.toBeInstanceOf(JournalOwnedError);
      await first.journal.close();
      const second = await openJournal(deep);
      await second.journal.close();
    }));
});

function impatient() {
  return {
    now: () => 1_790_000_000_000,
    monotonic: () => 0,
    setTimer: () => ({ cancel: () => undefined }),
    sleep: () => Promise.resolve(),
  };
}
