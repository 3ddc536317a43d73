import {
  TOPIC,
  extraScope,
  newId,
  type ApiError,
  type AttemptRecord,
  type Clock,
  type PricedFrom,
  type Random,
  type UnitUsage,
  type UsageRecord,
} from '@gateway/contracts';
import { Journal, type IntentFacts, type SettleFacts, type UsageRest } from '@gateway/journal';
import { SettlementQueue, budgetReadings, limitReadings, unitScopes } from '@gateway/limits';
import {
  chargeFor,
  estimateTokens,
  priceAt,
  settledNano,
  type Charge,
  type Disconnect,
} from '@gateway/money';
import type { PlannedRoute } from '@gateway/routing';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import type { AdmittedUnit } from '../admission/admission.js';
import { Settling } from '../admission/settling.js';
import type { InferenceRequest } from '../request/inference-request.js';
import type { AttemptState, UnitEnd } from './meter.js';
import { callerEndUserHash } from '../request/end-user-hash.js';
import { Revocations } from './revocations.js';
import { settledHolds } from './settled-holds.js';
import { UnitObserver } from './unit-observer.js';
import { InFlight, renewals } from './in-flight.js';

/** The parts of the process that every unit writes to. */
interface UnitSinks {
  readonly journal: Journal;
  readonly settling: Pick<Settling, 'add' | 'reported'>;
  readonly observer: UnitObserver;
  readonly clock: Clock;
  readonly random: Random;
}

const MINUTE_MS = 60_000;
/** Largest difference of a unit's time from the limit store's: a body takes its time, and clocks differ. */
const CLOCKS_APART_MS = 10 * MINUTE_MS;

/** Requests of a caller that may have ended within the milliseconds that a settle takes to the limit store. */
const NEAR_REQUESTS = 8;

const NO_CHARGE: Charge = {
  cost_usd: null,
  list_cost_usd: null,
  house_usd: '0',
  usage: null,
  usage_estimated: false,
};

/** An admitted unit from its INTENT to its OUTCOME: one usage event, one cost, written exactly once. */
export class Unit {
  readonly attempts: AttemptState[] = [];
  readonly facts: IntentFacts;
  private isFinished = false;

  /** Writes the INTENT. False: the journal takes no unit now, and the request must be refused. */
  static open(request: InferenceRequest, admitted: AdmittedUnit, sinks: UnitSinks): Unit | null {
    const unit = new Unit(request, admitted, sinks);
    const { unitId: id, accountId } = admitted.admitRequest;
    return sinks.journal.intent({ unit: id, accountId, facts: unit.facts }) ? unit : null;
  }

  private constructor(
    readonly request: InferenceRequest,
    readonly admitted: AdmittedUnit,
    private readonly sinks: UnitSinks,
  ) {
    const { principal, plan, asked } = admitted;
    const { shadowOf } = request.origin;
    const budgets = admitted.budgets && budgetReadings(admitted.budgets, request.receivedAtMs);
    // The 30 days of caps count by it: no clock of a process that stands behind may hide what is spent there.
    const requestedAtMs = Math.max(
      request.receivedAtMs,
      admitted.counted.minute * MINUTE_MS - CLOCKS_APART_MS,
    );
    this.facts = {
      request_id: request.requestId,
      unit: request.unitIndex,
      account_id: principal.accountId,
      org_id: principal.orgId,
      team_id: principal.teamId,
      member_id: principal.createdBy,
      key_id: principal.keyId,
      endpoint: request.path,
      model: plan.model.record.id,
      requested_model: plan.requestedModel,
      stream: asked.stream,
      created_at: new Date(requestedAtMs).toISOString(),
      byok_used: !admitted.cached && plan.routes[0].terms.byok.served,
      request_tags: admitted.tags,
      end_user_hash: asked.endUser === null ? null : callerEndUserHash(principal, asked.endUser),
      api_version: request.apiVersion,
      limits: readings(admitted),
      ...(budgets === undefined ? {} : { budgets }),
      ...(principal.billing === undefined ? {} : { billing: principal.billing }),
      ...(shadowOf === undefined ? {} : { shadow_of: shadowOf }),
    };
  }

  /** Its OUTCOME is written: what follows is bytes only. */
  get isOver(): boolean {
    return this.isFinished;
  }

