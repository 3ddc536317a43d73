import { join } from 'node:path';
import type { Clock } from '@gateway/contracts';
import type { Disk } from './disk.js';
import { isProducerName } from './journal-recovery.js';
import { Lease, LeaseWatch, SILENT_MS } from './lease.js';
import { claim } from './owner.js';

const LOOK_MS = 1_000;
const LOOKS_MAX = (3 * SILENT_MS) / LOOK_MS;

/** The folder of a producer, as long as this process owns it. */
export interface OwnFolder {
  /** Owners on other machines. */
  readonly watch: LeaseWatch;
  readonly lease: Lease;
  release(): Promise<void>;
}

/** Another living process writes the journal of this producer, or another machine the same volume. */
export class JournalOwnedError extends Error {
  /** Code by which a start prints the sentence alone. */
  readonly code = 'JOURNAL_OWNED';

  constructor(message: string) {
    super(message);
    this.name = 'JournalOwnedError';
  }
}

/**
 * Owns the folder of a producer; null where a living process of this machine has it. Where an owner on another machine
 * lives anywhere below `dir`, nothing is touched and JournalOwnedError thrown.
 */
export async function ownFolder(of: {
  disk: Disk;
  dir: string;
  producer: string;
  epoch: string;
  boot: string;
  clock: Clock;
}): Promise<OwnFolder | null> {
  const { disk, dir, producer, epoch, boot, clock } = of;
  const folder = join(dir, producer);
  const watch = new LeaseWatch(disk, boot, clock);
  // Before the look, so that of two that start at least one sees the other.
  const lease = new Lease(folder, epoch, boot, clock);
  try {
    await refuseShared(of, watch);
    const held = await claim(folder, 'owner', epoch);
    if (held !== null) {
      watch.remove(folder, { kept: epoch });
      return {
        ...{ watch, lease },
        release: async () => {
          lease.release();
          await held.release();
        },
      };
    }
  } catch (error) {
    lease.release();
    throw error;
  }
  lease.release();
  return null;
}

/** Watches the leases of other boots until each is silent. A machine that has started anew leaves such ones. */
async function refuseShared(
  { disk, dir, clock }: { disk: Disk; dir: string; clock: Clock },
  watch: LeaseWatch,
): Promise<void> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const producers = disk.list(dir).filter((name) => isProducerName(name));
    const states = producers.map((name) => watch.look(join(dir, name)));
    const living = producers[states.indexOf('living')];
    if (living !== undefined)
      throw new JournalOwnedError(
        `The folder ${dir} is shared with another machine, whose ${living} is alive. Give each machine a volume of its own as JOURNAL_DIR.`,
      );
    if (!states.includes('unsure')) return;
    await clock.sleep(LOOK_MS);
  }
  throw new JournalOwnedError(
    `Other machines come and go in the folder ${dir}: give each a volume of its own.`,
  );
}
