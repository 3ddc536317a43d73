import { join } from 'node:path';
import type { OnAlarm } from './alarm.js';
import { type DeadEpoch, scanDeadEpoch } from './dead-epoch.js';
import type { Disk } from './disk.js';
import type { LeaseWatch } from './lease.js';
import { JournalVersionError } from './records.js';
import { type Claim, claim, isClaimed } from './owner.js';

export interface JournalRecoveryOptions {
  disk: Disk;
  dir: string;
  /** Producer of the journal that asks: its own folder never belongs to another. */
  producer: string;
  epoch: string;
  watch: LeaseWatch;
  onAlarm: OnAlarm;
}

/**
 * Finds what dead processes left in a journal folder and takes it over: earlier epochs of this producer and the
 * folders of producers that no process owns any more. One heir per producer folder, held by a socket.
 */
export class JournalRecovery {
  private readonly options: JournalRecoveryOptions;
  private readonly claims = new Map<string, Claim>();

  constructor(options: JournalRecoveryOptions) {
    this.options = options;
  }

  /**
   * Reads the dead epochs that are not `known`; those that another process is heir to are left to it. A producer with a
   * segment of an unknown version is left as it is, whole, and named by `refused`.
   */
  async find(
    isKnown: (producer: string, epoch: string) => boolean,
  ): Promise<{ found: DeadEpoch[]; refused: JournalVersionError | null }> {
    const { disk, dir, watch } = this.options;
    const found: DeadEpoch[] = [];
    let refused: JournalVersionError | null = null;
    for (const producer of disk.list(dir).filter((name) => isProducerName(name))) {
      const folder = join(dir, producer);
      // Listed before the owner is looked for: an owner that comes in between makes a new epoch, not one of these.
      const epochs = disk.list(folder).filter((name) => isEpochName(name) && name !== this.options.epoch);
      const unknown = epochs.filter((epoch) => !isKnown(producer, epoch));
      if (unknown.length === 0) continue;
      if (producer !== this.options.producer && (await isClaimed(folder, 'owner'))) continue;
      // On another machine a socket refuses though its owner lives.
      if (watch.look(folder) !== 'none') continue;
      if (!(await this.takeOver(producer, folder))) continue;
      try {
        found.push(...(await this.scan(producer, unknown)));
        watch.remove(folder, { epochs: unknown });
      } catch (error) {
        if (!(error instanceof JournalVersionError)) throw error;
        refused = error;
        // A process that does know it may be its heir, unless this one has begun to ship earlier epochs.
        if (unknown.length === epochs.length) await this.release(producer);
      }
    }
    return { found, refused };
  }

  private async scan(producer: string, epochs: readonly string[]): Promise<DeadEpoch[]> {
    const { disk, dir, onAlarm } = this.options;
    const found: DeadEpoch[] = [];
    for (const epoch of epochs) {
      const folder = join(dir, producer, epoch);
      found.push(await scanDeadEpoch({ disk, producer, epoch, folder }, onAlarm));
    }
    return found;
  }

  /** Gives up one producer's folder, when nothing of it is left, or all. */
  async release(producer?: string): Promise<void> {
    for (const [name, held] of this.claims) {
      if (producer !== undefined && name !== producer) continue;
      this.claims.delete(name);
      await held.release();
    }
  }

  private async takeOver(producer: string, folder: string): Promise<boolean> {
    if (this.claims.has(producer)) return true;
    const held = await claim(folder, 'heir', this.options.epoch);
    if (held === null) return false;
    this.claims.set(producer, held);
    return true;
  }
}

export function isProducerName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

function isEpochName(name: string): boolean {
  return /^[0-9a-z]{9}-[0-9a-f]{16}$/.test(name);
}
