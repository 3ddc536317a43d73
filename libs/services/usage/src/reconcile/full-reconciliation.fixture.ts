import type { LimitStore } from '@gateway/contracts';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { ProjectionStore } from '../projection/projection.store.js';
import { PostingStore } from '../posting/posting.store.js';
import { Reprice } from '../posting/reprice.js';
import type { UsageApp } from '../usage.fixture.js';
import { FullReconciliation } from './full-reconciliation.js';

/** Returns the proof of an operator over the ledger of a started service. */
export function reconciliationOf(
  { app, database, projections }: UsageApp,
  limits: LimitStore,
): FullReconciliation {
  return new FullReconciliation(
    database,
    app.get(ProjectionStore, { strict: false }),
    projections,
    limits,
    app.get(Reprice, { strict: false }),
    app.get(PostingStore, { strict: false }),
    new SystemClock(),
    new SystemRandom(),
  );
}
