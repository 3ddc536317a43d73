import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { Journal, type ShipperEvents, type ShipperHandle } from '@gateway/journal';
import { SettlementQueue } from '@gateway/limits';
import { CLOCK, ReadinessChecks } from '@gateway/platform';
import { StoreWatch } from '../admission/store-watch.js';
import { JournalRecoveryJob } from './journal-recovery-job.js';
import { JournalReports } from './journal-reports.js';

const DRAIN_MS = 25_000;
const SYNC_MS = 5_000;

/** Starts what takes the journal to the event log: in a worker thread before Kafka, beside the rest in one process. */
export type StartShipper = (events: ShipperEvents) => ShipperHandle;
export const START_SHIPPER = Symbol('StartShipper');

/**
 * Starts and stops what hangs on the journal of this process: shipping, recovery, settling and the watch of the store. It is
 * stopped last: a unit that ends until then is written.
 */
@Injectable()
export class JournalRuntime {
  private shipper: ShipperHandle | null = null;

  constructor(
    private readonly journal: Journal,
    @Inject(START_SHIPPER) private readonly startShipper: StartShipper,
    private readonly settlementQueue: SettlementQueue,
    private readonly watch: StoreWatch,
    private readonly recovery: JournalRecoveryJob,
    private readonly reports: JournalReports,
    private readonly readiness: ReadinessChecks,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async start(): Promise<void> {
    const { journal, reports } = this;
    const shipper = this.startShipper({
      shipped: (_producer, epoch, seq) => journal.shipped(epoch, seq),
      watermark: (producer, epoch, seq) =>
        void journal.passed(producer, epoch, seq).catch((error: unknown) => reports.segmentStays(error)),
      alarm: (alarm) => reports.alarm(alarm),
    });
    this.shipper = shipper;
    journal.follow(shipper);
    this.readiness.add('journal', () => journal.isAccepting || 'the journal takes no new unit');
    reports.watch(journal, shipper, this.settlementQueue);
    await this.recovery.start();
    this.watch.start();
  }

  async stop(): Promise<void> {
    this.recovery.stop();
    this.watch.stop();
    const { journal, shipper } = this;
    if (shipper === null) return;
    journal.flush();
    await this.synced();
    await this.settlementQueue.close();
    const left = await shipper.drain(DRAIN_MS);
    if (left > 0) this.reports.recordsStay(left);
    await shipper.stop();
    await journal.close();
    if (left === 0 && journal.stats().openUnits === 0) await this.recovery.ended();
  }

  /**
   * Waits for a sync: unsynced records are neither settled nor shipped, and a failing disk is awaited for a moment
   * only.
   */
  private async synced(): Promise<void> {
    const { clock, journal } = this;
    const until = clock.monotonic() + SYNC_MS;
    const isBehind = (): boolean => journal.stats().syncedSeq < journal.stats().seq;
    while (isBehind() && clock.monotonic() < until) await clock.sleep(5);
  }
}
