import type { Clock, LogRecord, Random } from '@gateway/contracts';
import { faultOf } from './alarm.js';
import { type Disk, nodeDisk } from './disk.js';
import { WINDOW_BYTES } from './epoch-reader.js';
import { backOffMs, within } from './patience.js';
import type { JournalTopic } from './records.js';
import type { Position } from './segment-writer.js';
import type { ShipperEvents, ShipperHandle, ShipperStats, ShipSource } from './shipper-handle.js';
import { SourceCursor, type Batch } from './source-cursor.js';

export interface ShipperOptions {
  /** EventLog.append: resolves when all replicas have the records. Values are CloudEvents 1.0 JSON. */
  append(topic: string, records: LogRecord[]): Promise<void>;
  /** Funds.watermark: highest sequence number up to which everything has been applied; 0 = none. */
  watermark(producer: string, epoch: string): Promise<number>;
  /**
   * EventLog.kept, for a log in memory: resolves when each reader has what the topic has taken. Until then a record stays in the
   * journal though the ledger has applied it, and a new process ships it again.
   */
  kept?: (topic: string) => Promise<void>;
  clock: Clock;
  random: Random;
  events: ShipperEvents;
  /** First part of each event's `source`; default `edge`. */
  service?: string;
  appendTimeoutMs?: number;
  watermarkTimeoutMs?: number;
  watermarkPollMs?: number;
  /** Longest time that a watermark may stay behind shipped records. 55 s and the poll keep detection below 60 s. */
  stallMs?: number;
  disk?: Disk;
}

const APPEND_TIMEOUT_MS = 30_000;
const WATERMARK_TIMEOUT_MS = 5_000;
const WATERMARK_POLL_MS = 1_000;
const STALL_MS = 55_000;
const READ_RETRY_MS = 1_000;

/**
 * Takes synced records to the event log, one batch at a time, each topic in the order of its sequence numbers. Asks how
 * far they have been applied. An acknowledgement alone proves nothing: only the watermark lets a segment go. Memory: one
 * read window and one batch, whatever the backlog.
 */
export class Shipper implements ShipperHandle {
  private readonly options: ShipperOptions;
  private readonly sources = new Map<string, SourceCursor>();
  private readonly window = Buffer.allocUnsafe(WINDOW_BYTES);
  private readonly stopping = new AbortController();
  private readonly counts = { records: 0, batches: 0, retries: 0, reshipments: 0, watermarkFailures: 0 };
  private wake: (() => void) | null = null;
  private running: Promise<unknown> | null = null;
  private live: SourceCursor | null = null;

  constructor(options: ShipperOptions) {
    this.options = options;
  }

  /** Begins; runs until `stop`. */
  start(): void {
    this.running ??= Promise.all([this.shipLoop(), this.watermarkLoop()]);
  }

  addSource(source: ShipSource): void {
    const id = `${source.producer}/${source.epoch}`;
    if (this.sources.has(id)) return;
    const { clock, events } = this.options;
    const cursor = new SourceCursor(source, {
      disk: this.options.disk ?? nodeDisk,
      service: this.options.service ?? 'edge',
      clock,
      stallMs: this.options.stallMs ?? STALL_MS,
      onAlarm: (alarm) => events.alarm(alarm),
    });
    this.sources.set(id, cursor);
    if (source.position !== null) this.live = cursor;
    this.wake?.();
  }

  mayShip(position: Position): void {
    this.live?.extend(position);
    this.wake?.();
  }

  /** Does what `mayShip` has done already. */
  hurry(): void {
    this.wake?.();
  }

  async drain(deadlineMs: number): Promise<number> {
    const { clock } = this.options;
    const until = clock.monotonic() + deadlineMs;
    while (this.backlog() > 0 && clock.monotonic() < until && !this.stopping.signal.aborted) {
      await clock.sleep(Math.min(20, until - clock.monotonic()));
    }
    return this.backlog();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake?.();
    await this.running;
    for (const source of this.sources.values()) await source.close();
  }

  stats(): ShipperStats {
    const sources = [...this.sources.values()].map((source) => source.figures());
    return {
      sources,
      backlog: this.backlog(),
      unapplied: sources.reduce((sum, source) => sum + Math.max(0, source.shipped - source.watermark), 0),
      lagMs: Math.max(0, ...sources.map((source) => source.behindMs)),
      ...this.counts,
    };
  }

  private backlog(): number {
    let left = 0;
    for (const source of this.sources.values()) left += source.backlog();
    return left;
  }

