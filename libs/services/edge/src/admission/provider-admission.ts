import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  LimitStore,
  providerAccount,
  type AdmitRequest,
  type AdmitResult,
  type BudgetGrant,
  type Clock,
  type LimitScope,
  type PutUnit,
} from '@gateway/contracts';
import { budgetCounters, LEASE_MS, trialChecks, unitScopes } from '@gateway/limits';
import { CLOCK } from '@gateway/platform';
import type { Plan, PlannedRoute } from '@gateway/routing';
import { PlatformPools } from '../config/platform-pools.js';
import {
  Admission,
  Rejected,
  type AdmissionOf,
  type AdmittedUnit,
  type PlannedUnit,
  type PricedPlan,
  type ProviderHold,
} from './admission.js';
import { PostedTotals } from './posted-totals.js';

/** Version of every provider's account: an edge learns of changes with its pools. */
const VERSION = 1;
/** Stale once, missing once, one of each again after a failover, a reading anew and a release of what is posted. */
const ROUNDS_MAX = 6;
const MINUTE_MS = 60_000;
/** A period may end in months: a caller that obeys comes again in between, because a budget may be raised. */
const WAIT_MAX_SECONDS = 60;
/** Terms of the platform at a provider: no discount and no key of a customer's. */
const AT_LIST = { discountPct: null, byok: { served: false, feePct: '0' } };

/** The answer of the budgets of one provider: a hold, or the seconds until they may let something in. */
type Verdict = { hold: ProviderHold | null } | { closedSeconds: number };

type Timed = Pick<AdmissionOf, 'unitId' | 'requestedAtMs'>;

/**
 * Admission where providers have budgets: the most that the platform may owe is held on the hard budgets of each provider
 * of the plan. It is held in the same trip as the scopes of the key. Each provider has an account of its own in the limit
 * store, so that the protocol of money holds for it as it stands. A provider without room leaves the plan.
 */
@Injectable()
export class ProviderAdmission {
  constructor(
    readonly admission: Admission,
    readonly pools: PlatformPools,
    private readonly limits: LimitStore,
    private readonly totals: PostedTotals,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Admits as `Admission.admit` does. Throws ApiError `provider_not_available` where no route is left. */
  admit(of: AdmissionOf): Promise<AdmittedUnit | Rejected> {
    return this.within(of, () => this.admission.admit(of));
  }

  /** Lets in what nothing but the budgets of its providers may refuse. Throws ApiError `provider_not_available`. */
  async letInWithin(of: Omit<AdmissionOf, 'again'>): Promise<AdmittedUnit> {
    const letIn = (): AdmittedUnit => this.admission.letIn(of.unitId, of.requestedAtMs, of.planned);
    const admitted = await this.within(of, () => Promise.resolve(letIn()));
    if (admitted instanceof Rejected) throw admitted.error;
    return admitted;
  }

  /** Lets in as `Admission.letIn` does: what has been done is owed, whatever is left. */
  letIn(unitId: string, requestedAtMs: number, planned: PlannedUnit): AdmittedUnit {
    const admitted = this.admission.letIn(unitId, requestedAtMs, planned);
    if (this.pools.budgets === undefined) return admitted;
    const holds = this.wanted(planned).flatMap(([slug, budgets]) => {
      const request = this.requestFor({ unitId, requestedAtMs }, slug, planned, budgets);
      return request === null
        ? []
        : [{ request, minute: Math.floor(this.clock.now() / MINUTE_MS), isNew: true }];
    });
    return { ...admitted, holds, budgets: this.counting(admitted) };
  }

  /** Gives back everything that an admitted unit holds. */
  cancel({ admitRequest, holds = [] }: AdmittedUnit): void {
    this.admission.cancel(admitRequest);
    for (const { request } of holds) this.admission.cancel(request);
  }

  /** Returns what the hard budgets of a provider are asked for one plan; null where it has none, or nothing can be owed. */
  askedOf(of: Timed, slug: string, planned: PricedPlan): AdmitRequest | null {
    const budgets = this.pools.budgets?.get(slug);
    return budgets === undefined ? null : this.requestFor(of, slug, planned, budgets);
  }

  /** Returns the request that stands for an amount on the hard budgets of a provider; null where it has none. */
  holding(of: Timed, slug: string): AdmitRequest | null {
    const budgets = this.pools.budgets?.get(slug);
    return budgets === undefined ? null : holdingOn(of, slug, budgets);
  }

  /** Holds the amount in place of what the unit held before, for the time of a lease; 0 lets it go. */
  async hold(request: AdmitRequest, nano: bigint): Promise<void> {
    const { accountId, unitId: unit, leaseMs } = request;
    const counts = { scopes: unitScopes(request), tokens: 0, tokenEstimate: 0, minute: 0, leaseMs };
    const put = (action: PutUnit['action']): PutUnit => ({ accountId, unit, action, nano, ...counts });
    // Cancelled first: a renewal alone keeps the amount.
    await this.limits.put([put('cancel'), ...(nano > 0n ? [put('renew')] : [])]);
  }

  /**
   * True if this amount fits beside what is spent and held on the budgets that the request asks; nothing more is held. Admission lets one unit pass the end of a
   * budget, and this one may be large. Throws where the budgets cannot be asked.
   */
  async fits(request: AdmitRequest, nano: bigint): Promise<boolean> {
    const { limits, totals } = this;
    let isFreed = false;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const trial = await limits.trial(request);
      switch (trial.result.kind) {
        case 'ok':
        case 'refused':
        case 'doubted': {
          const checks = trialChecks(request, trial);
          if (checks.every(({ current, limit }) => current + nano <= limit)) return true;
          if (isFreed) return false;
          isFreed = true;
          await totals.free(request.accountId);
          await totals.refresh(request);
          break;
        }
        case 'stale':
          await limits.stamp(request.accountId, VERSION, trial.result.gen);
          break;
        case 'missing':
          await totals.seed(request, trial.result.gen);
          break;
        case 'gone':
        case 'unavailable':
          throw new Error('the budgets of a provider cannot be asked');
      }
    }
    throw new Error('the budgets of a provider did not settle');
  }

