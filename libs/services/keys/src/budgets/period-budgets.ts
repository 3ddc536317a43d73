import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type Clock,
  type CreateAnswer,
  type CreateBudgetBody,
  type ListBudgetsQuery,
  type PeriodBudgetRecord,
  type RaiseBudgetBody,
  type Random,
  type SessionPrincipal,
  type UpdateBudgetBody,
} from '@gateway/contracts';
import {
  CLOCK,
  pageOf,
  RANDOM,
  refuseFaults,
  requireOrgRole,
  sentFields,
  type AccessRule,
  type Page,
} from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { endUserHashOf } from '../accounts/end-user-hash.js';
import { Prisma } from '../generated/prisma/client.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { amountFaults, raiseFaults, rollingFaults, scopeFaults } from './budget-faults.js';
import { budgetAudit, deleteBudget, raiseBudget, updateBudget, type WantedRaise } from './budget-writes.js';
import { budgetToWire, grantOf, type BudgetRow } from './budget-wire.js';
import { BudgetUse, type PeriodUse } from './budget-use.js';

const PER_SCOPE_MAX = 4;
const PER_ORG_MAX = 1_000;
/** Each key of the organization carries those of its tags and end users: the answer to a look-up of 64 keys stays below 8 MB. */
const CARRIED_PER_ORG_MAX = 100;
const CARRIED_SCOPES = ['tag', 'end_user'];
/** The newest keys of a member whose budgets are looked for. */
const OWN_KEYS_MAX = 10_000;

type Sessions = Pick<SessionPrincipal, 'memberships' | 'userId'>;

/** Budgets of organizations. A change acts on the next request of every key that a budget holds for. */
@Injectable()
export class PeriodBudgets {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly use: BudgetUse,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Throws ApiError `forbidden` for an org that the caller is not in, known or not. */
  async list(caller: SessionPrincipal, query: ListBudgetsQuery): Promise<Page<PeriodBudgetRecord>> {
    const { org_id, scope, scope_id, limit: take, offset: skip } = query;
    const orgIds = org_id === undefined ? caller.memberships.map(({ orgId }) => orgId) : [org_id];
    for (const orgId of orgIds) accountOf(caller, orgId);
    const where = { AND: [{ scope, scope_id }, await this.visibleTo(caller, orgIds)] };
    const { budget } = this.database.prisma;
    const [rows, total] = await Promise.all([
      budget.findMany({ where, orderBy: { id: 'asc' }, take, skip }),
      budget.count({ where }),
    ]);
    return pageOf(await this.records(caller, rows), total, query);
  }

  /** Throws ApiError `not_found` alike for unknown budgets and those that the caller may not see. */
  async read(caller: SessionPrincipal, id: string): Promise<PeriodBudgetRecord> {
    return this.record(caller, await this.visible(caller, id));
  }

