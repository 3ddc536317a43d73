import { existsSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { abandon, crashRecord, openJournal, TestClock, usage, type Bench } from './journal.fixture.js';
import { bootId, leaseName } from './lease.js';
import { JournalOwnedError } from './own-folder.js';

const USAGE = 'gateway.usage.v1';
const SHARED = /is shared with another machine, whose edge-1 is alive/;

describe('a folder that two machines share', () => {
  let dir: string;
  beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), 'journal-'))));
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const files = (producer: string): string[] =>
    readdirSync(join(dir, producer), { recursive: true }).map(String).sort();

  /** An edge on machine `a`, as another machine sees it: its socket refuses. */
  async function elsewhere(clock: TestClock): Promise<Bench> {
    const living = await openJournal(dir, { producer: 'edge-1', boot: 'a', clock });
    await living.journal.outcome(USAGE, 'account', usage(1)).synced;
    const socket = join(dir, 'edge-1', files('edge-1').find((name) => name.endsWith('.sock')) ?? '');
    unlinkSync(socket);
    writeFileSync(socket, '');
    return living;
  }

  /** Moves the clock until the start has ended, one way or the other. */
  async function ended<T>(clock: TestClock, start: Promise<T>): Promise<T> {
    let isOver = false;
    const over = (): void => void (isOver = true);
    start.then(over, over);
    await clock.until(() => isOver, 100);
    return start;
  }

  it.each(['edge-0', 'edge-1'])(
    'operations 2: %s of another machine does not start beside a living edge, and deletes nothing of it',
    async (producer) => {
      const clock = new TestClock();
      const { journal } = await elsewhere(clock);
      const before = files('edge-1');
      const start = ended(clock, openJournal(dir, { producer, boot: 'b', clock }));
      await expect(start).rejects.toThrow(JournalOwnedError);
      await expect(start).rejects.toMatchObject({ code: 'JOURNAL_OWNED' });
      await expect(start).rejects.toThrow(SHARED);
      expect(files('edge-1')).toEqual(before);
      expect(journal.isAccepting).toBe(true);
      await journal.outcome(USAGE, 'account', usage(2)).synced;
      await journal.close();
    },
  );

  it('of two machines that start at once none goes on with the other', async () => {
    const clock = new TestClock();
    const starts = ['a', 'b'].map((boot, n) => openJournal(dir, { producer: `edge-${n}`, boot, clock }));
    const all = await ended(clock, Promise.allSettled(starts));
    const started = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(started.length).toBeLessThanOrEqual(1);
    for (const { journal } of started) await journal.close();
  });

  /** A sibling that is dead here; its lease is one of machine `boot`. */
  async function left(boot: string): Promise<string> {
    const sibling = await openJournal(dir, { producer: 'edge-1', boot: 'b' });
    await sibling.journal.outcome(USAGE, 'account', usage(1)).synced;
    await abandon(sibling.journal);
    renew(sibling.journal.epoch, boot, 0);
    return sibling.journal.epoch;
  }
  const renew = (epoch: string, boot: string, renewals: number): void =>
    writeFileSync(
      join(dir, 'edge-1', leaseName(epoch)),
      `{"version":1,"boot":"${boot}","renewals":"${renewals}"}\n`,
    );

  it('takes over what a machine left that is gone, once its lease has been silent for 10 s', async () => {
    const epoch = await left('a');
    const clock = new TestClock();
    const { journal } = await ended(clock, openJournal(dir, { boot: 'b', clock }));
    expect(clock.monotonic()).toBeGreaterThanOrEqual(10_000);
    expect((await journal.recover(crashRecord)).epochs).toMatchObject([{ epoch, lastSeq: 1 }]);
    expect(files('edge-1')).not.toContain(leaseName(epoch));
    await journal.close();
  });

  it('takes over at once what a process of the same boot left', async () => {
    const epoch = await left('b');
    const { journal } = await openJournal(dir, { boot: 'b' });
    expect((await journal.recover(crashRecord)).epochs).toMatchObject([{ epoch, lastSeq: 1 }]);
    await journal.close();
  });

  it('an edge takes nothing over while another machine renews the lease of it', async () => {
    const clock = new TestClock();
    const { journal } = await openJournal(dir, { boot: 'b', clock });
    const epoch = await left('a');
    for (let renewals = 1; renewals < 5; renewals += 1) {
      expect((await journal.recover(crashRecord)).epochs).toEqual([]);
      clock.advance(9_999);
      renew(epoch, 'a', renewals);
    }
    expect((await journal.recover(crashRecord)).epochs).toEqual([]);
    clock.advance(10_000);
    expect((await journal.recover(crashRecord)).epochs).toMatchObject([{ epoch, lastSeq: 1 }]);
    await journal.close();
  });

  it('an edge whose lease was taken away takes no unit any more', async () => {
    const clock = new TestClock();
    const { journal } = await openJournal(dir, { boot: 'a', clock });
    expect(journal.isAccepting).toBe(true);
    unlinkSync(join(dir, 'edge-0', leaseName(journal.epoch)));
    await clock.until(() => !journal.isAccepting, 100);
    await journal.close();
  });

  it('a journal that is closed leaves no lease', async () => {
    const { journal } = await openJournal(dir, { boot: 'a' });
    expect(files('edge-0')).toContain(leaseName(journal.epoch));
    await journal.close();
    expect(files('edge-0').filter((name) => name.endsWith('.lease'))).toEqual([]);
  });

  it('knows the boot of this machine', () => {
    expect(bootId()).toMatch(existsSync('/proc/sys/kernel/random/boot_id') ? /^[0-9a-f-]{36}$/ : /^unknown$/);
  });
});