  private async within(
    of: Omit<AdmissionOf, 'again'>,
    admit: () => Promise<AdmittedUnit | Rejected>,
  ): Promise<AdmittedUnit | Rejected> {
    if (this.pools.budgets === undefined) return admit();
    const verdicts = new Map<string, Promise<Verdict>>();
    this.ask(of, of.planned, verdicts);
    let left: AdmittedUnit | null = null;
    try {
      const decided = await admit();
      if (decided instanceof Rejected) return decided;
      // It was planned again where its key has changed meanwhile.
      if (decided.plan !== of.planned.plan) this.ask(of, decided, verdicts);
      left = await this.onOpenRoutes(decided, verdicts);
      return left;
    } finally {
      await this.release(verdicts, left?.holds ?? []);
    }
  }

  /** Asks the providers of a plan that were not asked before. */
  private ask(of: Timed, planned: PlannedUnit, verdicts: Map<string, Promise<Verdict>>): void {
    for (const [slug, budgets] of this.wanted(planned)) {
      if (verdicts.has(slug)) continue;
      const request = this.requestFor(of, slug, planned, budgets);
      verdicts.set(
        slug,
        request === null ? Promise.resolve({ hold: null }) : this.held(request, budgets, of),
      );
    }
  }

  private async onOpenRoutes(
    decided: AdmittedUnit,
    verdicts: ReadonlyMap<string, Promise<Verdict>>,
  ): Promise<AdmittedUnit> {
    const { plan } = decided;
    const holds: ProviderHold[] = [];
    const closed = new Map<string, number>();
    for (const [slug] of this.wanted(decided)) {
      const verdict = await verdicts.get(slug);
      if (verdict === undefined) continue;
      if ('closedSeconds' in verdict) closed.set(slug, verdict.closedSeconds);
      else if (verdict.hold !== null) holds.push(verdict.hold);
    }
    const routes = plan.routes.filter((one) => !isOwed(one) || !closed.has(one.route.provider));
    if (routes.length === 0) {
      this.admission.cancel(decided.admitRequest);
      throw new ApiError('provider_not_available', { retryAfterSeconds: Math.min(...closed.values()) });
    }
    const open = routes.length === plan.routes.length ? plan : { ...plan, routes };
    return { ...decided, plan: open, holds, budgets: this.counting(decided) };
  }

  /** Cancels holds that nothing uses. */
  private async release(
    verdicts: ReadonlyMap<string, Promise<Verdict>>,
    used: readonly ProviderHold[],
  ): Promise<void> {
    for (const asked of verdicts.values()) {
      const verdict = await asked;
      if ('hold' in verdict && verdict.hold !== null && !used.includes(verdict.hold))
        this.admission.cancel(verdict.hold.request);
    }
  }

  /** Budgets of the providers that a plan may owe something, by slug. */
  private wanted({ plan, cached }: Pick<PlannedUnit, 'plan' | 'cached'>): [string, readonly BudgetGrant[]][] {
    if (cached !== null) return [];
    const slugs = new Set(plan.routes.filter(isOwed).map(({ route }) => route.provider));
    return [...slugs].flatMap((slug): [string, readonly BudgetGrant[]][] => {
      const budgets = this.pools.budgets?.get(slug);
      return budgets === undefined ? [] : [[slug, budgets]];
    });
  }

