import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '@gateway/contracts';
import { faultOf } from './alarm.js';
import type { Disk } from './disk.js';

/** Changes with each start of the machine. Containers of one machine have the same. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const RENEW_MS = 2_000;
/** A lease of another boot that stands still for so long belongs to nobody. */
export const SILENT_MS = 10_000;
const NAME = /^owner-[0-9a-z]{9}-[0-9a-f]{16}\.lease$/;

/** Returns the id of this boot of the machine; `unknown` where the system has none. */
export function bootId(): string {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

export function leaseName(epoch: string): string {
  return `owner-${epoch}.lease`;
}

/**
 * A file beside the owner's socket, renewed every 2 s, that tells another machine what the socket cannot: it refuses there
 * though its owner lives. Always of one length, so that a full disk takes a renewal.
 */
export class Lease {
  /** Another process has taken the folder over: what is written here now, nobody may ever read. */
  isLost = false;
  private isWritten = false;
  private isReleased = false;
  private renewals = 0;
  private timer: Timer | null = null;
  private readonly path: string;

  constructor(
    folder: string,
    epoch: string,
    private readonly boot: string,
    private readonly clock: Clock,
  ) {
    this.path = join(folder, leaseName(epoch));
    try {
      writeFileSync(this.path, this.text(), { flag: 'wx', mode: 0o600 });
      this.isWritten = true;
    } catch {
      // A disk that takes nothing now may take a renewal.
    }
    this.plan();
  }

  release(): void {
    this.isReleased = true;
    this.timer?.cancel();
    rmSync(this.path, { force: true });
  }

  private text(): string {
    return `${JSON.stringify({ version: 1, boot: this.boot, renewals: String(this.renewals).padStart(12, '0') })}\n`;
  }

  private plan(): void {
    if (this.isReleased || this.isLost) return;
    this.timer = this.clock.setTimer(RENEW_MS, () => void this.renew());
  }

  private async renew(): Promise<void> {
    this.renewals += 1;
    try {
      const file = await open(this.path, this.isWritten ? 'r+' : 'wx', 0o600);
      try {
        await file.write(this.text(), 0);
        this.isWritten = true;
      } finally {
        await file.close();
      }
    } catch (error) {
      // Anything else is a disk that fails, and is tried again.
      this.isLost = this.isWritten && !this.isReleased && faultOf(error).code === 'ENOENT';
    }
    if (this.isReleased) rmSync(this.path, { force: true });
    this.plan();
  }
}

/** Tells owners on other machines that live from those that do not: the former renew their leases. */
export class LeaseWatch {
  private readonly seen = new Map<string, { text: string; sinceMs: number; isRenewed: boolean }>();

  constructor(
    private readonly disk: Disk,
    private readonly boot: string,
    private readonly clock: Clock,
  ) {}

  /** `none`: no owner of another boot, or a silent one; `unsure`: one that was not watched for long enough. */
  look(folder: string): 'none' | 'unsure' | 'living' {
    let found: 'none' | 'unsure' | 'living' = 'none';
    for (const name of this.leases(folder)) {
      const path = join(folder, name);
      const text = read(path);
      if (text === null || text.includes(`"boot":"${this.boot}"`)) continue;
      const nowMs = this.clock.monotonic();
      let seen = this.seen.get(path);
      if (seen?.text !== text) {
        seen = { text, sinceMs: nowMs, isRenewed: seen !== undefined };
        this.seen.set(path, seen);
      }
      if (nowMs - seen.sinceMs >= SILENT_MS) continue;
      if (seen.isRenewed) return 'living';
      found = 'unsure';
    }
    return found;
  }

  /** Removes what dead owners have left: a lease of these epochs, or every other one than that of `kept`. */
  remove(folder: string, which: { epochs: readonly string[] } | { kept: string }): void {
    for (const name of this.leases(folder)) {
      const isDead =
        'kept' in which
          ? name !== leaseName(which.kept)
          : which.epochs.some((epoch) => name === leaseName(epoch));
      if (!isDead) continue;
      rmSync(join(folder, name), { force: true });
      this.seen.delete(join(folder, name));
    }
  }

  private leases(folder: string): string[] {
    return this.disk.list(folder).filter((name) => NAME.test(name));
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (faultOf(error).code === 'ENOENT') return null;
    throw error;
  }
}
