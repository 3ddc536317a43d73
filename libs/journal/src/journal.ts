import { join } from 'node:path';
import { BrokerAcks } from './broker-acks.js';
import type { DeadEpoch } from './dead-epoch.js';
import { type Disk, nodeDisk } from './disk.js';
import { EpochReader, WINDOW_BYTES } from './epoch-reader.js';
import { JournalRecovery, isProducerName } from './journal-recovery.js';
import type { JournalOptions, JournalStats, Recovery } from './journal-options.js';
import { OpenUnits } from './open-units.js';
import { bootId } from './lease.js';
import { JournalOwnedError, ownFolder, type OwnFolder } from './own-folder.js';
import {
  type CrashRecord,
  type Intent,
  intentJson,
  isOutcome,
  type OutcomeHead,
  outcomeJson,
  type OutcomeValues,
  parseFrame,
  recordJson,
  type SettleFacts,
  type SyncedOutcome,
  type UsageRest,
  unitOf,
} from './records.js';
import { type Position, SegmentWriter, type SyncOf } from './segment-writer.js';
import { SegmentRetention } from './segment-retention.js';
import type { ShipperHandle, ShipSource } from './shipper-handle.js';
import { USAGE_FORMATS, type UsageFormat } from './usage-format.js';

export class Receipt {
  constructor(
    readonly seq: number,
    private readonly frames: SyncOf,
  ) {}

  /** Resolves when the outcome is on the disk; never rejects, because a failing disk is tried for ever. */
  get synced(): Promise<void> {
    return this.frames.synced;
  }
}

const SEGMENT_BYTES = 64 * 1024 * 1024;
const FULL_AT = 0.9;
const UNSYNCED_BYTES_MAX = 16 * 1024 * 1024;
const CLAIM_TRIES = 5;
const CLOSE_MS_MAX = 5_000;

/** The append-only record of the units of one process. See README.md for its use. */
export class Journal {
  readonly producer: string;
  /** New at every open; ids never repeat, whatever the wall clock does. */
  readonly epoch: string;
  private readonly options: JournalOptions;
  private readonly format: UsageFormat;
  private readonly disk: Disk;
  private readonly owner: OwnFolder;
  private readonly writer: SegmentWriter;
  private readonly retention: SegmentRetention;
  private readonly recovery: JournalRecovery;
  private readonly folder: string;
  private readonly openUnits = new OpenUnits();
  private readonly acks: BrokerAcks;
  private position: Position = { segment: 1, offset: 0, seq: 0 };
  private shippable = this.position;
  private seq = 0;
  private tick: Promise<void> | null = null;
  /** True from 90 % of the budget on: readiness off, new units 503. Looked at where segments grow or go. */
  isFull = false;
  private isClosed = false;
  private followers: ShipperHandle[] = [];
  /** Epochs of dead processes that the ledger has whole, until somebody has told so. */
  readonly ended = new Set<{ producer: string; epoch: string }>();
  private readonly deadSources = new Map<string, ShipSource>();