  /** Returns all budgets that count the unit. */
  private counting(admitted: AdmittedUnit): readonly BudgetGrant[] {
    return [...(admitted.budgets ?? []), ...this.wanted(admitted).flatMap(([, budgets]) => budgets)];
  }

  private requestFor(
    { unitId, requestedAtMs }: Timed,
    slug: string,
    planned: PricedPlan,
    budgets: readonly BudgetGrant[],
  ): AdmitRequest | null {
    const holding = holdingOn({ unitId, requestedAtMs }, slug, budgets);
    if (holding === null) return null;
    const { principal, asked } = planned;
    const plan = { ...planned.plan, routes: atList(planned.plan, slug) };
    const { reservationNano, worstNano } = this.admission.requestFor(unitId, requestedAtMs, {
      ...{ principal, asked, plan },
    });
    if (reservationNano === 0n) return null;
    return { ...holding, reservationNano, worstNano };
  }

  /** Asks the store and never rejects: a provider whose budgets cannot be asked is closed for this request. */
  private async held(
    request: AdmitRequest,
    budgets: readonly BudgetGrant[],
    { requestedAtMs }: Timed,
  ): Promise<Verdict> {
    try {
      return await this.decided(request, budgets, requestedAtMs);
    } catch {
      // It may have been counted.
      this.admission.cancel(request);
      return { closedSeconds: 1 };
    }
  }

  private async decided(
    request: AdmitRequest,
    budgets: readonly BudgetGrant[],
    requestedAtMs: number,
  ): Promise<Verdict> {
    const { limits, totals } = this;
    let isFreed = false;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const result = await limits.admit(request);
      switch (result.kind) {
        case 'ok':
          return { hold: { request, minute: result.minute, isNew: result.withoutStore !== undefined } };
        case 'stale':
          await limits.stamp(request.accountId, VERSION, result.gen);
          break;
        case 'missing':
          await totals.seed(request, result.gen);
          break;
        case 'refused': {
          const endMs = endOf(result, budgets, requestedAtMs);
          if (endMs === null && (await totals.refresh(request))) break;
          return { closedSeconds: result.rejection.reservationsOnly ? 1 : this.secondsTo(endMs) };
        }
        case 'doubted':
          if (isFreed) return { closedSeconds: 1 };
          isFreed = true;
          await totals.free(request.accountId);
          break;
        case 'gone':
        case 'unavailable':
          return { closedSeconds: 1 };
      }
    }
    throw new Error('the budgets of a provider did not settle');
  }

  private secondsTo(endMs: number | null): number {
    if (endMs === null) return WAIT_MAX_SECONDS;
    return Math.min(WAIT_MAX_SECONDS, Math.max(1, Math.ceil((endMs - this.clock.now()) / 1_000)));
  }
}

/** Returns a request for nothing on the hard budgets; null where there is none. */
function holdingOn(
  { unitId, requestedAtMs }: Timed,
  slug: string,
  budgets: readonly BudgetGrant[],
): AdmitRequest | null {
  const scopes = budgetCounters(
    budgets.filter(({ isHard }) => isHard !== false),
    requestedAtMs,
  ).map(({ name, capNano = null }): LimitScope => ({
    ...{ kind: 'provider', id: `${slug}/${name}`, rpm: null, rpd: null, tpm: null },
    capNano,
  }));
  if (scopes.length === 0) return null;
  return {
    ...{ accountId: providerAccount(slug), accountVersion: VERSION, unitId, scopes, extra: [] },
    ...{ creditLimitNano: null, reservationNano: 0n, worstNano: 0n, tokenEstimate: 0, leaseMs: LEASE_MS },
  };
}

/** True of a route on the platform's credentials. */
function isOwed({ terms }: PlannedRoute): boolean {
  return !terms.byok.served;
}

/** Routes of a provider that the platform pays for, at its list price. */
function atList({ routes }: Plan, slug: string): PlannedRoute[] {
  return routes
    .filter((one) => isOwed(one) && one.route.provider === slug)
    .map((one) => ({ ...one, terms: { ...one.terms, ...AT_LIST } }));
}

/** Returns the end of the period that refused; null of a rolling one. */
function endOf(
  { rejection }: AdmitResult & { kind: 'refused' },
  budgets: readonly BudgetGrant[],
  atMs: number,
): number | null {
  const counter = budgetCounters(budgets, atMs).find(({ name }) => rejection.scopeId.endsWith(`/${name}`));
  return counter?.budget?.endMs ?? null;
}
