import { faultOf, type OnAlarm } from './alarm.js';
import type { Disk } from './disk.js';
import type { Segment } from './segment-writer.js';

/** The files of one epoch on this process's account. */
export interface RetainedEpoch {
  producer: string;
  epoch: string;
  folder: string;
  segments: Segment[];
  /** Segments with unreadable bytes: renamed, never deleted. */
  damaged: Set<string>;
  watermark: number;
  /** Segments below this index may go once the watermark has passed them. */
  removableBelow(): number;
  /** Called when its last segment is gone. */
  onEmptied(): void;
}

/** Keeps each segment until the watermark has passed every sequence number in it, and counts their bytes. */
export class SegmentRetention {
  private readonly disk: Disk;
  private readonly onAlarm: OnAlarm;
  private readonly epochs = new Map<string, RetainedEpoch>();
  private work: Promise<void> = Promise.resolve();

  constructor(disk: Disk, onAlarm: OnAlarm) {
    this.disk = disk;
    this.onAlarm = onAlarm;
  }

  get usedBytes(): number {
    let bytes = 0;
    for (const epoch of this.epochs.values()) for (const segment of epoch.segments) bytes += segment.bytes;
    return bytes;
  }

  add(epoch: RetainedEpoch): void {
    this.epochs.set(keyOf(epoch.producer, epoch.epoch), epoch);
  }

  get(producer: string, epoch: string): RetainedEpoch | undefined {
    return this.epochs.get(keyOf(producer, epoch));
  }

  has(producer: string, epoch: string): boolean {
    return this.epochs.has(keyOf(producer, epoch));
  }

  all(): RetainedEpoch[] {
    return [...this.epochs.values()];
  }

  /** Everything up to `watermark` has been applied. Resolves when what may go is gone. */
  passed(producer: string, epoch: string, watermark: number): Promise<void> {
    const shelved = this.epochs.get(keyOf(producer, epoch));
    if (shelved === undefined) return Promise.resolve();
    shelved.watermark = Math.max(shelved.watermark, watermark);
    this.work = this.work.then(() => this.removePassed(shelved));
    return this.work;
  }

  private async removePassed(epoch: RetainedEpoch): Promise<void> {
    for (let oldest = epoch.segments.at(0); oldest !== undefined; oldest = epoch.segments.at(0)) {
      if (oldest.lastSeq > epoch.watermark || oldest.index >= epoch.removableBelow()) return;
      try {
        if (epoch.damaged.has(oldest.path)) this.disk.rename(oldest.path, `${oldest.path}.quarantine`);
        else await this.disk.remove(oldest.path);
      } catch (error) {
        this.onAlarm({ kind: 'delete_failed', path: oldest.path, message: faultOf(error).message });
        return;
      }
      epoch.segments.shift();
    }
    this.epochs.delete(keyOf(epoch.producer, epoch.epoch));
    this.removeFolder(epoch.folder);
    epoch.onEmptied();
  }

  private removeFolder(folder: string): void {
    try {
      this.disk.removeFolder(folder);
    } catch (error) {
      const { code, message } = faultOf(error);
      // A file set aside keeps its folder, for the operator.
      if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT') return;
      this.onAlarm({ kind: 'delete_failed', path: folder, message });
    }
  }
}

function keyOf(producer: string, epoch: string): string {
  return `${producer}/${epoch}`;
}
