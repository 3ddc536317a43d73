import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { LivingProducers } from '../ledger/living-producers.js';
import { LedgerStore } from '../ledger/ledger.store.js';
import { ActiveAccounts } from '../projection/active-accounts.js';
import { Projections } from '../projection/projections.js';
import { UsageMetrics } from '../usage-metrics.js';
import type { Job } from './job.js';

const DUE_EVERY_MS = 5_000;
const DEBTS_EVERY_MS = 1_000;
/** Interval at which every account of the last day is checked, also those this process has not posted for. */
const RECENT_EVERY_MS = 300_000;
const RECENT_MS = 86_400_000;
const RECENT_MAX = 50_000;
const GAPS_EVERY_MS = 15_000;

/** Jobs that keep the limit store at what the ledger has, and count what producers still owe. */
@Injectable()
export class ProjectionJobs {
  readonly jobs: readonly Job[] = [
    { everyMs: RECENT_EVERY_MS, what: 'recent accounts', run: () => this.noteRecent() },
    { everyMs: DUE_EVERY_MS, what: 'due units', run: () => this.projections.reportDue() },
    { everyMs: DEBTS_EVERY_MS, what: 'debts to the limit store', run: () => this.projections.payDebts() },
    { everyMs: GAPS_EVERY_MS, what: 'gaps of producers', run: () => this.countGaps() },
  ];

  constructor(
    private readonly projections: Projections,
    private readonly accounts: ActiveAccounts,
    private readonly ledger: LedgerStore,
    private readonly producers: LivingProducers,
    private readonly metrics: UsageMetrics,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  private async noteRecent(): Promise<void> {
    const since = new Date(this.clock.now() - RECENT_MS);
    for (const accountId of await this.ledger.activeSince(since, RECENT_MAX)) this.accounts.add(accountId);
  }

  private async countGaps(): Promise<void> {
    this.metrics.gapsFound(await this.ledger.missingRecords());
    this.metrics.silentProducers(await this.producers.silent());
  }
}
