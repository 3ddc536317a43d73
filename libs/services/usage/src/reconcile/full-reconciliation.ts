import type { Clock, LimitStore, Random } from '@gateway/contracts';
import type { ProjectionStore } from '../projection/projection.store.js';
import type { Projections } from '../projection/projections.js';
import type { PostingStore } from '../posting/posting.store.js';
import type { Reprice } from '../posting/reprice.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { accountsAfter } from './accounts-after.js';
import type { Finding, Sums } from './finding.js';
import { proveJournals } from './journal-proof.js';
import { ledgerFindings, sums } from './ledger-proof.js';
import { projectionFindings } from './projection-proof.js';
import { provePrices } from './price-proof.js';
import { repair } from './repair.js';
import { missingRows } from './rows-proof.js';
import { quarterHourFindings } from './slots-proof.js';
import { tagFindings } from './tags-proof.js';

const ACCOUNTS_AT_ONCE = 200;

export interface FullProof {
  sums: Sums;
  findings: Finding[];
  /** Billed events that could not be priced again. */
  unpriced: number;
}

/** Proof and repair of the whole ledger, for an operator. It reads everything that is stored. */
export class FullReconciliation {
  constructor(
    private readonly database: UsageDatabase,
    private readonly projectionStore: ProjectionStore,
    private readonly projections: Projections,
    private readonly limits: LimitStore,
    private readonly reprice: Pick<Reprice, 'again' | 'knows' | 'window'>,
    private readonly store: PostingStore,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Everything, at once; `journals` are folders as JOURNAL_DIR names them. Repairs what it found if asked to. */
  async run(options: { journals: readonly string[]; isRepair: boolean }): Promise<FullProof> {
    const { database, projectionStore, limits, projections, store, clock, random } = this;
    const prices = await provePrices({ database, reprice: this.reprice });
    // As arguments of a call a million of them would not fit on the stack.
    let findings = [
      ...(await ledgerFindings(database.pool, 'all')),
      ...(await missingRows(database.pool)),
      ...(await quarterHourFindings(database.pool)),
      ...(await tagFindings(database.pool)),
      ...prices.findings,
    ];
    const journal =
      options.journals.length > 0 ? await proveJournals(options.journals, { database, clock }) : null;
    if (journal !== null) findings = findings.concat(journal.findings);
    const proof = { database, projectionStore, limits, clock };
    for (let from = ''; ;) {
      const accounts = await accountsAfter(from, ACCOUNTS_AT_ONCE, database);
      findings = findings.concat(await projectionFindings(accounts, journal?.tailNano ?? null, proof));
      if (accounts.length < ACCOUNTS_AT_ONCE) break;
      from = accounts[accounts.length - 1];
    }
    if (options.isRepair && findings.length > 0)
      await repair(findings, journal?.missing ?? [], { database, store, projections, clock, random });
    return { sums: await sums(database.pool), findings, unpriced: prices.unpriced };
  }
}
