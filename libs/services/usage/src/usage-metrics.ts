import { Injectable } from '@nestjs/common';
import { Metrics } from '@gateway/platform';
import { Counter, Gauge, Histogram } from 'prom-client';

/** Figures of the usage service, on the process's registry. */
@Injectable()
export class UsageMetrics {
  private readonly lag: Histogram;
  private readonly batch: Histogram;
  private readonly events: Counter;
  private readonly deadLetters: Counter;
  private readonly priceChecks: Counter;
  private readonly spendLimitSeeds: Counter;
  private readonly projectionFailures: Counter;
  private readonly projectionDebts: Gauge;
  private readonly gaps: Gauge;
  private readonly silent: Gauge;
  private readonly differences: Gauge;
  private readonly unproven: Gauge;
  private readonly roundEnded: Gauge;
  private readonly owedLeft: Gauge;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
    const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
    this.lag = new Histogram({
      name: 'gateway_usage_ingest_lag_seconds',
      help: 'From the end of the oldest request of a batch to its commit.',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
      registers,
    });
    this.batch = new Histogram({
      name: 'gateway_usage_batch_records',
      help: 'Records per batch.',
      buckets: [1, 5, 20, 50, 100, 200, 350, 500],
      registers,
    });
    this.events = counter('gateway_usage_events_posted_total', 'Units posted, each once.');
    this.deadLetters = counter('gateway_usage_dead_letters_total', 'Records that could not be applied.');
    this.priceChecks = new Counter({
      name: 'gateway_usage_price_differences_total',
      help: 'Units whose price, made again, was different or could not be made.',
      labelNames: ['finding'],
      registers,
    });
    this.spendLimitSeeds = counter(
      'gateway_usage_gate_seeds_total',
      'Generations of the limit store that asked for posted totals.',
    );
    this.projectionFailures = counter(
      'gateway_usage_mirror_failures_total',
      'Failed tries to report to the limit store what is posted.',
    );
    this.projectionDebts = gauge(
      'gateway_usage_mirror_debts',
      'Posted units not yet reported to the limit store, at most 5,000.',
    );
    this.gaps = gauge(
      'gateway_usage_missing_records',
      'Sequence numbers below the newest applied one of their producer that have not been applied.',
    );
    this.silent = gauge(
      'gateway_usage_silent_producers',
      'Journals of processes that did not drain and have not been heard of for 10 minutes.',
    );
    this.differences = new Gauge({
      name: 'gateway_reconcile_differences',
      help: 'Differences in the books that the rounds of the reconciler know, by kind.',
      labelNames: ['kind'],
      registers,
    });
    this.unproven = gauge(
      'gateway_reconcile_accounts_unproven',
      'Accounts whose history is too long for a round: npm run reconcile proves them.',
    );
    this.roundEnded = gauge(
      'gateway_reconcile_round_ended_seconds',
      'When the last round over all accounts ended, seconds since the epoch; 0 before the first.',
    );
    this.owedLeft = gauge(
      'gateway_usage_provider_sums_pending',
      '1 while events of before an upgrade are added to what providers are owed: hard budgets of providers refuse so long.',
    );
  }

  /** Tells if events of before an upgrade are all added to what providers are owed. */
  owedSummed(isDone: boolean): void {
    this.owedLeft.set(isDone ? 0 : 1);
  }

  /** The reconciler's findings by kind, as its rounds have them. */
  differencesFound(kind: string, count: number): void {
    this.differences.set({ kind }, count);
  }

  /** Reports the progress of the pass over all accounts. */
  proofAdvanced(unproven: number, roundEndedAtMs: number | null): void {
    this.unproven.set(unproven);
    if (roundEndedAtMs !== null) this.roundEnded.set(roundEndedAtMs / 1_000);
  }

  batchPosted({ records, events, deadLetters, lagMs }: PostedBatch): void {
    this.batch.observe(records);
    this.events.inc(events);
    this.deadLetters.inc(deadLetters);
    if (lagMs !== null) this.lag.observe(Math.max(0, lagMs) / 1_000);
  }

  priced(finding: 'different' | 'unknown'): void {
    this.priceChecks.inc({ finding });
  }

  projectionFailed(): void {
    this.projectionFailures.inc();
  }

  projectionDebtsLeft(units: number): void {
    this.projectionDebts.set(units);
  }

  gapsFound(missing: number): void {
    this.gaps.set(missing);
  }

  silentProducers(count: number): void {
    this.silent.set(count);
  }

  spendLimitSeeded(): void {
    this.spendLimitSeeds.inc();
  }
}

export interface PostedBatch {
  records: number;
  events: number;
  deadLetters: number;
  /** null where nothing was posted. */
  lagMs: number | null;
}
