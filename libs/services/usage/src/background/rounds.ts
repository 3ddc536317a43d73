import { repeat, type Repeated, IDEMPOTENCY_KEPT_MS } from '@gateway/platform';
import type { Clock } from '@gateway/contracts';
import { type IdempotencyTable } from '@gateway/database';
import type { Logger } from 'pino';
import type { ContentsStore } from '../contents/contents.store.js';
import type { Erasures } from '../erasures/erasures.js';
import type { LedgerStore } from '../ledger/ledger.store.js';
import type { ActiveAccounts } from '../mirror/active-accounts.js';
import type { DayRoller } from '../posting/day-roller.js';
import type { TagRoller } from '../posting/tag-roller.js';
import type { TagSumsRoller } from '../posting/tag-sums-roller.js';
import type { Mirrors } from '../mirror/mirrors.js';
import type { WindowRoller } from '../mirror/window-roller.js';
import type { Payments } from '../payments/payments.js';
import type { Reconciler } from '../reconcile/reconciler.js';
import type { UsageMetrics } from '../usage-metrics.js';

interface Deps {
  mirrors: Mirrors;
  roller: WindowRoller;
  days: DayRoller;
  tags: TagRoller;
  tagSums: TagSumsRoller;
  accounts: ActiveAccounts;
  ledger: LedgerStore;
  reconciler: Reconciler;
  payments: Payments;
  erasures: Erasures;
  contents: ContentsStore;
  creates: Pick<IdempotencyTable, 'forgetBefore'>;
  metrics: Pick<UsageMetrics, 'gapsFound'>;
  clock: Clock;
  logger: Logger;
}

const DUE_EVERY_MS = 5_000;
const ROLL_EVERY_MS = 60_000;
const DEBTS_EVERY_MS = 1_000;
/** Interval at which every account of the last day is checked, also those this process has not posted for. */
const RECENT_EVERY_MS = 300_000;
const RECENT_MS = 86_400_000;
const GAPS_EVERY_MS = 15_000;
const RECHARGE_EVERY_MS = 5_000;
const ERASE_EVERY_MS = 10_000;
/** Interval at which refusals older than 90 days are removed. */
const RETENTION_EVERY_MS = 600_000;
const CONTENTS_EVERY_MS = 60_000;
const PROVE_EVERY_MS = 60_000;
const RECENT_MAX = 50_000;

/** Scheduled jobs of the service: due units, debts to the limit store, the 30-day window, the proof of the ledger. */
export class Rounds {
  private running: Repeated[] = [];

  constructor(private readonly deps: Deps) {}

  start(): void {
    const {
      mirrors,
      roller,
      days,
      tags,
      tagSums,
      reconciler,
      payments,
      erasures,
      ledger,
      contents,
      creates,
      clock,
    } = this.deps;
    this.running = [
      this.every(RECENT_EVERY_MS, 'recent accounts', () => this.noteRecent()),
      this.every(DUE_EVERY_MS, 'due units', () => mirrors.reportDue()),
      this.every(DEBTS_EVERY_MS, 'debts to the limit store', async () => void (await mirrors.payDebts())),
      this.every(GAPS_EVERY_MS, 'gaps of producers', () => this.countGaps()),
      this.every(ROLL_EVERY_MS, 'the 30-day window', async () => void (await roller.roll())),
      this.every(ROLL_EVERY_MS, 'days of usage', async () => void (await days.roll())),
      this.every(ROLL_EVERY_MS, 'tags of usage', async () => void (await tags.roll())),
      this.every(ROLL_EVERY_MS, 'sums of tags', async () => void (await tagSums.roll())),
      this.every(RECHARGE_EVERY_MS, 'recharges', () => payments.recharge()),
      this.every(ERASE_EVERY_MS, 'erasures', () => erasures.advance()),
      this.every(RETENTION_EVERY_MS, 'retention', () => ledger.removeOldRejections()),
      this.every(RETENTION_EVERY_MS, 'answers of creates', () =>
        creates.forgetBefore(new Date(clock.now() - IDEMPOTENCY_KEPT_MS)),
      ),
      this.every(CONTENTS_EVERY_MS, 'retention of contents', () => contents.removeOld()),
      this.every(PROVE_EVERY_MS, 'the proof of the books', () => reconciler.advance()),
    ];
  }

  async stop(): Promise<void> {
    await Promise.all(this.running.map((round) => round.stop()));
  }

  private async noteRecent(): Promise<void> {
    const since = new Date(this.deps.clock.now() - RECENT_MS);
    for (const accountId of await this.deps.ledger.activeSince(since, RECENT_MAX))
      this.deps.accounts.add(accountId);
  }

  private async countGaps(): Promise<void> {
    this.deps.metrics.gapsFound(await this.deps.ledger.missingRecords());
  }

  private every(delayMs: number, what: string, task: () => Promise<void>): Repeated {
    return repeat(this.deps.clock, delayMs, task, (failure) =>
      this.deps.logger.warn({ err: failure, what }, 'a round failed and will be tried again'),
    );
  }
}
