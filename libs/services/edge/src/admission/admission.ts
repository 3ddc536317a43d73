import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  LimitStore,
  type AdmitRequest,
  type AdmitResult,
  type BudgetGrant,
  type Clock,
  type KeyPrincipal,
  type Random,
  type LimitRejection,
  type Trial,
} from '@gateway/contracts';
import type { Asked, StoredRequest } from '@gateway/endpoints';
import {
  admitRequest,
  LEASE_MS,
  SettlementQueue,
  rejectionError,
  rateHeaders,
  unitScopes,
  type Admitted,
  type RejectedAdmission,
} from '@gateway/limits';
import { reservation, type SentInput } from '@gateway/money';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import type { Plan } from '@gateway/routing';
import type { CachedAnswer } from '../cache/response-cache.js';
import { EdgeMetrics } from '../metrics/edge-metrics.js';
import { fittingRejection, fittingRequest } from './fitting.js';
import { holdingBudgets } from './holding-budgets.js';
import { OutputSizes } from './output-sizes.js';
import { PostedTotals } from './posted-totals.js';
import { Settling } from './settling.js';

/** A request whose routes are known: ready to be admitted. */
export interface PlannedUnit {
  readonly principal: KeyPrincipal;
  readonly asked: Asked;
  readonly plan: Plan;
  /** Tags of the key and of the request. */
  readonly tags: Record<string, string>;
  /** Record to store once the request is answered; null for none. */
  readonly storedRequest: StoredRequest | null;
  /** Name under which the answer is cached; null: it is not. */
  readonly cacheName: string | null;
  /** The answer is there already: the unit counts as a request, and asks for no money. */
  readonly cached: CachedAnswer | null;
  /** Memory was attached: what the request may cost has to fit the money that is left. */
  readonly hasMemory: boolean;
}

/** The admission refused: a rejection record needs to know which limit, and the caller gets the error. */
export class Rejected {
  constructor(
    readonly error: ApiError,
    readonly rejection: LimitRejection,
    /** Rate headers of the key, which is not always what refused. */
    readonly rateHeaders: Readonly<Record<string, string>>,
    /** Model of the plan that was refused. */
    readonly model: string,
  ) {}
}

export interface AdmittedUnit extends PlannedUnit {
  readonly admitRequest: AdmitRequest;
  readonly counted: Admitted;
  /** Budgets that count it; absent = none. */
  readonly budgets?: readonly BudgetGrant[];
  /** Holds on the hard budgets of the providers of its plan; absent = none has any. */
  readonly holds?: readonly ProviderHold[];
}

/** The most that the platform may owe a provider for a unit, held on the provider's hard budgets. */
export interface ProviderHold {
  readonly request: AdmitRequest;
  /** The minute that admission counted in. */
  readonly minute: number;
  /** The limit store does not know it yet. */
  readonly isNew: boolean;
}

/** A request that can be planned again for the newest version of its key. */
export interface Plannable {
  /** Reads the principal past every cache; throws where the key may no longer call. */
  reload(): Promise<KeyPrincipal>;
  /** Throws ApiError where the request may not be served. */
  planFor(principal: KeyPrincipal): PlannedUnit | Promise<PlannedUnit>;
}

/** One admission: a unit's name and plan, and the way to plan it again. */
export interface AdmissionOf {
  unitId: string;
  /** Time of its usage event: the periods of budgets go by it. */
  requestedAtMs: number;
  planned: PlannedUnit;
  again: Plannable;
}

/** The parts of a plan that its cost depends on. */
export type PricedPlan = Pick<PlannedUnit, 'principal' | 'asked' | 'plan'> &
  Partial<Pick<PlannedUnit, 'cached'>>;

type Answered = Exclude<AdmitResult, { kind: 'unavailable' }>;

/** The trips of one admission to the limit store. */
interface Trips {
  store: Pick<LimitStore, 'admit'>;
  /** False for a dry run, of which nothing is counted. */
  isCounted: boolean;
  /** A count that the store may have made though its answer did not come. */
  unsure: AdmitRequest | null;
  waits: number;
}