  /** True once another route than the plan's first is used. */
  isFallback(plannedRoute: PlannedRoute): boolean {
    return plannedRoute.route !== this.admitted.plan.routes[0].route;
  }

  /**
   * Prices the unit and writes its OUTCOME; from then on kill -9 loses nothing. Resolves when the last bytes may leave: near a
   * limit once the limit store knows what the unit cost, so that the next request meets it. Only the first call counts.
   */
  finish(end: UnitEnd, disconnect: Disconnect | null = null): Promise<void> {
    if (this.isFinished) return Promise.resolve();
    this.isFinished = true;
    const charge = this.charge(end, disconnect);
    const usage = charge.usage ?? this.attempts.at(-1)?.meter.usage ?? this.admitted.cached?.usage ?? {};
    const { facts } = this;
    const { journal, observer, settling } = this.sinks;
    const rest = this.rest(end, charge, usage);
    observer.ended(this, end, { usage, isEstimated: charge.usage_estimated, rest });
    const settle = this.settle(charge, usage, rest);
    const used = this.attempts.at(-1)?.plannedRoute;
    const model = used?.model.record.id ?? facts.model;
    const byok_used = used?.terms.byok.served ?? facts.byok_used;
    const receipt =
      model === facts.model && byok_used === facts.byok_used
        ? journal.finish(settle.unit, facts.account_id, rest, settle)
        : journal.outcome(TOPIC.usage, facts.account_id, { ...facts, ...rest, model, byok_used }, settle);
    const { accountId, unitId } = this.admitted.admitRequest;
    const nano = Number(settle.nano);
    settling.add({ accountId, unit: unitId, nano });
    const written = journal.commit(receipt, facts.org_id);
    return this.isNear(nano) ? written.then(() => settling.reported(accountId)) : written;
  }

  /** True if a few requests like this one would use up what was left when it was admitted. */
  private isNear(nano: number): boolean {
    const { admitRequest, counted } = this.admitted;
    const { remainingNano } = counted;
    if (remainingNano == null) return false;
    return (
      remainingNano <
      NEAR_REQUESTS * Math.max(nano, Number(admitRequest.worstNano ?? admitRequest.reservationNano))
    );
  }

  private charge(end: UnitEnd, disconnect: Disconnect | null): Charge {
    const last = this.attempts.at(-1);
    // A caller that left while nothing was under way for it owes nothing; the attempts before are the platform's.
    if (!last || (end.outcome === 'cancelled' && hasFailed(last))) return NO_CHARGE;
    const { meter } = last;
    const { finalUsage } = meter;
    const isFailed = end.outcome === 'failed';
    // Nothing is estimated of an answer whose provider has counted it whole.
    const isCounted = !isFailed && disconnect === null && finalUsage !== null;
    const traffic = isCounted || (isFailed && !meter.hasEvents) ? null : meter.traffic;
    return chargeFor({
      ...last.plannedRoute.terms,
      // The price in force when the attempt was begun at its provider.
      record: priceAt(last.plannedRoute.terms.record, last.startedAtMs).record,
      context: this.context(last),
      outcome: isFailed ? 'failed' : 'served',
      usage: finalUsage && { requests: 1, ...finalUsage },
      ...(!isCounted && { reported: { requests: 1, ...meter.counted } }),
      traffic: traffic && { ...traffic, hiddenTokens: disconnect === null ? 0 : this.hiddenTokens(last) },
      disconnect,
    });
  }

  /**
   * Returns the tokens that the model may have used before its first output, for a caller that left, within its own
   * bound.
   */
  private hiddenTokens({ meter, plannedRoute }: AttemptState): number {
    if (!plannedRoute.model.record.supports_thinking) return 0;
    const thought = Math.floor((this.sinks.observer.speedOf(plannedRoute.route) * meter.hiddenMs) / 1_000);
    const { maxOutputTokens } = this.admitted.asked;
    const visible = estimateTokens(meter.outputBytes);
    return Math.min(thought, Math.max(0, (maxOutputTokens ?? Infinity) - visible));
  }

