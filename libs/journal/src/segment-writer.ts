import { join } from 'node:path';
import type { Clock, Timer } from '@gateway/contracts';
import { faultOf, type OnAlarm } from './alarm.js';
import { type Disk, segmentName } from './disk.js';
import { FrameBuffer, encodeFrame, type FrameRun } from './frame.js';
import { beginJson, type SyncedOutcome } from './records.js';

/** Position up to which the disk certainly holds an epoch. */
export interface Position {
  segment: number;
  offset: number;
  /** Highest sequence number before it; 0 = none. */
  seq: number;
}

export interface Segment {
  index: number;
  path: string;
  bytes: number;
  /** Highest sequence number in it or before it. */
  lastSeq: number;
}

const NO_BYTES = Buffer.alloc(0);

/** Frames of one write. */
class Group {
  hasFrames = false;
  outcomes: SyncedOutcome[] = [];
  lastSeq = 0;
  /** Bytes of its frames, from when it is sealed. */
  data: Buffer = NO_BYTES;
  /** Run that `data` was taken from, returned once the disk has confirmed it. Null for data with memory of its own. */
  run: FrameRun | null = null;
  /** File and end of its bytes, from when it is written. */
  fd = -1;
  end: Position = { segment: 0, offset: 0, seq: 0 };
  private isSynced = false;
  private waiting: { synced: Promise<void>; resolve: () => void } | null = null;

  /** Resolves when the disk has confirmed it. */
  get synced(): Promise<void> {
    if (this.isSynced) return Promise.resolve();
    if (this.waiting === null) {
      let resolve: () => void = () => undefined;
      const synced = new Promise<void>((done) => (resolve = done));
      this.waiting = { synced, resolve };
    }
    return this.waiting.synced;
  }

  resolve(): void {
    this.isSynced = true;
    this.waiting?.resolve();
  }
}

/** The disk's confirmation of a group of frames. */
export type SyncOf = Pick<Group, 'synced'>;

/** Shortest time between the beginnings of two syncs, in milliseconds: usually, and while many units end. */
export interface SyncGap {
  usual: number;
  busy: number;
}

export interface WriterOptions {
  disk: Disk;
  clock: Clock;
  folder: string;
  segmentBytes: number;
  syncGapMs: SyncGap;
  /** Version of the frames, which each segment begins with. */
  version: number;
  onAlarm: OnAlarm;
  /** Frames that each new segment begins with, as JSON: units still open, so that no old segment is kept for their sake. */
  carry(): string[];
  onSynced(position: Position, outcomes: SyncedOutcome[]): void;
}

const UNSYNCED_INTENT_BYTES_MAX = 1024 * 1024;
/** A sync costs the same for one outcome and for many: from 500 a second on it waits for more of them. */
const BUSY_OUTCOMES_PER_MS = 0.5;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 1_000;

/**
 * Appends frames to the segments of one epoch. Bytes leave memory only when the disk has confirmed them: a refused
 * write goes on where it stopped. After a failed sync everything unconfirmed is written again to a new segment:
 * the kernel may have dropped those pages, and a second sync would answer well without them.
 */
export class SegmentWriter {
  readonly segments: Segment[] = [];
  writeFailures = 0;
  syncFailures = 0;
  lastSyncMs = 0;
  /** The disk refused a write or a sync, and has not done one since. */
  isBroken = false;
  /** Position up to which the kernel has the epoch. */
  end: Position = { segment: 1, offset: 0, seq: 0 };
  /** True once `close` has begun: nothing is written any more. */
  isClosed = false;
  private readonly options: WriterOptions;
  private readonly frames = new FrameBuffer();
  private open = new Group();
  private stuck: { group: Group; written: number } | null = null;
  private written: Group[] = [];
  private writtenBytes = 0;
  private fd = -1;
  private readonly openFds = new Set<number>();
  private folderIsSynced = true;
  private isSyncing = false;
  /** Calls of `synced` that wait. */
  private settling = 0;
  private syncBegan = -Infinity;
  private gapMs: number;
  private gap: Timer | null = null;
  private retryMs = RETRY_MS_MIN;
  private timer: Timer | null = null;
  private lastSeq = 0;
  /**
   * Size at which the next segment begins: what was carried does not count, or a crowd of open units would roll at
   * every write.
   */
  private rollAt: number;

  constructor(options: WriterOptions) {
    this.options = options;
    this.rollAt = options.segmentBytes;
    this.gapMs = options.syncGapMs.usual;
    this.roll();
  }

