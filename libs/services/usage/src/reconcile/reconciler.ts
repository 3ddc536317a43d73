import { Inject, Injectable } from '@nestjs/common';
import { LimitStore, uuidv7, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { ProjectionStore } from '../projection/projection.store.js';
import { isStatementCanceled } from '../postgres/statement-canceled.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { UsageMetrics } from '../usage-metrics.js';
import { accountsAfter } from './accounts-after.js';
import { DIFFERENCES, findingName, type DifferenceKind, type Finding } from './finding.js';
import {
  deadLetterFindings,
  ledgerFindings,
  recentLinkFindings,
  wholeBooksFindings,
} from './ledger-proof.js';
import { projectionFindings } from './projection-proof.js';

/** The knowledge of this process's passes. */
export interface ProofState {
  findings: Finding[];
  /** Accounts that this round over the books has proved so far; until it has proved one, those of the last round. */
  accountsProved: number;
  /** Accounts that the last round proved. */
  lastProved: number;
  /** End of the last pass over all accounts; null before. Milliseconds since the epoch. */
  roundEndedAtMs: number | null;
}

/** Links of what was posted in this time are proved every minute, whatever the round is at. */
const RECENT_MS = 180_000;
/** Time of a minute for the pass over all accounts. */
const BUDGET_MS = 1_000;
const SLICE = 20;
/** Events that one part may read: an account with more is left to the full proof, and counted. A proof reads each six times. */
const EVENTS_MAX = 500_000;
const FINDINGS_MAX = 1_000;
/** Kinds for which the limit store is compared: asked of every account, however long its history is. */
const MIRROR_KINDS: ReadonlySet<DifferenceKind> = new Set([
  'version_moved_back',
  'reservation_phantom',
  'mirror_differs',
  'unposted_differs',
  'unit_held',
]);

/**
 * Proves the books. Every minute a bounded part: the links of what was posted of late, and as many accounts in the order
 * of their ids as a second allows, each whole. So a small ledger is proved every minute, a large one in a round of many.
 * A minute costs the same however much is stored: how many events an account has is asked of its days first. Records that
 * could not be applied are few, and asked for every minute: a process that has just started knows them, which a counter
 * would have forgotten. The full proof is for an operator: FullReconciliation.
 */
@Injectable()
export class Reconciler {
  private readonly found = new Map<string, Finding>();
  private cursor = '';
  private proved = 0;
  private lastProved = 0;
  private readonly unproven = new Set<string>();
  /** Findings of each account's last proof. */
  private held = new Map<string, Finding>();
  private roundEndedAtMs: number | null = null;

  constructor(
    private readonly database: UsageDatabase,
    private readonly projectionStore: ProjectionStore,
    private readonly limits: LimitStore,
    @Inject(UsageMetrics) private readonly metrics: Pick<UsageMetrics, 'differencesFound' | 'proofAdvanced'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  get state(): ProofState {
    return {
      findings: [...this.found.values()].slice(0, FINDINGS_MAX),
      accountsProved: this.proved === 0 ? this.lastProved : this.proved,
      lastProved: this.lastProved,
      roundEndedAtMs: this.roundEndedAtMs,
    };
  }

  /** The minute's part. */
  async advance(): Promise<void> {
    const { database, clock, metrics } = this;
    const end = clock.monotonic() + BUDGET_MS;
    const sinceId = this.idAt(clock.now() - RECENT_MS);
    const recent = await recentLinkFindings(database.pool, sinceId);
    for (const finding of recent) this.note(finding);
    this.replace(({ kind }) => kind === 'dead_letter_open', await deadLetterFindings(database.pool));
    do {
      const slice = await accountsAfter(this.cursor, SLICE, database);
      const accounts = await this.withinEvents(slice);
      this.proved += await this.prove(accounts);
      this.cursor = accounts.at(-1) ?? '';
      if (accounts.length === slice.length && slice.length < SLICE) {
        await this.endRound();
        break;
      }
    } while (clock.monotonic() < end);
    const kinds = Object.keys(DIFFERENCES) as DifferenceKind[];
    for (const kind of kinds)
      metrics.differencesFound(
        kind,
        [...this.found.values()].filter((finding) => finding.kind === kind).length,
      );
    metrics.proofAdvanced(this.unproven.size, this.roundEndedAtMs);
  }

  /** Returns how many were proved. What was found of an account stays until it is proved again. */
  private async prove(accounts: readonly string[]): Promise<number> {
    const { database, projectionStore, limits, clock } = this;
    if (accounts.length === 0) return 0;
    const findings = await this.withinTime(accounts.filter((account) => !this.unproven.has(account)));
    findings.push(
      ...(await projectionFindings(accounts, null, { database, projectionStore, limits, clock })),
    );
    const proved = accounts.filter((account) => !this.unproven.has(account));
    for (const [name, { account, kind }] of this.found) {
      if (account === null || !accounts.includes(account)) continue;
      if (proved.includes(account) || MIRROR_KINDS.has(kind)) this.found.delete(name);
    }
    for (const finding of this.standing(findings, accounts)) this.note(finding);
    return proved.length;
  }

  /**
   * Units of an edge that died are freed by the round over due units, some seconds after their end: one counts where the
   * account's next proof finds it still held.
   */
  private standing(findings: readonly Finding[], accounts: readonly string[]): Finding[] {
    const before = this.held;
    this.held = new Map([...before].filter(([, { account }]) => !accounts.includes(account ?? '')));
    for (const finding of findings)
      if (finding.kind === 'unit_held' && this.held.size < FINDINGS_MAX)
        this.held.set(findingName(finding), finding);
    return findings.filter((finding) => finding.kind !== 'unit_held' || before.has(findingName(finding)));
  }

  /** The first of them whose events together are few enough; of one that has too many no event is read. */
  private async withinEvents(accounts: readonly string[]): Promise<readonly string[]> {
    const { rows } = await this.database.pool.query<{ account_id: string; events: string }>(
      `SELECT account_id, sum(requests) AS events FROM usage_day WHERE account_id = ANY($1) GROUP BY account_id`,
      [accounts],
    );
    const eventsOf = new Map(rows.map(({ account_id, events }) => [account_id, Number(events)]));
    let left = EVENTS_MAX;
    for (const [at, account] of accounts.entries()) {
      const events = eventsOf.get(account) ?? 0;
      if (events > EVENTS_MAX) {
        this.unproven.add(account);
        continue;
      }
      this.unproven.delete(account);
      left -= events;
      if (left < 0) return accounts.slice(0, at);
    }
    return accounts;
  }

  /** An account whose history is too long for a statement's time is left to the full proof, and counted. */
  private async withinTime(accounts: readonly string[]): Promise<Finding[]> {
    if (accounts.length === 0) return [];
    try {
      const findings = await ledgerFindings(this.database.pool, accounts);
      for (const account of accounts) this.unproven.delete(account);
      return findings;
    } catch (failure) {
      if (!isStatementCanceled(failure)) throw failure;
      if (accounts.length > 1) {
        const half = Math.ceil(accounts.length / 2);
        return [
          ...(await this.withinTime(accounts.slice(0, half))),
          ...(await this.withinTime(accounts.slice(half))),
        ];
      }
      this.unproven.add(accounts[0]);
      return [];
    }
  }

  private async endRound(): Promise<void> {
    this.replace(
      ({ account, kind }) => (account === null || account === 'house') && kind !== 'dead_letter_open',
      await wholeBooksFindings(this.database.pool),
    );
    this.cursor = '';
    this.lastProved = this.proved;
    this.proved = 0;
    this.roundEndedAtMs = this.clock.now();
  }

  /** Replaces the known findings with the new ones; those that stay are not logged again. */
  private replace(isOne: (finding: Finding) => boolean, findings: readonly Finding[]): void {
    const now = new Set(findings.map(findingName));
    for (const [name, finding] of this.found) if (isOne(finding) && !now.has(name)) this.found.delete(name);
    for (const finding of findings) this.note(finding);
  }

  private note(finding: Finding): void {
    const name = findingName(finding);
    if (!this.found.has(name))
      this.logger.error(
        {
          account_id: finding.account,
          reason: `${finding.kind} ${finding.scope ?? ''}: ${DIFFERENCES[finding.kind]}`,
        },
        'the books differ',
      );
    if (this.found.size < FINDINGS_MAX || this.found.has(name)) this.found.set(name, finding);
  }

  /** The lowest id of a transfer drawn at that time or later. */
  private idAt(ms: number): string {
    const { random } = this;
    const frozen = {
      now: () => ms,
      monotonic: () => 0,
      setTimer: () => ({ cancel: () => undefined }),
      sleep: async () => undefined,
    };
    return `${uuidv7(frozen, random).slice(0, 14)}7000-8000-000000000000`;
  }
}