  private settle(charge: Charge, usage: UnitUsage, rest: UsageRest): SettleFacts {
    const { admitRequest, counted, cached, holds } = this.admitted;
    const tokens = cached ? 0 : (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0);
    return {
      accountId: admitRequest.accountId,
      unit: admitRequest.unitId,
      scopes: unitScopes(admitRequest),
      tokens,
      tokenEstimate: admitRequest.tokenEstimate,
      minute: counted.minute,
      nano: charge.cost_usd === null ? '0' : settledNano(charge.cost_usd).toString(),
      ...(holds === undefined ? {} : { providers: settledHolds(holds, rest) }),
    };
  }

  /** The usage record without what the INTENT has said. */
  private rest(end: UnitEnd, charge: Charge, usage: UnitUsage): UsageRest {
    const { sinks, request } = this;
    const last = this.attempts.at(-1);
    // Of an answer in one piece it would be its latency again, and a median of both would say nothing.
    const firstMs = this.facts.stream ? last?.firstEventMs : null;
    return {
      id: newId('use', sinks.clock, sinks.random),
      provider: last?.plannedRoute.route.provider ?? null,
      status: end.outcome === 'failed' ? 'error' : 'success',
      outcome: end.outcome,
      http_status: end.httpStatus,
      error_code: end.errorCode,
      usage,
      usage_estimated: charge.usage_estimated,
      priced_from: last ? this.pricedFrom(last) : null,
      cost_usd: charge.cost_usd,
      list_cost_usd: charge.list_cost_usd,
      attempts: this.attempts.map((attempt) => this.attemptRecord(attempt, end, usage)),
      latency_ms: rounded(sinks.clock.monotonic() - request.startedMs),
      ttft_ms: firstMs == null ? null : rounded(firstMs - request.startedMs),
      routing_fallback: last ? this.isFallback(last.plannedRoute) : false,
      cache_hit: end.outcome === 'cached',
    };
  }

  private attemptRecord(attempt: AttemptState, end: UnitEnd, usage: UnitUsage): AttemptRecord {
    const isLast = attempt === this.attempts.at(-1);
    const served = isLast && end.outcome === 'served';
    const wasCancelled = isLast && end.outcome === 'cancelled' && !hasFailed(attempt);
    const counts = isLast ? usage : (attempt.meter.usage ?? {});
    return {
      n: attempt.n,
      provider: attempt.plannedRoute.route.provider,
      ...(attempt.plannedRoute.pooled?.id == null ? {} : { credential_id: attempt.plannedRoute.pooled.id }),
      upstream_model: attempt.plannedRoute.route.upstreamModel,
      model: attempt.plannedRoute.model.record.id,
      status: served ? 'success' : wasCancelled ? 'cancelled' : 'error',
      http_status: attempt.httpStatus,
      error_code: attempt.errorCode,
      provider_code: attempt.providerCode,
      error_message: attempt.errorMessage,
      ...(attempt.notBegun !== null && this.request.endpoint.isCreate ? { not_begun: attempt.notBegun } : {}),
      started_at: new Date(attempt.startedAtMs).toISOString(),
      latency_ms: rounded((attempt.endedMs ?? this.sinks.clock.monotonic()) - attempt.startedMs),
      ttft_ms: attempt.firstEventMs === null ? null : rounded(attempt.firstEventMs - attempt.startedMs),
      prompt_tokens: counts.prompt_tokens ?? 0,
      completion_tokens: counts.completion_tokens ?? 0,
      served,
      house_usd: served || wasCancelled ? null : this.platformUsd(attempt),
    };
  }

  /** List cost of what a failed attempt had used, which the platform bears; null where it used nothing. */
  private platformUsd(attempt: AttemptState): string | null {
    const { meter, plannedRoute, startedAtMs } = attempt;
    if (!meter.hasEvents) return null;
    const { house_usd: platformUsd } = chargeFor({
      ...plannedRoute.terms,
      record: priceAt(plannedRoute.terms.record, startedAtMs).record,
      context: this.context(attempt),
      outcome: 'failed',
      usage: meter.usage,
      traffic: meter.traffic,
    });
    return platformUsd === '0' ? null : platformUsd;
  }

  /** Returns the context of the result as its provider reports it, else as requested. */
  private context({ meter }: AttemptState): PricedFrom['context'] {
    return meter.context ?? this.admitted.asked.context;
  }