  private async shipLoop(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      let sent = 0;
      for (const source of [...this.sources.values()]) {
        if (!signal.aborted) sent += await this.shipFrom(source);
      }
      if (sent === 0 && !signal.aborted) await woken;
    }
  }

  /** One batch of one source, so that a long backlog does not hold up the others. */
  private async shipFrom(source: SourceCursor): Promise<number> {
    // What a former process shipped long ago need not go again.
    if (!source.isPlaced) await this.place(source);
    const batch = await this.read(source);
    if (batch === null) return 0;
    for (const [topic, records] of batch.topics) {
      if (!(await this.appendForEver(topic, records))) return 0;
    }
    source.sent(batch);
    if (source === this.live) this.options.events.shipped?.(source.producer, source.epoch, batch.lastSeq);
    this.noteStored(source, batch);
    this.counts.records += batch.count;
    if (batch.count > 0) this.counts.batches += 1;
    return 1;
  }

  private noteStored(source: SourceCursor, { topics, lastSeq }: Batch): void {
    const { kept } = this.options;
    if (kept !== undefined) source.keep(lastSeq, Promise.all([...topics.keys()].map(kept)));
  }

  private async read(source: SourceCursor): ReturnType<SourceCursor['next']> {
    try {
      return await source.next(this.window);
    } catch (error) {
      const { producer, epoch } = source;
      this.options.events.alarm({ kind: 'read_failed', producer, epoch, message: faultOf(error).message });
      source.rewindTo(source.shipped);
      this.options.clock.setTimer(READ_RETRY_MS, () => this.wake?.());
      return null;
    }
  }

  /** False where the shipper was stopped before the event log took the records. */
  private async appendForEver(topic: JournalTopic, records: LogRecord[]): Promise<boolean> {
    const { clock, random, events } = this.options;
    const { signal } = this.stopping;
    const timeoutMs = this.options.appendTimeoutMs ?? APPEND_TIMEOUT_MS;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        await within(this.options.append(topic, records), { clock, timeoutMs, signal });
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        this.counts.retries += 1;
        const { message } = faultOf(error);
        // The first time, then at each doubling: an outage of an hour is a dozen alarms.
        if ((attempt & (attempt - 1)) === 0) events.alarm({ kind: 'append_failed', topic, attempt, message });
        await clock.sleep(backOffMs(attempt, random), signal).catch(() => undefined);
      }
    }
    return false;
  }

  private async watermarkLoop(): Promise<void> {
    const { clock } = this.options;
    const { signal } = this.stopping;
    const pollMs = this.options.watermarkPollMs ?? WATERMARK_POLL_MS;
    while (!signal.aborted) {
      await clock.sleep(pollMs, signal).catch(() => undefined);
      for (const source of [...this.sources.values()]) {
        if (!signal.aborted && source.isAwaitingWatermark) await this.askWatermark(source);
      }
    }
  }

  private async askWatermark(source: SourceCursor): Promise<void> {
    const watermark = await this.fetchWatermark(source);
    if (watermark === null) return;
    const { producer, epoch } = source;
    const { events } = this.options;
    if (source.observe(watermark)) events.watermark(producer, epoch, watermark);
    if (source.isFinished) {
      this.sources.delete(`${producer}/${epoch}`);
      await source.close();
    } else if (source.isStalled()) {
      const { shipped } = source;
      events.alarm({ kind: 'watermark_stalled', producer, epoch, watermark, shipped });
      this.counts.reshipments += 1;
      source.shipAgain();
      this.wake?.();
    }
  }

  private async place(source: SourceCursor): Promise<void> {
    const watermark = await this.fetchWatermark(source);
    source.place(watermark ?? 0);
    if (watermark === null || watermark === 0) return;
    this.options.events.watermark(source.producer, source.epoch, watermark);
  }

  private async fetchWatermark(source: SourceCursor): Promise<number | null> {
    const { clock } = this.options;
    const { signal } = this.stopping;
    const timeoutMs = this.options.watermarkTimeoutMs ?? WATERMARK_TIMEOUT_MS;
    try {
      const asked = this.options.watermark(source.producer, source.epoch);
      const applied = await within(asked, { clock, timeoutMs, signal });
      return this.options.kept === undefined ? applied : Math.min(applied, source.kept);
    } catch {
      // The ledger may be away for long: the metric shows it, and nothing is lost by waiting.
      this.counts.watermarkFailures += 1;
      return null;
    }
  }
}
