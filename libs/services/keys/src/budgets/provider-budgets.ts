import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  providerAccount,
  type Clock,
  type CreateAnswer,
  type CreateProviderBudgetBody,
  type ListProviderBudgetsQuery,
  type PeriodBudgetRecord,
  type RaiseBudgetBody,
  type Random,
  type UpdateBudgetBody,
} from '@gateway/contracts';
import { CLOCK, pageOf, RANDOM, refuseFaults, sentFields, type Page } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { CredentialChecks } from '../provider-keys/credential-checks.js';
import { amountFaults, raiseFaults, rollingFaults } from './budget-faults.js';
import { BudgetUse, type PeriodUse } from './budget-use.js';
import { budgetToWire, grantOf, type BudgetRow } from './budget-wire.js';
import { budgetAudit, deleteBudget, raiseBudget, updateBudget } from './budget-writes.js';
import { FILE_BUDGETS, isOfFile } from './file-budgets.js';

const SCOPE = 'provider';
const PER_PROVIDER_MAX = 4;
/** All providers together. */
const BUDGETS_MAX = 64;

/** Budgets of the platform's providers, as super admins keep them. Those of gateway.yaml are read and not changed. */
@Injectable()
export class ProviderBudgets {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly use: BudgetUse,
    private readonly checks: CredentialChecks,
    @Inject(FILE_BUDGETS) private readonly ofFile: readonly BudgetRow[],
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async list({ scope_id, ...query }: ListProviderBudgetsQuery): Promise<Page<PeriodBudgetRecord>> {
    const all = (await this.all(this.database.prisma)).filter(
      (row) => scope_id === undefined || row.scope_id === scope_id,
    );
    const shown = all.slice(query.offset, query.offset + query.limit);
    return pageOf(await this.records(shown), all.length, query);
  }

  /** Throws ApiError `not_found`. */
  async read(id: string): Promise<PeriodBudgetRecord> {
    return this.record(await this.existing(this.database.prisma, id));
  }

  /** Throws ApiError `unprocessable_entity` for a provider that is not known, `conflict` for one too many. */
  async create(
    body: CreateProviderBudgetBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<PeriodBudgetRecord>> {
    refuseFaults('validation_error', [...amountFaults(body), ...rollingFaults(body)]);
    const { scope_id } = body;
    if (!this.checks.knows(scope_id) && !this.checks.isKeyless(scope_id))
      throw new ApiError('unprocessable_entity', {
        message: 'There is no provider of this slug.',
        param: 'scope_id',
      });
    const now = this.now();
    const id = newId('bud', this.clock, this.random);
    const data = {
      ...{ id, org_id: null, scope: SCOPE, scope_id, name: body.name, amount_usd: body.amount_usd },
      ...{ period: body.period, time_zone: body.time_zone, rolling_days: body.rolling_days ?? null },
      ...{ is_enabled: body.is_enabled, is_hard: body.is_hard, thresholds_pct: body.thresholds_pct },
      ...{ counted_from: now, created_at: now, updated_at: now },
    };
    let uses: PeriodUse[] = [];
    return this.changes.create(request, {
      accounts: [],
      ask: async () => {
        const { period, time_zone: timeZone, rolling_days: rollingDays } = body;
        const counted = { scope: SCOPE, scopeId: scope_id, period, timeZone, rollingDays } as const;
        const countedFromMs = now.getTime();
        uses = await this.use.of(providerAccount(scope_id), [{ ...counted, countedFromMs }], now.getTime());
      },
      make: async (tx) => {
        await lock(tx);
        await this.requireRoom(tx, scope_id);
        const row = await tx.budget.create({ data });
        const audit = budgetAudit('budget.create', row, sentFields(body));
        return { answer: { status: 201, body: { ...budgetToWire(row, uses[0], now.getTime()) } }, audit };
      },
    });
  }

  /** Throws ApiError `not_found`, `validation_error`, and `conflict` for one of gateway.yaml. */
  update(id: string, body: UpdateBudgetBody, request: FastifyRequest): Promise<PeriodBudgetRecord> {
    return this.change(id, request, (tx, row) => updateBudget(tx, row, body, this.now()));
  }

  raise(id: string, body: RaiseBudgetBody, request: FastifyRequest): Promise<PeriodBudgetRecord> {
    const until = new Date(body.until);
    const faults = raiseFaults(body, until.getTime() - this.clock.now());
    const raise = { by: body.by_usd, until, faults };
    return this.change(id, request, (tx, row) => raiseBudget(tx, row, raise, this.now()));
  }

  /** Answers the record too where there was no raise. */
  endRaise(id: string, request: FastifyRequest): Promise<PeriodBudgetRecord> {
    return this.change(id, request, (tx, row) => raiseBudget(tx, row, null, this.now()));
  }

  async remove(id: string, request: FastifyRequest): Promise<void> {
    await this.change(id, request, deleteBudget);
  }

  private async change(
    id: string,
    request: FastifyRequest,
    work: (tx: Tx, row: BudgetRow) => Promise<Changed<BudgetRow>>,
  ): Promise<PeriodBudgetRecord> {
    const row = await this.changes.run(request, {
      accounts: [],
      make: async (tx) => {
        await lock(tx);
        const current = await this.existing(tx, id);
        if (isOfFile(id)) throw new ApiError('conflict', { message: 'This budget is set by gateway.yaml.' });
        return work(tx, current);
      },
    });
    return this.record(row);
  }

  private async existing(tx: Tx, id: string): Promise<BudgetRow> {
    const row = (await this.all(tx)).find((one) => one.id === id);
    if (row === undefined) throw new ApiError('not_found');
    return row;
  }

  /** They are few: `BUDGETS_MAX`, and those of the file. */
  private async all(tx: Tx): Promise<BudgetRow[]> {
    const stored = await tx.budget.findMany({
      where: { org_id: null, scope: SCOPE },
      orderBy: { id: 'asc' },
    });
    return [...this.ofFile, ...stored];
  }

  private async requireRoom(tx: Tx, slug: string): Promise<void> {
    const all = await this.all(tx);
    if (all.filter(({ scope_id }) => scope_id === slug).length >= PER_PROVIDER_MAX)
      throw new ApiError('conflict', { message: `One provider has at most ${PER_PROVIDER_MAX} budgets.` });
    if (all.length >= BUDGETS_MAX)
      throw new ApiError('conflict', { message: `Providers have at most ${BUDGETS_MAX} budgets together.` });
  }

  private async record(row: BudgetRow): Promise<PeriodBudgetRecord> {
    const [record] = await this.records([row]);
    return record;
  }

  private async records(rows: readonly BudgetRow[]): Promise<PeriodBudgetRecord[]> {
    const nowMs = this.clock.now();
    const uses = new Map<BudgetRow, PeriodUse>();
    for (const [slug, ofProvider] of Map.groupBy(rows, ({ scope_id }) => scope_id)) {
      const found = await this.use.of(providerAccount(slug), ofProvider.map(grantOf), nowMs);
      for (const [index, row] of ofProvider.entries()) uses.set(row, found[index]);
    }
    return rows.flatMap((row) => {
      const use = uses.get(row);
      return use === undefined ? [] : [budgetToWire(row, use, nowMs)];
    });
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

/** Lets one change in at a time: the bounds hold. */
async function lock(tx: Tx): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('keys.provider_budgets'))`;
}