  /**
   * Throws ApiError `forbidden` for an org that the caller is not in or whose role does not do; `unprocessable_entity` for a
   * scope that the organization has not; `conflict` for one too many.
   */
  async create(
    caller: SessionPrincipal,
    body: CreateBudgetBody,
    rule: AccessRule,
    request: FastifyRequest,
  ): Promise<CreateAnswer<PeriodBudgetRecord>> {
    const { org_id, scope } = body;
    const { accountId } = accountOf(caller, org_id);
    requireOrgRole(caller, org_id, rule);
    refuseFaults('validation_error', [...scopeFaults(body), ...amountFaults(body), ...rollingFaults(body)]);
    const scope_id =
      scope === 'end_user'
        ? await endUserHashOf(this.database.prisma, accountId, body.scope_id)
        : body.scope_id;
    const nowMs = this.clock.now();
    let uses: PeriodUse[] = [];
    return this.changes.create(request, {
      accounts: [accountId],
      ask: async () => {
        const counted = {
          scope,
          scopeId: scope_id,
          period: body.period,
          timeZone: body.time_zone,
          rollingDays: body.rolling_days,
          countedFromMs: nowMs,
        };
        uses = await this.use.of(accountId, [counted], nowMs);
      },
      make: async (tx) => {
        if (!(await hasScope(tx, body)))
          throw new ApiError('unprocessable_entity', {
            message: `The organization has no ${scope} of this id.`,
            param: 'scope_id',
          });
        await requireRoom(tx, { org_id, scope, scope_id });
        const now = new Date(nowMs);
        const row = await tx.budget.create({
          data: {
            ...{ id: newId('bud', this.clock, this.random), org_id, scope, scope_id },
            ...{ name: body.name, amount_usd: body.amount_usd, period: body.period },
            ...{ time_zone: body.time_zone, rolling_days: body.rolling_days, is_enabled: body.is_enabled },
            ...{ is_hard: body.is_hard, thresholds_pct: body.thresholds_pct },
            ...{ counted_from: now, created_at: now, updated_at: now },
          },
        });
        const audit = budgetAudit('budget.create', row, sentFields(body));
        return { answer: { status: 201, body: { ...budgetToWire(row, uses[0], nowMs) } }, audit };
      },
    });
  }

  async update(
    caller: SessionPrincipal,
    id: string,
    body: UpdateBudgetBody,
    rule: AccessRule,
    request: FastifyRequest,
  ): Promise<PeriodBudgetRecord> {
    return this.change(caller, id, rule, request, (tx, row) => updateBudget(tx, row, body, this.now()));
  }

  raise(
    caller: SessionPrincipal,
    id: string,
    body: RaiseBudgetBody,
    rule: AccessRule,
    request: FastifyRequest,
  ): Promise<PeriodBudgetRecord> {
    const until = new Date(body.until);
    const faults = raiseFaults(body, until.getTime() - this.clock.now());
    return this.setRaise(caller, id, rule, request, { by: body.by_usd, until, faults });
  }

  /** Answers the record too where there was no raise. */
  endRaise(
    caller: SessionPrincipal,
    id: string,
    rule: AccessRule,
    request: FastifyRequest,
  ): Promise<PeriodBudgetRecord> {
    return this.setRaise(caller, id, rule, request, null);
  }

  async remove(
    caller: SessionPrincipal,
    id: string,
    rule: AccessRule,
    request: FastifyRequest,
  ): Promise<void> {
    await this.change(caller, id, rule, request, deleteBudget);
  }

  private setRaise(
    caller: SessionPrincipal,
    id: string,
    rule: AccessRule,
    request: FastifyRequest,
    raise: WantedRaise | null,
  ): Promise<PeriodBudgetRecord> {
    return this.change(caller, id, rule, request, (tx, row) => raiseBudget(tx, row, raise, this.now()));
  }

  /** Throws ApiError `not_found` alike for unknown budgets and those of others, `forbidden` for a role that does not do. */
  private async change(
    caller: SessionPrincipal,
    id: string,
    rule: AccessRule,
    request: FastifyRequest,
    work: (tx: Tx, row: BudgetRow) => Promise<Changed<BudgetRow>>,
  ): Promise<PeriodBudgetRecord> {
    const org_id = { in: caller.memberships.map(({ orgId }) => orgId) };
    const row = await this.database.prisma.budget.findFirst({ where: { id, org_id } });
    if (row?.org_id == null) throw new ApiError('not_found');
    requireOrgRole(caller, row.org_id, rule);
    const answer = await this.changes.run(request, {
      accounts: [accountOf(caller, row.org_id).accountId],
      make: async (tx) => {
        const current = await tx.budget.findUnique({ where: { id } });
        if (current === null) throw new ApiError('not_found');
        return work(tx, current);
      },
    });
    return this.record(caller, answer);
  }