  private pricedFrom(attempt: AttemptState): PricedFrom {
    const { route, terms } = attempt.plannedRoute;
    return {
      snapshot_id: this.admitted.plan.snapshotId,
      provider: route.provider,
      upstream_model: route.upstreamModel,
      tier: terms.tier,
      discount_pct: terms.discountPct,
      byok_served: terms.byok.served,
      byok_fee_pct: terms.byok.feePct,
      context: this.context(attempt),
      price_window: priceAt(terms.record, attempt.startedAtMs).window,
      priced_at: new Date(attempt.startedAtMs).toISOString(),
    };
  }
}

/** The attempt failed at its provider, not because the caller left. */
function hasFailed({ errorCode, httpStatus }: AttemptState): boolean {
  return errorCode !== null || (httpStatus !== null && (httpStatus < 200 || httpStatus >= 300));
}

/** Milliseconds to three decimals: microseconds are what the clock gives. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/** Every scope that the cost counts on, with what admission saw; a model's own limit on the key is a scope of its own. */
function readings({ principal, admitRequest, counted, holds = [] }: AdmittedUnit): UsageRecord['limits'] {
  const { limits } = principal;
  const found: UsageRecord['limits'] = limitReadings(
    admitRequest.scopes,
    counted,
    (at) => limits[at].spendCapUsd,
  );
  const [key] = admitRequest.scopes;
  for (const counter of admitRequest.extra) {
    if (!counter.name.startsWith('m:') && counter.budget === undefined) continue;
    const { kind: scope, id: scope_id } = extraScope(key.id, counter);
    found.push({ scope, scope_id, ...NO_RATES });
  }
  for (const { request } of holds)
    for (const { kind: scope, id: scope_id } of request.scopes) found.push({ scope, scope_id, ...NO_RATES });
  return found;
}

/** Readings of a counter of money alone. */
const NO_RATES = { rpm: 0, rpm_limit: null, rpd: 0, rpd_limit: null };

/** Opens units, and keeps those that run known to the limit store. */
@Injectable()
export class Units implements UnitSinks {
  constructor(
    readonly journal: Journal,
    readonly settling: Settling,
    readonly observer: UnitObserver,
    private readonly settlementQueue: SettlementQueue,
    private readonly inFlight: InFlight,
    private readonly revocations: Revocations,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(RANDOM) readonly random: Random,
  ) {}

  /** Throws ApiError service_unavailable while the journal takes no unit. */
  requireOpen(): void {
    if (!this.journal.isAccepting) throw this.notAccepting();
  }

  /** Its INTENT is written and its lease is renewed from here on. Throws ApiError where the journal takes none. */
  open(
    request: InferenceRequest,
    admitted: AdmittedUnit,
    upstream: { abort: (why: ApiError) => void },
  ): Unit {
    const unit = Unit.open(request, admitted, this);
    if (unit === null) {
      for (const put of renewals(admitted)) this.settlementQueue.add({ ...put, action: 'cancel', nano: 0n });
      throw this.notAccepting();
    }
    request.origin.opened?.();
    // Let in without the store: it learns of the unit when it is back.
    if (admitted.counted.withoutStore !== undefined || admitted.holds?.some(({ isNew }) => isNew) === true)
      for (const put of renewals(admitted)) this.settlementQueue.add(put);
    this.inFlight.add(
      admitted,
      (why) => upstream.abort(why),
      () => unit.isOver,
    );
    return unit;
  }

  /** Renews the unit's lease no more: it has ended, and its bytes have left. */
  leave({ admitted }: Unit): void {
    this.inFlight.remove(admitted.admitRequest.unitId);
    this.revocations.remove(admitted.admitRequest.unitId);
  }

  /**
   * Ends the request once its key is suspended or deleted. What a provider makes as a job and is paid for in any case goes
   * on, and so does what a provider has answered already.
   */
  watchKey({ request, admitted }: Unit, upstream: AbortController): void {
    if (request.endpoint.isCreate || request.origin.kind === 'given') return;
    const { accountId, accountVersion: version } = admitted.principal;
    const end = (rejection: ApiError): void => upstream.abort(rejection);
    this.revocations.add(admitted.admitRequest.unitId, {
      accountId,
      version,
      reload: () => request.reload(),
      end,
    });
  }

  private notAccepting(): ApiError {
    return unavailable(this.random, new Error('the journal takes no new unit'));
  }
}
