import type { Clock, Random } from '@gateway/contracts';
import type { OnAlarm } from './alarm.js';
import type { Disk } from './disk.js';
import type { SyncedOutcome } from './records.js';
import type { SyncGap } from './segment-writer.js';
import type { UsageTopicVersion } from './usage-format.js';

export interface JournalOptions {
  /** Root of all producers' folders on this volume. */
  dir: string;
  /** Name of this process's journal, stable over restarts: letters, digits, `.`, `_`, `-`, at most 64. */
  producer: string;
  clock: Clock;
  random: Random;
  /** `wait`: an answer ends only when its outcome is synced. `group`: it does not wait. */
  sync: 'group' | 'wait';
  /** `kafka`: an answer waits, for `ackMs` at most, until the brokers have its outcome; default `disk`. */
  ack?: 'disk' | 'kafka';
  ackMs?: number;
  /** Organizations whose answers wait for the brokers, whatever `ack` says. */
  ackFor?: ReadonlySet<string>;
  /**
   * Shortest time between two group commits, usually and while 500 units or more end in a second; default: none. What is
   * written meanwhile shares the next one, and a power cut may take that much more; kill -9 takes nothing either way.
   */
  syncGapMs?: SyncGap;
  /** Bytes that this journal and what it took over may hold; no new unit is accepted from 90 % on. */
  budgetBytes: number;
  /** Size at which a new segment begins; default 64 MiB. */
  segmentBytes?: number;
  /** Format and topic of the usage records that it writes; default 1. */
  usageTopicVersion?: UsageTopicVersion;
  /**
   * Returns the W3C trace context of the caller that finishes a unit, where traces are collected. It is stored with the
   * outcome.
   */
  traceparent?(): string | undefined;
  onAlarm: OnAlarm;
  /** Outcomes that may be settled now, in the order of their sequence numbers. Must not throw. */
  onSynced?(outcomes: SyncedOutcome[]): void;
  disk?: Disk;
  /** Id of the machine's boot; default: that of the system. */
  boot?: string;
}

/** Figures for metrics. */
export interface JournalStats {
  seq: number;
  syncedSeq: number;
  watermark: number;
  openUnits: number;
  segments: number;
  takenOverEpochs: number;
  usedBytes: number;
  budgetBytes: number;
  unsyncedBytes: number;
  lastSyncMs: number;
  writeFailures: number;
  syncFailures: number;
  lateAcks: number;
  isAccepting: boolean;
}

export interface Recovery {
  epochs: { producer: string; epoch: string; lastSeq: number }[];
  /** Units closed as `gateway_crash`, in this process's own epoch. */
  crashed: number;
}