/** A dry run of an admission, and what the store would have answered. */
export interface DryRun {
  request: AdmitRequest;
  trial: Trial;
}

/**
 * More rounds than the protocol needs: stale once, missing once, one of each again after a failover, and one after each
 * of what may be asked again.
 */
const ROUNDS_MAX = 8;

/** A store that was slow for a moment is asked again after its next probe: most are back by then. */
const UNAVAILABLE_WAITS_MAX = 10;
const UNAVAILABLE_WAIT_MS = 100;

/** Output assumed without a limit, a history or a model's bound. */
const LIKELY_OUTPUT_TOKENS = 1_024;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Time after its admission in which an attempt of a request may begin. */
const REQUEST_LASTS_MS = HOUR_MS / 2;
/** The same of longer work, by what its money is held as. */
const LASTS_MS: Readonly<Record<string, number>> = { batch: 24 * HOUR_MS, video: 2 * HOUR_MS };

/** Admission of units over every scope of their keys. */
@Injectable()
export class Admission {
  constructor(
    private readonly limits: LimitStore,
    private readonly totals: PostedTotals,
    private readonly settlementQueue: SettlementQueue,
    private readonly settling: Settling,
    private readonly outputs: OutputSizes,
    private readonly metrics: EdgeMetrics,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /**
   * Plans for the caller. A rejection of it must not rest on an old principal: it never reaches admission, which would find
   * that out. So the version is compared here, and an older principal read again.
   */
  async plan(principal: KeyPrincipal, again: Plannable): Promise<PlannedUnit> {
    try {
      const planned = again.planFor(principal);
      return planned instanceof Promise ? await planned : planned;
    } catch (rejection) {
      if (!(rejection instanceof ApiError) || (await this.isCurrent(principal))) throw rejection;
      return again.planFor(await again.reload());
    }
  }

  /**
   * Admits the unit over every scope: one awaited trip on the warm path. A stale principal is reloaded and everything that
   * rested on it planned again; posted totals that the store does not know are mirrored first. Where the answer rests on
   * what has ended here and is not settled yet, that is settled and the store asked once more. Returns Rejected; throws
   * ApiError where the reloaded key may no longer call, and service_unavailable where it cannot be decided.
   */
  async admit(of: AdmissionOf): Promise<AdmittedUnit | Rejected> {
    const trips: Trips = { store: this.limits, isCounted: true, unsure: null, waits: 0 };
    let result: AdmittedUnit | Rejected | null = null;
    try {
      result = await this.decide(of, trips);
      return result;
    } finally {
      if (trips.unsure !== null && (result === null || result instanceof Rejected)) this.cancel(trips.unsure);
    }
  }

  /** Decides as `admit` does, and counts nothing. `onTrial` receives each answer of the store. */
  tryOut(of: AdmissionOf, onTrial?: (run: DryRun) => void): Promise<AdmittedUnit | Rejected> {
    const admit = async (request: AdmitRequest): Promise<AdmitResult> => {
      const trial = await this.limits.trial(request);
      onTrial?.({ request, trial });
      return trial.result;
    };
    return this.decide(of, { store: { admit }, isCounted: false, unsure: null, waits: 0 });
  }

  /**
   * Admits what its provider has done already: a limit that is full by now would make it free. The store learns of the unit
   * as of one that was let in while it was unavailable; it counts no request, because the provider ran it at its own pace.
   */
  letIn(unitId: string, requestedAtMs: number, planned: PlannedUnit): AdmittedUnit {
    const budgets = holdingBudgets(planned);
    const admitRequest = this.requestFor(unitId, requestedAtMs, planned, budgets);
    const counters = admitRequest.scopes.map(({ kind, id }) => ({ kind, id, rpm: 0, rpd: 0, tpm: 0 }));
    const minute = Math.floor(this.clock.now() / MINUTE_MS);
    const counted = { kind: 'ok', counters, minuteResetSeconds: 0, minute, withoutStore: 'unasked' } as const;
    return { ...planned, admitRequest, counted, budgets };
  }

  /** Cancels a unit whose late admission may have been counted, which is harmless where it was not. */
  cancel(request: AdmitRequest): void {
    const { accountId, unitId, tokenEstimate } = request;
    this.settlementQueue.add({
      accountId,
      unit: unitId,
      action: 'cancel',
      nano: 0n,
      scopes: unitScopes(request),
      tokens: 0,
      tokenEstimate,
      minute: 0,
      leaseMs: LEASE_MS,
    });
  }

  /** Every scope of the unit with the money and the tokens that it may cost. */
  requestFor(
    unitId: string,
    requestedAtMs: number,
    { principal, asked, plan, cached }: PricedPlan,
    budgets = principal.budgets,
  ): AdmitRequest {
    // Not always the model asked for: where no route of that can serve, fallbacks of the policy do.
    const { record } = plan.routes[0].model;
    const model = { id: record.id, isFree: record.is_free };
    if (cached) {
      const free = { nano: 0n, worstNano: 0n, tokens: 0, requestedAtMs };
      return admitRequest(principal, model, unitId, free, budgets);
    }
    const likely = this.outputs.p95(principal.accountId, record.id);
    const { requires } = asked;
    const input = asked.nativeBytes === undefined ? asked.input : expectedInput(asked, plan.routes);
    const heldAs = asked.tier === 'batch' ? 'batch' : asked.heldAs;
    const fromMs = this.clock.now();
    const reserved = reservation({
      routes: plan.routes.map(({ route, terms }) => ({
        ...terms,
        maxOutputTokens: route.maxOutputTokens,
        contextLength: route.contextLength,
        p95OutputTokens: likely,
      })),
      begins: { fromMs, untilMs: fromMs + (LASTS_MS[heldAs ?? ''] ?? REQUEST_LASTS_MS) },
      tier: asked.tier,
      input,
      maxTokens: asked.maxOutputTokens,
      choices: asked.choices,
      writesCache: asked.writesCache,
      wantsAudio: requires.some((one) => 'output' in one && one.output === 'audio'),
      wantsImages: requires.some((one) => 'output' in one && one.output === 'image'),
      billableUnits: asked.billableUnits,
      context: asked.context,
    });
    const output = asked.maxOutputTokens ?? likely ?? LIKELY_OUTPUT_TOKENS;
    const tokens = reserved.inputTokens + output;
    const money = { nano: reserved.reserved_nano, worstNano: reserved.worst_case_nano };
    return admitRequest(principal, model, unitId, { ...money, tokens, requestedAtMs, heldAs }, budgets);
  }

  private async decide(
    { unitId, requestedAtMs, planned: first, again }: AdmissionOf,
    trips: Trips,
  ): Promise<AdmittedUnit | Rejected> {
    const { limits, totals, random, settling } = this;
    let planned = first;
    let isFreed = false;
    let isSettled = false;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const { carriedBudgets, budgets: own } = planned.principal;
      // Asked here as well: a key without them runs not a function more.
      const budgets = carriedBudgets === undefined ? own : holdingBudgets(planned);
      const admitRequest = this.requestFor(unitId, requestedAtMs, planned, budgets);
      const result = await this.ask(planned.hasMemory ? fittingRequest(admitRequest) : admitRequest, trips);
      switch (result.kind) {
        case 'ok': {
          // What has ended here since would use up what the store saw as left: it is asked with that.
          const isOverspent = settling.spent(admitRequest.accountId) >= (result.remainingNano ?? Infinity);
          if (isSettled || !isOverspent) return { ...planned, admitRequest, counted: result, budgets };
          isSettled = true;
          if (trips.isCounted) this.cancel(admitRequest);
          await settling.reported(admitRequest.accountId);
          break;
        }
        case 'refused': {
          if (!isSettled && result.rejection.reservationsOnly && settling.has(admitRequest.accountId)) {
            isSettled = true;
            await settling.reported(admitRequest.accountId);
            break;
          }
          if (result.rejection.budget?.endMs === null && (await totals.refresh(admitRequest))) break;
          const rejection = planned.hasMemory
            ? fittingRejection(result.rejection, admitRequest)
            : result.rejection;
          const isMoney = rejection.resetsInSeconds === null;
          const unbilled = isMoney ? onOwnKeys(planned) : null;
          if (unbilled === null)
            return refused(planned, rejection, { request: admitRequest, result }, random);
          planned = unbilled;
          break;
        }
        case 'stale': {
          const principal = await again.reload();
          await limits.stamp(principal.accountId, principal.accountVersion, result.gen);
          planned = await again.planFor(principal);
          break;
        }
        case 'missing':
          await totals.seed(admitRequest, result.gen);
          break;
        case 'gone':
          // A batch line runs again after a crash: 503 until its first event is posted; the ledger drops the second one.
          throw unavailable(random, new Error(`unit ${unitId} was settled before it was admitted`));
        case 'doubted':
          // Some spend may be counted in Redis and in the ledger. It is freed once; then a final 402 could still be false for
          // some seconds, so the answer is 503.
          if (isFreed) throw new ApiError('service_unavailable', { retryAfterSeconds: 1, shouldRetry: true });
          isFreed = true;
          await totals.free(admitRequest.accountId);
      }
    }
    throw unavailable(random, new Error('admission did not settle'));
  }

