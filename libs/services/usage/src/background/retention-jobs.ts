import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { IdempotencyTable } from '@gateway/database';
import { CLOCK, IDEMPOTENCY_KEPT_MS } from '@gateway/platform';
import { ContentsStore } from '../contents/contents.store.js';
import { Erasures } from '../erasures/erasures.js';
import { LedgerStore } from '../ledger/ledger.store.js';
import type { Job } from './job.js';

/** Interval at which rejections older than 90 days are removed. */
const RETENTION_EVERY_MS = 600_000;
const CONTENTS_EVERY_MS = 60_000;
const ERASE_EVERY_MS = 10_000;

/** Jobs that remove what is past its time, and end users who are to be forgotten. */
@Injectable()
export class RetentionJobs {
  readonly jobs: readonly Job[] = [
    { everyMs: ERASE_EVERY_MS, what: 'erasures', run: () => this.erasures.advance() },
    { everyMs: RETENTION_EVERY_MS, what: 'retention', run: () => this.ledger.removeOldRejections() },
    { everyMs: RETENTION_EVERY_MS, what: 'answers of creates', run: () => this.forgetCreates() },
    { everyMs: CONTENTS_EVERY_MS, what: 'retention of contents', run: () => this.contents.removeOld() },
  ];

  constructor(
    private readonly erasures: Erasures,
    private readonly ledger: LedgerStore,
    private readonly creates: IdempotencyTable,
    private readonly contents: ContentsStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  private forgetCreates(): Promise<void> {
    return this.creates.forgetBefore(new Date(this.clock.now() - IDEMPOTENCY_KEPT_MS));
  }
}
