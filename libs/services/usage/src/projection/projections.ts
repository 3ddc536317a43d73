import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, LOGGER } from '@gateway/platform';
import { LimitStore, type Clock, type ProjectionRequest, type UsageRecord } from '@gateway/contracts';
import type { Logger } from 'pino';
import { awaitsOutcome, type UnusableRecord } from '../posting/read-batch.js';
import { mirroredScopes, providerScopes, type Scope } from '../posting/scopes.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { ProjectionStore, type ProjectionWish } from './projection.store.js';
import { UsageMetrics } from '../usage-metrics.js';
import { ActiveAccounts } from './active-accounts.js';
import { answered, type PostedTotals } from './posted-totals.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { unitName } from './unit-name.js';

/** Projections under way at once: one per account of a batch. */
const PARALLEL = 64;
const RETRIES_MS = [20, 100];
const NOTHING: PostedTotals = { balances: [], totals: [] };
const DEBTS_PER_ROUND = 5_000;
/** Number of accounts whose debts are paid at once: each takes a connection of the pool. */
const ACCOUNTS_AT_ONCE = 4;
const DUE_PER_ACCOUNT = 1_000;
const FAILURES_PER_TICK = 64;

/**
 * Reports to the limit store what is posted. A batch's projection is sent before its offsets are committed; where the store is
 * away, the units are noted in PostgreSQL instead, so that commits go on and nothing is forgotten.
 */
