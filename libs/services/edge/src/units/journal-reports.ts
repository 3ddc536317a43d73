import type { Journal, JournalAlarm, ShipperHandle, ShipperStats } from '@gateway/journal';
import type { SettlementQueue } from '@gateway/limits';
import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, Metrics } from '@gateway/platform';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { EdgeConfig } from '../config/edge.config.js';
import { alarmLine } from './alarm-line.js';

/** Every kind of alarm: a series that is 0 from the start on lets a rule see its first rise. */
const ALARM_KINDS = [
  'bad_frame',
  'sequence_gap',
  'write_failed',
  'sync_failed',
  'full',
  'delete_failed',
  'crashed_units',
  'append_failed',
  'watermark_stalled',
  'read_failed',
] as const satisfies readonly JournalAlarm['kind'][];

/** Reports on the journal and on settling: metrics, and a log line for each failure. */
@Injectable()
export class JournalReports {
  private readonly alarms: Counter;
  private readonly settleFailures: Counter;

  constructor(
    private readonly metrics: Metrics,
    private readonly config: EdgeConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const registers = [metrics.registry];
    this.alarms = new Counter({
      name: 'gateway_journal_alarms_total',
      help: 'Alarms of the journal and its shipper.',
      labelNames: ['kind'],
      registers,
    });
    for (const kind of ALARM_KINDS) this.alarms.inc({ kind }, 0);
    this.settleFailures = new Counter({
      name: 'gateway_settle_failures_total',
      help: 'Batches of settlements that the limit store did not acknowledge; they are sent again.',
      registers,
    });
  }

  alarm(alarm: JournalAlarm): void {
    this.alarms.inc({ kind: alarm.kind });
    this.logger.error(alarmLine(alarm, this.config.JOURNAL_DIR), `journal alarm: ${alarm.kind}`);
  }

  settleFailed(cause: unknown): void {
    this.settleFailures.inc();
    this.logger.warn({ err: cause }, 'settling failed and is tried again');
  }

  storeLost(): void {
    this.logger.warn('the limit store lost what it knew: units are settled again');
  }

  segmentStays(error: unknown): void {
    this.logger.error({ err: error }, 'a segment could not be removed');
  }

  recordsStay(records: number): void {
    this.logger.warn({ records }, 'records stay in the journal for the next start');
  }

  /** Registers values that are read when the metrics are scraped. */
  watch(journal: Journal, shipper: ShipperHandle, settlementQueue: SettlementQueue): void {
    const shipped = (name: string, help: string, read: (stats: ShipperStats) => number): void =>
      this.metrics.gauge(name, help, () => read(shipper.stats()));
    const written = (
      name: string,
      help: string,
      read: (stats: ReturnType<Journal['stats']>) => number,
    ): void => this.metrics.gauge(name, help, () => read(journal.stats()));
    shipped('gateway_journal_backlog_records', 'Records synced and not shipped yet.', (s) => s.backlog);
    shipped(
      'gateway_journal_unapplied_records',
      'Records shipped that the ledger has not applied yet.',
      (s) => s.unapplied,
    );
    shipped(
      'gateway_journal_lag_seconds',
      'Longest time for which the ledger has stood still behind what was shipped.',
      (s) => s.lagMs / 1_000,
    );
    shipped(
      'gateway_journal_shipping_retries',
      'Batches that the event log refused, since the start.',
      (s) => s.retries,
    );
    shipped(
      'gateway_journal_reshipments',
      'Times everything past a watermark was shipped again, since the start.',
      (s) => s.reshipments,
    );
    shipped(
      'gateway_journal_watermark_failures',
      'Questions for a watermark that had no answer, since the start.',
      (s) => s.watermarkFailures,
    );
    written('gateway_journal_used_bytes', 'Bytes of the journal on disk.', (s) => s.usedBytes);
    written('gateway_journal_budget_bytes', 'Bytes that the journal may use.', (s) => s.budgetBytes);
    written('gateway_journal_open_units', 'Units admitted and not finished.', (s) => s.openUnits);
    written(
      'gateway_journal_late_acks',
      'Answers that went after JOURNAL_ACK_MS without the brokers, since the start.',
      (s) => s.lateAcks,
    );
    written('gateway_journal_accepting', '1 while new units are taken.', (s) => Number(s.isAccepting));
    this.metrics.gauge(
      'gateway_settle_queue_units',
      'Settlements not yet acknowledged by the limit store.',
      () => settlementQueue.pending,
    );
    this.metrics.gauge(
      'gateway_settle_dropped_units',
      'Settlements that the bound of the queue pushed out, since the start; the mirror reports them.',
      () => settlementQueue.dropped,
    );
  }
}
