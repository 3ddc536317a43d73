import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Funds, LimitStore, type Clock, type Random } from '@gateway/contracts';
import {
  Journal,
  type JournalAlarm,
  type ShipperEvents,
  type ShipperHandle,
  type SyncedOutcome,
} from '@gateway/journal';
import { LEASE_MS, SettlementQueue } from '@gateway/limits';
import {
  activeTraceparent,
  CLOCK,
  Drain,
  LOGGER,
  Metrics,
  RANDOM,
  ReadinessChecks,
  repeat,
  TRACER,
  type Repeated,
} from '@gateway/platform';
import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { Settling } from '../admission/settling.js';
import { EdgeConfig } from '../config/edge.config.js';
import { alarmLine } from './alarm-line.js';
import { crashRecord } from './crash-record.js';
import { InFlight } from './in-flight.js';
import { JournalMetrics } from './journal-metrics.js';
import { resubmit } from './resubmit.js';
import { StoreWatch } from '../admission/store-watch.js';

const RECOVER_EVERY_MS = 60_000;
const DRAIN_MS = 25_000;
const SYNC_MS = 5_000;
/**
 * A sync wakes another thread and comes back to this one: one for each answer would cost more than writing them. Answers
 * wait for the write, which kill -9 cannot take back, never for the gap: only a power cut may take so much more.
 */
const SYNC_GAP_MS = 10;
/** A put costs the store nearly what an admission does, whether it carries one unit or ten. */
const PUT_LINGER_MS = 5;

/** Starts what takes the journal to the event log: in a worker thread before Kafka, beside the rest in one process. */
export type StartShipper = (events: ShipperEvents) => ShipperHandle;
export const START_SHIPPER = Symbol('StartShipper');

/** The journal of this process with what hangs on it: settling what is synced, shipping, taking over dead journals. */
@Injectable()
export class JournalRuntime implements OnModuleInit, OnApplicationShutdown {
  readonly puts: SettlementQueue;
  readonly inFlight: InFlight;
  readonly watch: StoreWatch;
  readonly settling: Settling;
  private readonly counted: JournalMetrics;
  private opened: Journal | null = null;
  private shipper: ShipperHandle | null = null;
  private recovering: Repeated | null = null;

  constructor(
    private readonly config: EdgeConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(TRACER) private readonly tracer: Tracer | null,
    private readonly limits: LimitStore,
    private readonly funds: Funds,
    @Inject(START_SHIPPER) private readonly startShipper: StartShipper,
    private readonly readiness: ReadinessChecks,
    drain: Drain,
    metrics: Metrics,
  ) {
    this.counted = new JournalMetrics(metrics);
    this.puts = new SettlementQueue({
      store: this.limits,
      clock: this.clock,
      lingerMs: PUT_LINGER_MS,
      onLeft: (put) => this.settling.left(put),
      onFailure: (cause) => {
        this.counted.settleFailed();
        this.logger.warn({ err: cause }, 'settling failed and is tried again');
      },
    });
    this.settling = new Settling({ journal: () => this.journal, puts: this.puts, clock: this.clock });
    this.inFlight = new InFlight(this.puts, this.clock, drain.deadline);
    this.watch = new StoreWatch({
      limits: this.limits,
      clock: this.clock,
      random: this.random,
      resubmit: () =>
        resubmit({
          journal: () => this.journal,
          funds: this.funds,
          puts: this.puts,
          inFlight: this.inFlight,
          settle: (outcomes) => this.settle(outcomes),
        }),
      onLoss: () => this.logger.warn('the limit store lost what it knew: units are put again'),
    });
  }

  get journal(): Journal {
    if (!this.opened) throw new TypeError('the journal is not open yet');
    return this.opened;
  }

  /** Opens the journal's files: nothing is recovered or shipped before the application starts. */
  async open(): Promise<Journal> {
    const { config, clock, random } = this;
    this.opened = await Journal.open({
      dir: config.JOURNAL_DIR,
      producer: config.JOURNAL_PRODUCER,
      clock,
      random,
      sync: config.JOURNAL_SYNC,
      syncGapMs: config.JOURNAL_SYNC === 'wait' ? 0 : SYNC_GAP_MS,
      budgetBytes: config.JOURNAL_BUDGET_BYTES,
      traceparent: this.tracer === null ? undefined : activeTraceparent,
      onAlarm: (alarm) => this.alarm(alarm),
      onSynced: (outcomes) => this.settle(outcomes),
    });
    return this.opened;
  }

  async onModuleInit(): Promise<void> {
    const { journal } = this;
    const shipper = this.startShipper({
      watermark: (producer, epoch, seq) =>
        void journal
          .passed(producer, epoch, seq)
          .catch((error: unknown) => this.logger.error({ err: error }, 'a segment could not be removed')),
      alarm: (alarm) => this.alarm(alarm),
    });
    this.shipper = shipper;
    journal.follow(shipper);
    this.readiness.add('journal', () => journal.isAccepting || 'the journal takes no new unit');
    this.counted.watch(journal, shipper, this.puts);
    await this.recover();
    this.recovering = repeat(
      this.clock,
      RECOVER_EVERY_MS,
      () => this.recover(),
      (error) => this.logger.error({ err: error }, 'taking over dead journals failed'),
      RECOVER_EVERY_MS,
    );
    this.watch.start();
  }

  async onApplicationShutdown(): Promise<void> {
    // A run under way is not waited for: a large journal takes longer than a shutdown may.
    void this.recovering?.stop();
    this.watch.stop();
    const { opened: journal, shipper } = this;
    if (journal === null || shipper === null) return;
    journal.flush();
    await this.synced(journal);
    await this.puts.close();
    const left = await shipper.drain(DRAIN_MS);
    if (left > 0) this.logger.warn({ records: left }, 'records stay in the journal for the next start');
    await shipper.stop();
    await journal.close();
  }

  /**
   * Waits for a sync: unsynced records are neither settled nor shipped, and a failing disk is awaited for a moment
   * only.
   */
  private async synced(journal: Journal): Promise<void> {
    const until = this.clock.monotonic() + SYNC_MS;
    const isBehind = (): boolean => journal.stats().syncedSeq < journal.stats().seq;
    while (isBehind() && this.clock.monotonic() < until) await this.clock.sleep(5);
  }

  private async recover(): Promise<void> {
    const found = await this.journal.recover((intent, isLost) =>
      crashRecord(intent, isLost, this.clock, this.random),
    );
    if (found.epochs.length > 0)
      this.logger.info(
        { epochs: found.epochs.length, crashed: found.crashed },
        'took over journals of dead processes',
      );
  }

  /** Settles synced outcomes only: until then the unit stays reserved. */
  private settle(outcomes: readonly SyncedOutcome[]): void {
    for (const { settle } of outcomes) {
      if (settle)
        this.puts.add({ ...settle, nano: BigInt(settle.nano), action: 'settle', leaseMs: LEASE_MS });
    }
  }

  private alarm(alarm: JournalAlarm): void {
    this.counted.alarm(alarm);
    this.logger.error(alarmLine(alarm, this.config.JOURNAL_DIR), `journal alarm: ${alarm.kind}`);
  }
}