  /** Asks until the store can say. Throws ApiError where it is unavailable for too long. */
  private async ask(request: AdmitRequest, trips: Trips): Promise<Answered> {
    const { metrics, clock } = this;
    for (;;) {
      const startedMs = clock.monotonic();
      let result: AdmitResult | null = null;
      try {
        result = await trips.store.admit(request);
      } finally {
        if (result === null || result.withoutStore === 'unsure') trips.unsure = request;
        if (trips.isCounted) metrics.admitted(result, clock.monotonic() - startedMs);
      }
      if (result.kind !== 'unavailable') return result;
      if (trips.waits === UNAVAILABLE_WAITS_MAX)
        throw unavailable(
          this.random,
          new Error('the limit store is unavailable and the local share cannot decide'),
        );
      trips.waits += 1;
      await clock.sleep(UNAVAILABLE_WAIT_MS);
    }
  }

  /** Counts the principal as old where the store is unreachable or does not know the version: the reader decides. */
  private async isCurrent({ accountId, accountVersion }: KeyPrincipal): Promise<boolean> {
    try {
      const newest = await this.limits.version(accountId);
      return newest !== null && newest <= accountVersion;
    } catch {
      return false;
    }
  }
}

/** Returns the input sent, with what is added for an upstream of the caller's own dialect where a route has it. */
export function expectedInput({ input, dialect, nativeBytes = 0 }: Asked, routes: Plan['routes']): SentInput {
  if (!routes.some(({ route }) => route.dialect === dialect)) return input;
  return { ...input, inputBytes: input.inputBytes + nativeBytes };
}

function refused(
  { principal, plan }: PlannedUnit,
  rejection: LimitRejection,
  { request, result }: { request: AdmitRequest; result: RejectedAdmission },
  random: Random,
): Rejected {
  const error = rejectionError(rejection, random, principal);
  return new Rejected(error, rejection, rateHeaders(request.scopes, result), plan.model.record.id);
}

/**
 * Returns the same plan on the account's own provider keys alone, for an account without money; null where that changes
 * nothing or leaves nothing.
 */
function onOwnKeys(planned: PlannedUnit): PlannedUnit | null {
  const { plan } = planned;
  const routes = plan.routes.filter(({ terms }) => terms.byok.served);
  if (routes.length === 0 || routes.length === plan.routes.length) return null;
  return { ...planned, plan: { ...plan, routes } };
}