  /** Bytes that the disk has not confirmed yet. */
  get unsyncedBytes(): number {
    return this.writtenBytes + this.frames.length + (this.stuck?.group.data.length ?? 0);
  }

  /**
   * Buffers a frame of a text in pieces for the next flush, and returns the group that it is synced with. Throws
   * RangeError where the frame is too large, and has then changed nothing.
   */
  append(json: readonly string[], outcome: SyncedOutcome | null): SyncOf {
    this.frames.append(json);
    this.open.hasFrames = true;
    if (outcome !== null) {
      this.open.outcomes.push(outcome);
      this.open.lastSeq = outcome.seq;
    }
    return this.open;
  }

  /**
   * Hands everything buffered to the kernel in one write. False where the disk refused: it is kept and tried again. False
   * after `close` too, with an alarm: the number of the closed file may by then be that of another one.
   */
  flush(): boolean {
    if (this.isClosed) return this.refuseLate();
    // After a refusal the timer decides when to try again, not the next unit.
    if (this.timer !== null) return false;
    if (this.stuck === null) this.seal();
    if (this.stuck === null) return true;
    try {
      this.writeStuck(this.stuck);
    } catch (error) {
      this.failed('write_failed', error);
      return false;
    }
    this.stuck = null;
    // What was buffered while an earlier group was stuck goes now.
    if (this.open.hasFrames) return this.flush();
    if (this.syncsNow()) this.sync();
    return true;
  }

  /** Resolves when everything given so far is synced. */
  async synced(): Promise<void> {
    this.settling += 1;
    this.gap?.cancel();
    this.gap = null;
    this.flush();
    this.sync();
    const buffered = this.open.hasFrames ? this.open : this.stuck?.group;
    await (buffered ?? this.written.at(-1))?.synced;
    this.settling -= 1;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.timer?.cancel();
    this.timer = null;
    this.gap?.cancel();
    for (const fd of this.openFds) await this.options.disk.close(fd);
    this.openFds.clear();
  }

  private refuseLate(): false {
    const message = 'A unit ended after the journal was closed: it is lost.';
    if (this.open.outcomes.length > 0)
      this.options.onAlarm({ kind: 'write_failed', code: 'CLOSED', message });
    return false;
  }

  // An INTENT alone need not be safe from a power cut: it goes with the next outcome.
  private syncsNow(): boolean {
    // After a fault only a good sync shows that the disk is well again.
    if (this.settling > 0 || this.isBroken || this.writtenBytes >= UNSYNCED_INTENT_BYTES_MAX) return true;
    return this.written.some((group) => group.outcomes.length > 0);
  }

  /** Puts the begin of a segment before the frames that are its first ones. */
  private withBegin(carried: readonly Buffer[]): Buffer[] {
    return [encodeFrame(beginJson(this.options.version)), ...carried];
  }

  private seal(): void {
    if (!this.open.hasFrames) return;
    const group = this.open;
    this.open = new Group();
    let carried = this.current().bytes >= this.rollAt ? this.rollOrStay() : [];
    if (this.current().bytes === 0) carried = this.withBegin(carried);
    const run = this.frames.take();
    group.run = run;
    group.data = carried.length === 0 ? run.bytes : Buffer.concat([...carried, run.bytes]);
    this.stuck = { group, written: 0 };
  }

  private writeStuck(stuck: NonNullable<typeof this.stuck>): void {
    const segment = this.current();
    const { group } = stuck;
    while (stuck.written < group.data.length) {
      const taken = this.options.disk.write(this.fd, group.data, stuck.written);
      stuck.written += taken;
      segment.bytes += taken;
    }
    this.lastSeq = Math.max(this.lastSeq, group.lastSeq);
    segment.lastSeq = this.lastSeq;
    group.end = { segment: segment.index, offset: segment.bytes, seq: this.lastSeq };
    this.end = group.end;
    group.fd = this.fd;
    this.written.push(group);
    this.writtenBytes += group.data.length;
  }