  /** Throws JournalOwnedError; errors of the file system as they are. */
  static async open(options: JournalOptions): Promise<Journal> {
    if (!isProducerName(options.producer)) throw new RangeError(`Not a producer's name: ${options.producer}`);
    const disk = options.disk ?? nodeDisk;
    const producerFolder = join(options.dir, options.producer);
    disk.makeFolder(producerFolder);
    for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
      const epoch = newEpoch(options);
      const { dir, producer, clock, boot = bootId() } = options;
      const owner = await ownFolder({ disk, dir, producer, epoch, boot, clock });
      if (owner !== null) return new Journal({ ...options, disk }, owner, epoch);
      // Two that start at the same moment may both have stepped back.
      await options.clock.sleep(20 + options.random.fraction() * 80);
    }
    throw new JournalOwnedError(
      `The journal of ${options.producer} belongs to another process that is alive.`,
    );
  }

  private constructor(options: JournalOptions & { disk: Disk }, owner: OwnFolder, epoch: string) {
    const { dir, producer, disk, onAlarm } = options;
    this.options = options;
    this.format = USAGE_FORMATS[options.usageTopicVersion ?? 1];
    this.disk = disk;
    this.owner = owner;
    this.producer = producer;
    this.epoch = epoch;
    this.folder = join(dir, producer, epoch);
    this.retention = new SegmentRetention(disk, onAlarm);
    this.recovery = new JournalRecovery({ disk, dir, producer, epoch, watch: owner.watch, onAlarm });
    disk.makeFolder(this.folder);
    this.writer = new SegmentWriter({
      disk,
      clock: options.clock,
      folder: this.folder,
      segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
      syncGapMs: options.syncGapMs ?? { usual: 0, busy: 0 },
      version: options.usageTopicVersion ?? 1,
      onAlarm,
      carry: () => this.openUnits.texts(),
      onSynced: (position, outcomes) => this.advance(position, outcomes),
    });
    this.acks = new BrokerAcks(options.clock, options.ackMs ?? 0);
    this.retention.add({
      producer,
      epoch,
      folder: this.folder,
      segments: this.writer.segments,
      damaged: new Set(),
      watermark: 0,
      removableBelow: () => (this.isClosed ? Number.POSITIVE_INFINITY : this.position.segment),
      onEmptied: () => undefined,
    });
  }

  /** False while the journal is full or closed, or its disk fails or lags: no new unit may be admitted. */
  get isAccepting(): boolean {
    const { isBroken, isClosed, unsyncedBytes } = this.writer;
    if (this.owner.lease.isLost) return false;
    return !this.isFull && !isBroken && !isClosed && unsyncedBytes < UNSYNCED_BYTES_MAX;
  }

  /**
   * Notes an admitted unit; buffered until the tick's flush. False: not accepted, the unit must be refused (503). Throws
   * RangeError above 960 KiB.
   */
  intent(intent: Intent): boolean {
    if (!this.isAccepting) return false;
    const facts = this.format.facts(intent.facts);
    this.writer.append(intentJson(intent, facts), null);
    this.openUnits.open(intent, facts);
    void this.tickEnd();
    return true;
  }

  /**
   * Records what came of a unit or a rejection. Always taken, also when the journal is full: the rest of the budget is
   * there for units in flight. A usage outcome closes its INTENT. Throws RangeError above 960 KiB.
   */
  outcome<Topic extends keyof OutcomeValues>(
    topic: Topic,
    key: string,
    value: OutcomeValues[Topic],
    settle: SettleFacts | null = null,
  ): Receipt {
    if ('unit' in value) return this.usage(value, key, settle, false);
    return this.record({ topic, key, unit: null, settle, isCrash: false }, [recordJson(value)]);
  }

  /** The usage outcome of an open unit: what its INTENT says and `rest`. As `outcome` otherwise. */
  finish(unit: string, key: string, rest: UsageRest, settle: SettleFacts | null): Receipt {
    const { intent, text } = this.openUnits.of(unit);
    const { topic, rest: json } = this.format;
    return this.record({ topic, key, unit, settle, isCrash: false }, [text, json(rest, intent.facts)]);
  }

  /** Hands everything buffered to the kernel in one write: from then on kill -9 loses nothing. False: disk failing. */
  flush(): boolean {
    const isWritten = this.writer.flush();
    this.noteFullness();
    return isWritten;
  }

  /** Wait for it before an organization's last bytes leave: everything of this tick is written at its end, at once. */
  commit(receipt: Receipt, orgId: string | null = null): Promise<void> {
    const { sync, ack, ackFor } = this.options;
    const written = sync === 'wait' ? receipt.synced : this.tickEnd();
    const isAwaited = ack === 'kafka' || (orgId !== null && ackFor?.has(orgId));
    return isAwaited ? written.then(() => this.acked(receipt)) : written;
  }

  /** The brokers have everything of this epoch up to `seq`. */
  shipped(epoch: string, seq: number): void {
    if (epoch === this.epoch) this.acks.shipped(seq);
  }

  /** Resolves when everything recorded so far is on the disk, without waiting for company. Where it fails, not before it does. */
  synced(): Promise<void> {
    return this.writer.synced();
  }

  /**
   * Takes over what dead processes left: their outcomes ship under their own epoch, and each unit that they left
   * open is closed with `crashRecord`; `isUnreadable` where its outcome may have been in a range that cannot be read. May be called
   * again, for instance every minute. Throws JournalVersionError where it left some alone, once all others are taken over.
   */
  async recover(crashRecord: (intent: Intent, isUnreadable: boolean) => CrashRecord): Promise<Recovery> {
    const { found, refused } = await this.recovery.find((...of) => this.retention.has(...of));
    const closed = new Set(found.flatMap((epoch) => [...epoch.crashed]));
    let crashed = 0;
    for (const dead of found) {
      const open = dead.open.filter((intent) => !closed.has(intent.unit));
      const isUnreadable = dead.damaged.size > 0 || dead.gaps.length > 0;
      for (const intent of open) {
        closed.add(intent.unit);
        this.usage(crashRecord(intent, isUnreadable), intent.accountId, null, true);
      }
      crashed += open.length;
      const { producer, epoch } = dead;
      if (open.length > 0)
        this.options.onAlarm({ kind: 'crashed_units', producer, epoch, count: open.length });
    }
    // A dead epoch may only go when the records that close its units are safe.
    await this.writer.synced();
    for (const dead of found) await this.shelve(dead);
    this.noteFullness();
    if (refused !== null) throw refused;
    return { epochs: found.map(({ producer, epoch, lastSeq }) => ({ producer, epoch, lastSeq })), crashed };
  }

  /** Everything of this epoch up to `watermark` has been applied: segments behind it go. */
  async passed(producer: string, epoch: string, watermark: number): Promise<void> {
    await this.retention.passed(producer, epoch, watermark);
    this.noteFullness();
  }

  /** Synced outcomes that the ledger has not applied yet, oldest first: they are put again after a restart. */
  async *unposted(): AsyncGenerator<SyncedOutcome[]> {
    const window = Buffer.allocUnsafe(WINDOW_BYTES);
    for (const { producer, epoch, folder, watermark } of this.retention.all()) {
      const limit = epoch === this.epoch ? this.position : null;
      const reader = new EpochReader(this.disk, folder, () => undefined);
      let last = watermark;
      try {
        for (let hasMore = true; hasMore;) {
          const outcomes: SyncedOutcome[] = [];
          hasMore = await reader.read(window, limit, (json) => {
            const frame = isOutcome(json) ? parseFrame(json) : null;
            if (frame?.kind !== 'outcome' || frame.head.seq <= last) return true;
            last = frame.head.seq;
            outcomes.push(syncedOutcome(frame.head, { producer, epoch }));
            return true;
          });
          if (outcomes.length > 0) yield outcomes;
        }
      } finally {
        await reader.close();
      }
    }
  }

  /** Reports every epoch to ship, and how far this one may be shipped, to the shipper. */
  follow(shipper: ShipperHandle): void {
    this.followers.push(shipper);
    const { producer, epoch, folder, shippable: position } = this;
    shipper.addSource({ producer, epoch, folder, position, lastSeq: position.seq, gaps: [] });
    for (const source of this.deadSources.values()) shipper.addSource(source);
  }

  stats(): JournalStats {
    return {
      seq: this.seq,
      syncedSeq: this.position.seq,
      watermark: this.retention.get(this.producer, this.epoch)?.watermark ?? this.seq,
      openUnits: this.openUnits.size,
      segments: this.writer.segments.length,
      takenOverEpochs: this.deadSources.size,
      usedBytes: this.retention.usedBytes,
      budgetBytes: this.options.budgetBytes,
      unsyncedBytes: this.writer.unsyncedBytes,
      lastSyncMs: this.writer.lastSyncMs,
      writeFailures: this.writer.writeFailures,
      syncFailures: this.writer.syncFailures,
      lateAcks: this.acks.late,
      isAccepting: this.isAccepting,
    };
  }

  /**
   * Writes and syncs what is left (for at most 5 s where the disk fails), gives up the folder. What the watermark has
   * passed goes.
   */
  async close(): Promise<void> {
    const giveUp = new AbortController();
    const late = this.options.clock.sleep(CLOSE_MS_MAX, giveUp.signal).catch(() => undefined);
    await Promise.race([this.writer.synced(), late]);
    giveUp.abort();
    this.isClosed = this.openUnits.size === 0 && this.position.seq === this.seq;
    await this.retention.passed(this.producer, this.epoch, 0);
    await this.writer.close();
    await this.recovery.release();
    await this.owner.release();
  }

  private usage(value: CrashRecord, key: string, settle: SettleFacts | null, isCrash: boolean): Receipt {
    const { topic, whole } = this.format;
    return this.record({ topic, key, unit: unitOf(value), settle, isCrash }, whole(value));
  }

  private record(what: Omit<OutcomeHead, 'seq' | 'at'>, value: readonly string[]): Receipt {
    const { topic, key, unit, isCrash, settle } = what;
    const { producer, epoch } = this;
    const seq = this.seq + 1;
    // A rejection stands for many, and a unit of a dead process is closed by another.
    const traceparent = unit === null || isCrash ? undefined : this.options.traceparent?.();
    const at = this.options.clock.now();
    const head: OutcomeHead = { seq, topic, key, at, unit, settle, isCrash, traceparent };
    const json = outcomeJson(head, value, this);
    const frames = this.writer.append(json, syncedOutcome(head, { producer, epoch }));
    // Only now: a frame that cannot be made must not use up a number.
    this.seq = seq;
    if (unit !== null) this.openUnits.close(unit);
    void this.tickEnd();
    return new Receipt(seq, frames);
  }

  private tickEnd(): Promise<void> {
    this.tick ??= new Promise((resolve) => {
      setImmediate(() => {
        this.tick = null;
        this.flush();
        resolve();
      });
    });
    return this.tick;
  }

  /** Ships what is written before it is synced: the brokers are the disk that the answer waits for. */
  private acked(receipt: Receipt): Promise<void> {
    this.ship(this.writer.end);
    for (const shipper of this.followers) shipper.hurry();
    return this.acks.acked(receipt.seq);
  }

  private advance(position: Position, outcomes: SyncedOutcome[]): void {
    this.position = position;
    if (outcomes.length > 0) this.options.onSynced?.(outcomes);
    this.ship(position);
  }

  private ship(position: Position): void {
    const { segment, offset } = this.shippable;
    if (position.segment < segment || (position.segment === segment && position.offset <= offset)) return;
    this.shippable = position;
    for (const shipper of this.followers) shipper.mayShip(position);
  }

  private async shelve(dead: DeadEpoch): Promise<void> {
    const { producer, epoch, folder, segments, damaged, lastSeq, gaps } = dead;
    const id = `${producer}/${epoch}`;
    const onEmptied = (): void => {
      this.deadSources.delete(id);
      this.ended.add({ producer, epoch });
      const isLast = ![...this.deadSources.values()].some((source) => source.producer === producer);
      if (isLast)
        this.recovery.release(producer).catch((error: unknown) => this.releaseFailed(folder, error));
    };
    const removableBelow = (): number => Number.POSITIVE_INFINITY;
    const kept = { producer, epoch, folder, segments, damaged, watermark: 0 };
    this.retention.add({ ...kept, removableBelow, onEmptied });
    const source: ShipSource = { producer, epoch, folder, position: null, lastSeq, gaps };
    this.deadSources.set(id, source);
    if (lastSeq === 0) return this.retention.passed(producer, epoch, 0);
    for (const shipper of this.followers) shipper.addSource(source);
  }

  private releaseFailed(path: string, error: unknown): void {
    this.options.onAlarm({ kind: 'delete_failed', path, message: String(error) });
  }

  private noteFullness(): void {
    const { usedBytes } = this.retention;
    const { budgetBytes, onAlarm } = this.options;
    const wasFull = this.isFull;
    this.isFull = usedBytes >= budgetBytes * FULL_AT;
    if (this.isFull && !wasFull) onAlarm({ kind: 'full', usedBytes, budgetBytes });
  }
}

function syncedOutcome(
  head: OutcomeHead,
  { producer, epoch }: { producer: string; epoch: string },
): SyncedOutcome {
  return { producer, epoch, seq: head.seq, topic: head.topic, key: head.key, settle: head.settle };
}

/** Time for people, chance for uniqueness. */
function newEpoch({ clock, random }: JournalOptions): string {
  const time = Math.max(0, Math.floor(clock.now())).toString(36).padStart(9, '0').slice(-9);
  return `${time}-${Buffer.from(random.bytes(8)).toString('hex')}`;
}
