import type { JournalAlarm } from './alarm.js';
import type { Position } from './segment-writer.js';

/** One epoch to ship. Plain values: it crosses to a worker thread. */
export interface ShipSource {
  producer: string;
  epoch: string;
  folder: string;
  /** Position up to which the epoch being written may be shipped; null for a dead one, which is read whole. */
  position: Position | null;
  lastSeq: number;
  /** Sequence numbers that no readable frame holds. */
  gaps: { from: number; to: number }[];
}

/** Messages of a journal to a shipper, in this thread or another one. */
export interface ShipperHandle {
  addSource(source: ShipSource): void;
  /** The epoch being written may be shipped up to here: it is synced, or an answer waits for the brokers. */
  mayShip(position: Position): void;
  /** Ships at once what may ship: an answer waits for it. */
  hurry(): void;
  /** Ships until nothing is left or the deadline is over; answers how many records are left. */
  drain(deadlineMs: number): Promise<number>;
  stop(): Promise<void>;
  stats(): ShipperStats;
}

export interface ShipperEvents {
  /** All replicas of the event log have what the living epoch `producer`/`epoch` wrote up to `seq`. */
  shipped?(producer: string, epoch: string, seq: number): void;
  /** Everything up to `seq` has been applied: Journal.passed. */
  watermark(producer: string, epoch: string, seq: number): void;
  alarm(alarm: JournalAlarm): void;
}

export interface ShipperStats {
  sources: {
    producer: string;
    epoch: string;
    end: number;
    shipped: number;
    watermark: number;
    behindMs: number;
  }[];
  /** Records synced and not shipped yet. */
  backlog: number;
  /** Records shipped that the watermark has not passed. */
  unapplied: number;
  /** Longest time for which a watermark has stood behind what was shipped. */
  lagMs: number;
  records: number;
  batches: number;
  retries: number;
  reshipments: number;
  watermarkFailures: number;
}
