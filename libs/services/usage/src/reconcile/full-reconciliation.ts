import type { Clock, LimitStore, Random } from '@gateway/contracts';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { PostingStore } from '../posting/posting.store.js';
import type { Reprice } from '../posting/reprice.js';
import type { ProjectionStore } from '../projection/projection.store.js';
import type { Projections } from '../projection/projections.js';
import { forgetProducers, silentProducers, type SilentProducer } from '../ledger/silent-producers.js';
import { accountsAfter, unknownAccounts } from './accounts-after.js';
import type { Finding, Sums } from './finding.js';
import { proveJournals } from './journal-proof.js';
import { closeLostUnits, lostUnitFindings } from './lost-units.js';
import { ledgerFindings, sums, type Queryable } from './ledger-proof.js';
import { provePrices } from './price-proof.js';
import { owedFindings } from './owed-proof.js';
import { projectionFindings } from './projection-proof.js';
import { repair } from './repair.js';
import { quarterHourFindings } from './slots-proof.js';
import { tagFindings } from './tags-proof.js';

/**
 * Every applied number of a producer has its event or rejection, but for those that are noted as having none. Counts
 * first: only an epoch that lacks rows is read number by number.
 */
const MISSING_ROWS = `
WITH due AS (
  SELECT producer, epoch, applied - rowless AS numbers FROM producer
), stamps AS (
  SELECT producer, epoch, seq FROM usage_event UNION ALL SELECT producer, epoch, seq FROM rejection
), held AS (
  SELECT producer, epoch, count(*) AS n FROM stamps JOIN due USING (producer, epoch)
  WHERE numbers @> seq GROUP BY producer, epoch
), suspects AS (
  SELECT producer, epoch, numbers FROM due LEFT JOIN held USING (producer, epoch)
  WHERE (SELECT sum(upper(r) - lower(r)) FROM unnest(numbers) AS r) > coalesce(n, 0)
)
SELECT 'row_missing' AS kind, NULL AS account,
  producer || '/' || epoch || ' ' || lower(r) || ' to ' || upper(r) - 1 AS scope,
  (upper(r) - lower(r))::text AS expected, '0' AS found
FROM suspects AS s, LATERAL unnest(s.numbers - coalesce((
  SELECT range_agg(int8range(seq, seq, '[]')) FROM stamps AS t WHERE t.producer = s.producer AND t.epoch = s.epoch
), '{}')) AS r
ORDER BY scope LIMIT 1000`;

async function missingRows(database: Queryable): Promise<Finding[]> {
  return (await database.query<Finding>(MISSING_ROWS)).rows;
}

/** Returns the finding of a silent producer, with the time of its last word. */
function silentFinding({ producer, epoch, heard_at }: SilentProducer): Finding {
  const scope = `${producer}/${epoch}`;
  return {
    kind: 'producer_silent',
    account: null,
    scope,
    expected: 'its drain',
    found: heard_at.toISOString(),
  };
}

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
      ...(await owedFindings(database.pool)),
      ...prices.findings,
    ];
    const silent = await silentProducers(database.pool, clock);
    findings = findings.concat(silent.map(silentFinding));
    const lost = await this.lostUnits();
    // A journal that still has the unit sends its record.
    const isThere = (unit: string): void => void lost.delete(unit);
    const journal =
      options.journals.length > 0
        ? await proveJournals(options.journals, isThere, { database, clock })
        : null;
    if (journal !== null) findings = findings.concat(journal.findings);
    const proof = { database, projectionStore, limits, clock };
    for (let from = ''; ;) {
      const accounts = await accountsAfter(from, ACCOUNTS_AT_ONCE, database);
      findings = findings.concat(await projectionFindings(accounts, journal?.tailNano ?? null, proof));
      if (accounts.length < ACCOUNTS_AT_ONCE) break;
      from = accounts[accounts.length - 1];
    }
    if (options.isRepair && lost.size > 0)
      await closeLostUnits([...lost.values()], { database, projectionStore, projections, limits, clock });
    if (options.isRepair && silent.length > 0) await forgetProducers(database.pool, silent);
    if (options.isRepair && findings.length > 0)
      await repair(findings, journal?.missing ?? [], { database, store, projections, clock, random });
    findings = findings.concat([...lost.values()]);
    return { sums: await sums(database.pool), findings, unpriced: prices.unpriced };
  }

  /**
   * Returns units without an event by name, and per account what has no name: of accounts of the ledger, and of those whose
   * only records went with an edge, which the limit store alone knows.
   */
  private async lostUnits(): Promise<Map<string, Finding>> {
    const { database, limits, clock } = this;
    const lost = new Map<string, Finding>();
    const look = async (accounts: readonly string[]): Promise<void> => {
      for (const finding of await lostUnitFindings(accounts, { database, limits, clock }))
        lost.set(`${finding.scope ?? finding.account}`, finding);
    };
    for (let from: string | undefined = ''; from !== undefined;) {
      const accounts = await accountsAfter(from, ACCOUNTS_AT_ONCE, database);
      await look(accounts);
      from = accounts.length < ACCOUNTS_AT_ONCE ? undefined : accounts.at(-1);
    }
    for (let cursor: string | null = '0'; cursor !== null;) {
      const page = await limits.accountsWithUnits(cursor);
      if (page.accounts.length > 0) await look(await unknownAccounts(page.accounts, database));
      cursor = page.next;
    }
    return lost;
  }
}