@Injectable()
export class Projections {
  constructor(
    private readonly database: UsageDatabase,
    private readonly store: ProjectionStore,
    private readonly limits: LimitStore,
    private readonly accounts: ActiveAccounts,
    @Inject(UsageMetrics)
    private readonly metrics: Pick<UsageMetrics, 'projectionFailed' | 'projectionDebtsLeft'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Reports after the commit of a batch: every unit of it, redelivered and dead-lettered ones too. */
  async report(
    units: readonly UsageRecord[],
    dead: readonly UnusableRecord[],
    posted: PostedTotals = NOTHING,
  ): Promise<void> {
    const wishes = wishesOf(units, dead);
    for (const { accountId } of wishes) this.accounts.add(accountId);
    const unready = await this.store.unready(wishes);
    const ready = wishes.filter(({ accountId }) => !unready.has(accountId));
    const isDelivered = await this.deliver(ready, posted);
    const left = wishes.filter(({ accountId }) => !isDelivered || unready.has(accountId));
    if (left.length > 0) await this.noteDebts(left);
  }

  /** Posted totals of these scopes for a generation that does not know them; null = where it does. Throws where the store is away. */
  async seed(accountId: string, gen: string | null, scopes: readonly Scope[]): Promise<void> {
    this.accounts.add(accountId);
    await this.send([{ accountId, gen, scopes, units: [] }]);
  }

  /** The same without a generation: what has changed without a unit, for example a credit. */
  async refresh(wishes: readonly { accountId: string; scopes: readonly Scope[] }[]): Promise<boolean> {
    return this.deliver(wishes.map((wish) => ({ ...wish, gen: null, units: [] })));
  }

  /**
   * Looks the due units of active accounts up and frees those that are posted. In a cluster the node of some may be away: throws
   * the first failure once the others were tried.
   */
  async reportDue(): Promise<void> {
    let failed = 0;
    let first: unknown;
    for (const accountId of this.accounts.list()) {
      try {
        if (!(await this.reportDueOf(accountId))) this.accounts.atRest(accountId);
      } catch (failure) {
        if (failed === 0) first = failure;
        failed += 1;
        // A store that is away is not asked: nothing else would let others go between.
        if (failed % FAILURES_PER_TICK === 0) await yieldToEventLoop();
      }
    }
    if (failed > 0) throw first as Error;
  }

  /** The same for one account. False where none is due. Throws where the store is away. */
  async reportDueOf(accountId: string): Promise<boolean> {
    const due = await this.limits.due(accountId, DUE_PER_ACCOUNT);
    const names = due.flatMap((unit) => unitName(unit) ?? []);
    if (names.length === 0) return false;
    await this.send([await this.store.unitsIn(accountId, names)]);
    return true;
  }

  /** Looks these units up and frees those that are posted. Throws where the store is away. */
  async reportUnits(accountId: string, units: readonly string[]): Promise<void> {
    const names = units.flatMap((unit) => unitName(unit) ?? []);
    await this.send([await this.store.unitsIn(accountId, names)]);
  }

  /**
   * Sends what the store is owed: units that were noted while it was away, transfers, what lapsed. Answers how many debts
   * were paid; one that comes meanwhile stays. Throws the first failure once the others were tried.
   */
  async payDebts(): Promise<number> {
    const { rows } = await this.database.pool.query<{
      account_id: string;
      request_id: string;
      unit: number;
    }>(
      'SELECT account_id, request_id, unit FROM mirror_debt ORDER BY account_id, request_id, unit LIMIT $1',
      [DEBTS_PER_ROUND],
    );
    this.metrics.projectionDebtsLeft(rows.length);
    const byAccount = [...Map.groupBy(rows, ({ account_id }) => account_id)];
    const failures: unknown[] = [];
    for (let start = 0; start < byAccount.length; start += ACCOUNTS_AT_ONCE)
      await Promise.all(
        byAccount
          .slice(start, start + ACCOUNTS_AT_ONCE)
          .map(([accountId, debts]) =>
            this.payDebtsOf(accountId, debts).catch((failure: unknown) => failures.push(failure)),
          ),
      );
    if (failures.length > 0) throw failures[0];
    return rows.length;
  }

  private async payDebtsOf(
    accountId: string,
    debts: readonly { request_id: string; unit: number }[],
  ): Promise<void> {
    const names = debts.map(({ request_id, unit }) => ({ requestId: request_id, unit }));
    await this.send([await this.store.unitsIn(accountId, names)]);
    await this.database.pool.query(
      `DELETE FROM mirror_debt USING unnest($2::text[], $3::int[]) AS d(request_id, unit)
       WHERE mirror_debt.account_id = $1 AND mirror_debt.request_id = d.request_id AND mirror_debt.unit = d.unit`,
      [accountId, debts.map(({ request_id }) => request_id), debts.map(({ unit }) => unit)],
    );
  }

  private async deliver(wishes: readonly ProjectionWish[], posted: PostedTotals = NOTHING): Promise<boolean> {
    let known = posted;
    for (const delayMs of [...RETRIES_MS, null]) {
      try {
        await this.send(wishes, known);
        return true;
      } catch (failure) {
        this.metrics.projectionFailed();
        this.logger.warn({ err: failure, accounts: wishes.length }, 'posted totals could not be projected');
        known = NOTHING;
        if (delayMs !== null) await this.clock.sleep(delayMs);
      }
    }
    return false;
  }

  /**
   * Sends totals. The posting's own are a snapshot already; others, and every retry, are read anew: an older snapshot
   * would report less.
   */
  private async send(wishes: readonly ProjectionWish[], posted: PostedTotals = NOTHING): Promise<void> {
    const known = answered(wishes, posted);
    const requests = [...known.requests, ...(await this.store.snapshot(known.rest))];
    for (let start = 0; start < requests.length; start += PARALLEL) {
      await Promise.all(requests.slice(start, start + PARALLEL).map((request) => this.sendAccount(request)));
    }
  }

  /**
   * A later version in the store is another process's projection, or one that the ledger has lost: rows that were put back from
   * a backup, or changed by hand. It would hold old totals until the account has come so far again.
   */
  private async sendAccount(request: ProjectionRequest): Promise<void> {
    const { limits, store, logger } = this;
    const held = await limits.mirror(request);
    if (held === null || !(await store.raiseVersion(request.accountId, held))) return;
    const { accountId, version } = request;
    logger.error({ account_id: accountId, held, version }, 'the version of an account had moved back');
    const [again] = await store.snapshot([{ ...request, units: [] }]);
    await limits.mirror(again);
  }

  private async noteDebts(wishes: readonly ProjectionWish[]): Promise<void> {
    const debts = wishes.flatMap(({ accountId, units }) =>
      units.flatMap(({ unit }) => {
        const name = unitName(unit);
        return name === null ? [] : [{ accountId, ...name }];
      }),
    );
    await this.database.pool.query(
      `INSERT INTO mirror_debt (account_id, request_id, unit)
       SELECT * FROM unnest($1::text[], $2::text[], $3::int[]) ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`,
      [
        debts.map(({ accountId }) => accountId),
        debts.map(({ requestId }) => requestId),
        debts.map(({ unit }) => unit),
      ],
    );
  }
}

/** One wish per account. */
function wishesOf(units: readonly UsageRecord[], dead: readonly UnusableRecord[]): ProjectionWish[] {
  const wishes = new Map<string, { scopes: Map<string, Scope>; units: Map<string, boolean> }>();
  const of = (accountId: string): { scopes: Map<string, Scope>; units: Map<string, boolean> } => {
    const wish = wishes.get(accountId) ?? { scopes: new Map(), units: new Map() };
    wishes.set(accountId, wish);
    return wish;
  };
  for (const unit of units) {
    const wish = of(unit.account_id);
    for (const scope of mirroredScopes(unit)) wish.scopes.set(`${scope.kind}\n${scope.id}`, scope);
    const name = `${unit.request_id}/${unit.unit}`;
    // A crash and the real outcome in one batch: the outcome is what is posted.
    wish.units.set(name, (wish.units.get(name) ?? true) && awaitsOutcome(unit));
    for (const [account, scopes] of providerScopes(unit.limits)) {
      const wished = of(account);
      for (const scope of scopes) wished.scopes.set(`${scope.kind}\n${scope.id}`, scope);
      wished.units.set(name, (wished.units.get(name) ?? true) && awaitsOutcome(unit));
    }
  }
  for (const { accountId, unit } of dead) {
    if (accountId !== null && unit !== null) of(accountId).units.set(`${unit.requestId}/${unit.unit}`, false);
  }
  return [...wishes].map(([accountId, wish]) => ({
    accountId,
    gen: null,
    scopes: [...wish.scopes.values()],
    units: [...wish.units].map(([unit, crash]) => ({ unit, crash })),
  }));
}