  private async visible(caller: Sessions, id: string): Promise<BudgetRow> {
    const orgIds = caller.memberships.map(({ orgId }) => orgId);
    const where = { AND: [{ id }, await this.visibleTo(caller, orgIds)] };
    const row = await this.database.prisma.budget.findFirst({ where });
    if (row === null) throw new ApiError('not_found');
    return row;
  }

  /** Owners and admins see every budget of an organization, members those of their keys. */
  private async visibleTo(
    { memberships, userId }: Sessions,
    orgIds: readonly string[],
  ): Promise<Prisma.BudgetWhereInput> {
    const asked = memberships.filter(({ orgId }) => orgIds.includes(orgId));
    const idsOf = (isMember: boolean): string[] =>
      asked.filter(({ role }) => (role === 'member') === isMember).map(({ orgId }) => orgId);
    const whole = { org_id: { in: idsOf(false) } };
    const org_id = { in: idsOf(true) };
    if (org_id.in.length === 0) return whole;
    const keys = await this.database.prisma.apiKey.findMany({
      where: { org_id, created_by: userId },
      select: { id: true },
      orderBy: { id: 'desc' },
      take: OWN_KEYS_MAX,
    });
    return { OR: [whole, { org_id, scope: 'key', scope_id: { in: keys.map(({ id }) => id) } }] };
  }

  private async record(caller: Sessions, row: BudgetRow): Promise<PeriodBudgetRecord> {
    const [record] = await this.records(caller, [row]);
    return record;
  }

  private async records(caller: Sessions, rows: readonly BudgetRow[]): Promise<PeriodBudgetRecord[]> {
    const nowMs = this.clock.now();
    const uses = new Map<BudgetRow, PeriodUse>();
    for (const [orgId, ofOrg] of Map.groupBy(rows, ({ org_id }) => org_id)) {
      const { accountId } = accountOf(caller, orgId);
      const found = await this.use.of(accountId, ofOrg.map(grantOf), nowMs);
      for (const [index, row] of ofOrg.entries()) uses.set(row, found[index]);
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

/** An org that does not exist answers like one that the caller is not in. */
function accountOf(caller: Sessions, orgId: string | null): { accountId: string } {
  const membership = caller.memberships.find((candidate) => candidate.orgId === orgId);
  if (membership !== undefined) return membership;
  throw new ApiError('forbidden', { message: 'You are not a member of this organization.', param: 'org_id' });
}

async function hasScope(tx: Tx, { org_id, scope, scope_id: id }: CreateBudgetBody): Promise<boolean> {
  switch (scope) {
    case 'org':
      return id === org_id;
    case 'team':
      return (await tx.team.count({ where: { id, org_id } })) > 0;
    case 'member':
      return (await tx.membership.count({ where: { user_id: id, org_id, removed_at: null } })) > 0;
    case 'key':
      return (await tx.apiKey.count({ where: { id, org_id } })) > 0;
    case 'tag':
    case 'end_user':
      return true;
  }
}

/** Throws ApiError `conflict` for one too many. It runs behind the lock of the account, so no other create comes between. */
async function requireRoom(
  tx: Tx,
  { org_id, ...scoped }: { org_id: string; scope: string; scope_id: string },
): Promise<void> {
  if ((await tx.budget.count({ where: { org_id, ...scoped } })) >= PER_SCOPE_MAX)
    throw new ApiError('conflict', {
      message: `One ${scoped.scope} has at most ${PER_SCOPE_MAX} budgets.`,
    });
  if ((await tx.budget.count({ where: { org_id } })) >= PER_ORG_MAX)
    throw new ApiError('conflict', { message: `An organization has at most ${PER_ORG_MAX} budgets.` });
  if (!CARRIED_SCOPES.includes(scoped.scope)) return;
  const scope = { in: CARRIED_SCOPES };
  if ((await tx.budget.count({ where: { org_id, scope } })) >= CARRIED_PER_ORG_MAX)
    throw new ApiError('conflict', {
      message: `An organization has at most ${CARRIED_PER_ORG_MAX} budgets of tags and end users.`,
    });
}
