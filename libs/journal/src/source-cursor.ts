import type { Clock, LogRecord } from '@gateway/contracts';
import type { OnAlarm } from './alarm.js';
import { cloudEventJson } from './cloud-event-json.js';
import type { Disk } from './disk.js';
import { EpochReader } from './epoch-reader.js';
import { isOutcome, type JournalTopic, parseShipped } from './records.js';
import type { Position } from './segment-writer.js';
import type { ShipSource } from './shipper-handle.js';

export interface Batch {
  topics: Map<JournalTopic, LogRecord[]>;
  count: number;
  lastSeq: number;
}

const BATCH_RECORDS_MAX = 500;
const BATCH_BYTES_MAX = 1024 * 1024;
const STALL_MS_MAX = 600_000;

interface CursorOptions {
  disk: Disk;
  service: string;
  clock: Clock;
  stallMs: number;
  onAlarm: OnAlarm;
}

/**
 * The progress of shipping in one epoch: read, shipped, applied. Kept in memory; a new process begins at the watermark.
 */
export class SourceCursor {
  readonly producer: string;
  readonly epoch: string;
  /** Highest sequence number that the event log has acknowledged since the last rewind. */
  shipped = 0;
  isPlaced = false;
  /** Highest sequence number up to which each reader of an event log in memory has the records. */
  kept = 0;
  private readonly options: CursorOptions;
  private readonly source: ShipSource;
  private readonly reader: EpochReader;
  private readonly gaps: { from: number; to: number }[];
  private position: Position | null;
  private watermark = 0;
  private highestShipped = 0;
  private behindSince = 0;
  private timeoutMs: number;
  private rewind: number | null = null;
  private keeping: Promise<unknown> = Promise.resolve();

  constructor(source: ShipSource, options: CursorOptions) {
    this.source = source;
    this.options = options;
    this.producer = source.producer;
    this.epoch = source.epoch;
    this.position = source.position;
    this.timeoutMs = options.stallMs;
    this.reader = new EpochReader(options.disk, source.folder, (bad) => {
      // A dead epoch was read before, and its bad frames are known.
      if (source.position !== null) options.onAlarm({ kind: 'bad_frame', ...bad });
    });
    this.gaps = [...source.gaps];
  }

  /** The last sequence number that may ship now. */
  private get end(): number {
    return this.position?.seq ?? this.source.lastSeq;
  }

  get isAwaitingWatermark(): boolean {
    return (
      this.isPlaced &&
      (this.highestShipped > this.watermark || (this.position === null && this.shipped >= this.end))
    );
  }

  /** True for a dead epoch that has been applied whole. */
  get isFinished(): boolean {
    return this.position === null && this.watermark >= this.end;
  }

  extend(position: Position): void {
    this.position = position;
  }

  backlog(): number {
    return Math.max(0, this.end - (this.rewind ?? this.shipped));
  }

  place(watermark: number): void {
    this.isPlaced = true;
    this.watermark = watermark;
    this.shipped = watermark;
    this.highestShipped = watermark;
  }

  /** The next records, at most 500 or 1 MiB; null where nothing is left to ship now. */
  async next(window: Buffer): Promise<Batch | null> {
    if (this.rewind !== null) {
      await this.reader.rewind();
      this.shipped = this.rewind;
      this.rewind = null;
    }
    if (this.shipped >= this.end) return null;
    const batch: Batch = { topics: new Map(), count: 0, lastSeq: this.shipped };
    let bytes = 0;
    const take = (json: Buffer): boolean => {
      if (!isOutcome(json)) return true;
      const outcome = parseShipped(json);
      // Written twice after a failed sync, or shipped before the last rewind.
      if (outcome.seq <= batch.lastSeq) return true;
      const { topic, key, seq, traceparent } = outcome;
      if (seq > batch.lastSeq + 1) this.noteGap(batch.lastSeq + 1, seq - 1);
      const value = cloudEventJson(outcome, {
        source: `/${this.options.service}/${this.producer}`,
        epoch: this.epoch,
      });
      const records = batch.topics.get(topic) ?? [];
      records.push(traceparent === undefined ? { key, value } : { key, value, headers: { traceparent } });
      batch.topics.set(topic, records);
      batch.count += 1;
      batch.lastSeq = seq;
      bytes += json.length;
      return batch.count < BATCH_RECORDS_MAX && bytes < BATCH_BYTES_MAX;
    };
    const hasMore = await this.reader.read(window, this.position, take);
    return batch.count === 0 && !hasMore ? null : batch;
  }

  sent(batch: Batch): void {
    if (this.rewind !== null) return;
    this.shipped = Math.max(this.shipped, batch.lastSeq);
    if (this.shipped > this.highestShipped) {
      if (this.highestShipped <= this.watermark) this.behindSince = this.options.clock.monotonic();
      this.highestShipped = this.shipped;
    }
  }

  /** Raises `kept` when the batch is kept and each one before it. */
  keep(lastSeq: number, isKept: Promise<unknown>): void {
    this.keeping = Promise.all([this.keeping, isKept]).then(() => {
      this.kept = Math.max(this.kept, lastSeq);
    });
  }

  /** True where the watermark has moved on. One that went back (a ledger restored from a backup) is believed, too. */
  observe(watermark: number): boolean {
    if (watermark === this.watermark) return false;
    const isHigher = watermark > this.watermark;
    this.watermark = watermark;
    this.behindSince = this.options.clock.monotonic();
    this.timeoutMs = this.options.stallMs;
    return isHigher;
  }

  /**
   * True if the watermark has stayed behind shipped records for too long. Call it just after `observe`, for an epoch
   * that waits for its watermark. A known gap is no reason: shipping again cannot fill it.
   */
  isStalled(): boolean {
    if (this.gaps.some((gap) => gap.from === this.watermark + 1)) return false;
    return this.options.clock.monotonic() - this.behindSince >= this.timeoutMs;
  }

  /**
   * Ships again from the watermark on. The wait doubles up to 10 min, because more shipments do not help a slow ledger.
   */
  shipAgain(): void {
    this.rewindTo(this.watermark);
    this.behindSince = this.options.clock.monotonic();
    this.timeoutMs = Math.min(this.timeoutMs * 2, STALL_MS_MAX);
  }

  rewindTo(seq: number): void {
    this.rewind = seq;
  }

  figures(): {
    producer: string;
    epoch: string;
    end: number;
    shipped: number;
    watermark: number;
    behindMs: number;
  } {
    const { producer, epoch, end, shipped, watermark } = this;
    const isBehind = this.highestShipped > watermark;
    const behindMs = isBehind ? this.options.clock.monotonic() - this.behindSince : 0;
    return { producer, epoch, end, shipped, watermark, behindMs };
  }

  /** Numbers that are in no readable frame, once each. */
  private noteGap(from: number, to: number): void {
    if (this.gaps.some((gap) => gap.from <= from && gap.to >= to)) return;
    this.gaps.push({ from, to });
    const { producer, epoch } = this;
    this.options.onAlarm({ kind: 'sequence_gap', producer, epoch, from, to });
  }

  close(): Promise<void> {
    return this.reader.close();
  }
}