  // A commit covers all groups written before it began; those written meanwhile share the next one.
  private sync(): void {
    if (this.isClosed || this.isSyncing || this.gap !== null || this.written.length === 0) return;
    const started = this.options.clock.monotonic();
    const waitMs = this.syncBegan + this.gapMs - started;
    if (waitMs > 0 && this.settling === 0) {
      this.gap = this.options.clock.setTimer(waitMs, () => {
        this.gap = null;
        this.sync();
      });
      return;
    }
    this.isSyncing = true;
    const groups = [...this.written];
    const ended = groups.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
    const { usual, busy } = this.options.syncGapMs;
    this.gapMs = ended >= BUSY_OUTCOMES_PER_MS * (started - this.syncBegan) ? busy : usual;
    this.syncBegan = started;
    this.syncFiles(new Set(groups.map((group) => group.fd))).then(
      () => {
        this.isSyncing = false;
        this.lastSyncMs = this.options.clock.monotonic() - started;
        this.confirm(groups);
        if (this.syncsNow()) this.sync();
      },
      (error: unknown) => {
        this.isSyncing = false;
        if (!this.isClosed) this.rewrite(error);
      },
    );
  }

  private async syncFiles(fds: Set<number>): Promise<void> {
    const isFolderDue = !this.folderIsSynced;
    this.folderIsSynced = true;
    try {
      for (const fd of fds) await this.options.disk.sync(fd);
      if (isFolderDue) await this.options.disk.syncFolder(this.options.folder);
    } catch (error) {
      if (isFolderDue) this.folderIsSynced = false;
      throw error;
    }
  }

  private confirm(groups: Group[]): void {
    this.written = this.written.slice(groups.length);
    for (const group of groups) this.forget(group);
    const last = groups.at(-1);
    if (last === undefined) return;
    this.isBroken = this.stuck !== null;
    this.retryMs = RETRY_MS_MIN;
    this.options.onSynced(
      last.end,
      groups.flatMap((group) => group.outcomes),
    );
    for (const group of groups) group.resolve();
    this.closeRolled();
  }

  private rewrite(error: unknown): void {
    const groups = this.stuck === null ? this.written : [...this.written, this.stuck.group];
    const data = Buffer.concat(groups.map((group) => group.data));
    const merged = new Group();
    merged.outcomes = groups.flatMap((group) => group.outcomes);
    merged.lastSeq = Math.max(...groups.map((group) => group.lastSeq));
    void merged.synced.then(() => groups.forEach((group) => group.resolve()));
    for (const group of groups) if (group.run !== null) this.frames.release(group.run);
    this.written = [];
    this.writtenBytes = 0;
    // The segment in doubt holds nothing above what was synced before: its numbers live on in the new one.
    const rolled = this.rollOrStay();
    const carried = this.current().bytes === 0 ? this.withBegin(rolled) : rolled;
    merged.data = Buffer.concat([...carried, data]);
    this.stuck = { group: merged, written: 0 };
    this.failed('sync_failed', error);
    this.closeRolled();
  }

  private forget({ data, run }: Group): void {
    this.writtenBytes -= data.length;
    if (run !== null) this.frames.release(run);
  }

  private failed(kind: 'write_failed' | 'sync_failed', error: unknown): void {
    if (kind === 'write_failed') this.writeFailures += 1;
    else this.syncFailures += 1;
    if (!this.isBroken || kind === 'sync_failed') this.options.onAlarm({ kind, ...faultOf(error) });
    this.isBroken = true;
    this.timer?.cancel();
    this.timer = this.options.clock.setTimer(this.retryMs, () => {
      this.timer = null;
      this.flush();
    });
    this.retryMs = Math.min(this.retryMs * 2, RETRY_MS_MAX);
  }

  // Where no new file can be made, the old one grows past its size instead.
  private rollOrStay(): Buffer[] {
    try {
      this.roll();
      const carried = this.options.carry().map(encodeFrame);
      this.rollAt = this.options.segmentBytes + carried.reduce((sum, frame) => sum + frame.length, 0);
      return carried;
    } catch (error) {
      this.options.onAlarm({ kind: 'write_failed', ...faultOf(error) });
      return [];
    }
  }

  private roll(): void {
    const index = (this.segments.at(-1)?.index ?? 0) + 1;
    const path = join(this.options.folder, segmentName(index));
    this.fd = this.options.disk.create(path);
    this.openFds.add(this.fd);
    this.folderIsSynced = false;
    this.segments.push({ index, path, bytes: 0, lastSeq: this.lastSeq });
  }

  private closeRolled(): void {
    for (const fd of this.openFds) {
      if (fd === this.fd || this.written.some((group) => group.fd === fd)) continue;
      this.openFds.delete(fd);
      this.options.disk.close(fd).catch((error: unknown) => {
        this.options.onAlarm({ kind: 'write_failed', ...faultOf(error) });
      });
    }
  }

  private current(): Segment {
    const segment = this.segments.at(-1);
    if (segment === undefined) throw new Error('The journal has no segment.');
    return segment;
  }
}
