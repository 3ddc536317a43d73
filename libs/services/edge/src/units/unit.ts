import {
  newId,
  TOPIC,
  type AttemptRecord,
  type Clock,
  type NotBegun,
  type PricedFrom,
  type Random,
  type UnitUsage,
  type UsageRecord,
} from '@gateway/contracts';
import type { IntentFacts, Journal, SettleFacts, UsageRest } from '@gateway/journal';
import { limitReadings, unitScopes } from '@gateway/limits';
import {
  chargeFor,
  estimateTokens,
  priceAt,
  settledNano,
  type Charge,
  type Disconnect,
} from '@gateway/money';
import { isMeasured, type PlannedRoute, type RouteStats } from '@gateway/routing';
import type { AdmittedUnit } from '../admission/admit.js';
import type { OutputSizes } from '../admission/output-sizes.js';
import type { Settling } from '../admission/settling.js';
import type { Call } from '../request/call.js';
import type { EdgeMetrics } from './edge-metrics.js';
import { endUserHash } from './end-user-hash.js';
import type { KeyUses } from './key-uses.js';
import type { Meter } from './meter.js';
import type { OutputSpeeds } from './output-speeds.js';

export interface UnitDeps {
  clock: Clock;
  random: Random;
  journal: Journal;
  settling: Pick<Settling, 'add' | 'reported'>;
  outputs: OutputSizes;
  stats: RouteStats;
  speeds: OutputSpeeds;
  metrics: Pick<EdgeMetrics, 'unitEnded'>;
  keyUses: Pick<KeyUses, 'note'>;
}

/** The end of a unit, as the caller saw it. */
export interface UnitEnd {
  outcome: 'served' | 'failed' | 'cancelled' | 'cached';
  httpStatus: number;
  errorCode: string | null;
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

/** One try of one route while it runs and after. */
export interface AttemptState {
  planned: PlannedRoute;
  n: number;
  startedAtMs: number;
  startedMs: number;
  firstEventMs: number | null;
  endedMs: number | null;
  /** Status of the provider's last answer, or of an error in its stream; null where none came. */
  httpStatus: number | null;
  errorCode: string | null;
  providerCode: string | null;
  errorMessage: string | null;
  /** Reason why a failure proves that its provider has begun nothing. */
  notBegun: NotBegun | null;
  /** It failed by the provider's fault, not by the request's or the caller's. */
  isFault: boolean;
  meter: Meter;
}

/** An admitted unit from its INTENT to its OUTCOME: one usage event, one cost, written exactly once. */
export class Unit {
  readonly attempts: AttemptState[] = [];
  private readonly facts: IntentFacts;
  private isFinished = false;

  /** Writes the INTENT. False: the journal takes no unit now, and the request must be refused. */
  static open(call: Call, admitted: AdmittedUnit, deps: UnitDeps): Unit | null {
    const unit = new Unit(call, admitted, deps);
    const { unit: id, accountId } = admitted.request;
    return deps.journal.intent({ unit: id, accountId, facts: unit.facts }) ? unit : null;
  }

  private constructor(
    readonly call: Call,
    readonly admitted: AdmittedUnit,
    private readonly deps: UnitDeps,
  ) {
    const { principal, plan, asked } = admitted;
    // The 30 days of caps count by it: no clock of a process that stands behind may hide what is spent there.
    const askedAtMs = Math.max(call.receivedAtMs, admitted.admitted.minute * MINUTE_MS - CLOCKS_APART_MS);
    this.facts = {
      request_id: call.requestId,
      unit: call.unit,
      account_id: principal.accountId,
      org_id: principal.orgId,
      team_id: principal.teamId,
      member_id: principal.createdBy,
      key_id: principal.keyId,
      endpoint: call.path,
      model: plan.model.record.id,
      requested_model: plan.requestedModel,
      stream: asked.stream,
      created_at: new Date(askedAtMs).toISOString(),
      byok_used: !admitted.cached && plan.routes[0].terms.byok.served,
      request_tags: call.tags,
      end_user_hash: asked.endUser === null ? null : endUserHash(principal, asked.endUser),
      api_version: call.apiVersion,
      limits: readings(admitted),
    };
  }

  /** Its OUTCOME is written: what follows is bytes only. */
  get isOver(): boolean {
    return this.isFinished;
  }

  /** True once another route than the plan's first is used. */
  isFallback(planned: PlannedRoute): boolean {
    return planned.route !== this.admitted.plan.routes[0].route;
  }

  /**
   * Prices the unit and writes its OUTCOME; from then on kill -9 loses nothing. Resolves when the last bytes may leave: near a
   * limit once the limit store knows what the unit cost, so that the next request meets it. Only the first call counts.
   */
  finish(end: UnitEnd, disconnect: Disconnect | null = null): Promise<void> {
    if (this.isFinished) return Promise.resolve();
    this.isFinished = true;
    const charge = this.charge(end, disconnect);
    const usage = charge.usage ?? this.last?.meter.usage ?? this.admitted.cached?.usage ?? {};
    const { journal, outputs, metrics } = this.deps;
    if (end.outcome === 'served' && usage.completion_tokens !== undefined) {
      outputs.add(this.facts.account_id, this.facts.model, usage.completion_tokens);
      if (this.facts.stream && !charge.usage_estimated) this.noteSpeed(usage.completion_tokens);
    }
    this.learn(end, usage);
    const { facts } = this;
    const rest = this.rest(end, charge, usage);
    metrics.unitEnded(facts, rest, this.attempts);
    const settle = this.settle(charge, usage);
    const used = this.last?.planned;
    const model = used?.model.record.id ?? facts.model;
    const byok_used = used?.terms.byok.served ?? facts.byok_used;
    if (facts.byok_used) this.noteKeys(end);
    const receipt =
      model === facts.model && byok_used === facts.byok_used
        ? journal.finish(settle.unit, facts.account_id, rest, settle)
        : journal.outcome(TOPIC.usage, facts.account_id, { ...facts, ...rest, model, byok_used }, settle);
    return this.lastBytes(journal.commit(receipt), Number(settle.nano));
  }

  private lastBytes(written: Promise<void>, nano: number): Promise<void> {
    const { request } = this.admitted;
    const { accountId, unit } = request;
    const { settling } = this.deps;
    settling.add({ accountId, unit, nano });
    return this.isNear(nano) ? written.then(() => settling.reported(accountId)) : written;
  }

  /** True if a few requests like this one would use up what was left when it was admitted. */
  private isNear(nano: number): boolean {
    const { request, admitted } = this.admitted;
    const { roomNano } = admitted;
    if (roomNano == null) return false;
    return roomNano < NEAR_REQUESTS * Math.max(nano, Number(request.worstNano ?? request.reservationNano));
  }

  /** A plan with provider keys begins with one. */
  private noteKeys({ outcome }: UnitEnd): void {
    const { attempts, facts, last } = this;
    const servedOnPlatform = outcome === 'served' && last?.planned.providerKey === undefined;
    const { account_id: accountId, request_id: requestId } = facts;
    this.deps.keyUses.note({ accountId, requestId, attempts, servedOnPlatform });
  }

  private get last(): AttemptState | undefined {
    return this.attempts.at(-1);
  }

  /** Reports the attempts' results of their routes, for later plans. */
  private learn({ outcome }: UnitEnd, usage: UnitUsage): void {
    const { stats, clock } = this.deps;
    if (this.call.given) return;
    const nowMs = clock.now();
    for (const attempt of this.attempts) {
      const { planned, firstEventMs, startedMs, endedMs } = attempt;
      const served = attempt === this.last && outcome === 'served';
      const seconds = ((endedMs ?? clock.monotonic()) - startedMs) / 1_000;
      const tokens = served ? (usage.completion_tokens ?? 0) : 0;
      stats.see(
        planned.route,
        {
          firstPieceMs: firstEventMs === null ? null : firstEventMs - startedMs,
          tokensPerSecond: tokens > 0 && seconds > 0 ? tokens / seconds : null,
          isFault: attempt.isFault,
        },
        nowMs,
      );
      const { keyId, routingPolicy } = this.admitted.principal;
      if (served && routingPolicy !== null && isMeasured(routingPolicy))
        stats.served(keyId, planned.route, nowMs);
    }
  }

  private charge(end: UnitEnd, disconnect: Disconnect | null): Charge {
    const { last } = this;
    // A caller that left while nothing was under way for it owes nothing; the attempts before are the house's.
    if (!last || (end.outcome === 'cancelled' && hasFailed(last))) return NO_CHARGE;
    const { finalUsage, counted: usage, traffic, hasEvents } = last.meter;
    return chargeFor({
      ...last.planned.terms,
      // The price in force when the attempt was begun at its provider.
      record: priceAt(last.planned.terms.record, last.startedAtMs).record,
      context: this.context(last),
      outcome: end.outcome === 'failed' ? 'failed' : 'served',
      usage: finalUsage && { requests: 1, ...finalUsage },
      reported: { requests: 1, ...usage },
      traffic:
        end.outcome === 'failed' && !hasEvents
          ? null
          : { ...traffic, hiddenTokens: disconnect === null ? 0 : this.hiddenTokens(last) },
      disconnect,
    });
  }

  /**
   * Returns the tokens that the model may have used before its first output, for a caller that left, within its own
   * bound.
   */
  private hiddenTokens({ meter, planned }: AttemptState): number {
    if (!planned.model.record.supports_thinking) return 0;
    const thought = Math.floor((this.deps.speeds.of(planned.route) * meter.hiddenMs) / 1_000);
    const { maxOutputTokens } = this.admitted.asked;
    const visible = estimateTokens(meter.outputBytes);
    return Math.min(thought, Math.max(0, (maxOutputTokens ?? Infinity) - visible));
  }

  /** Tokens a second of the whole answer, from its begin at the upstream to its end. */
  private noteSpeed(tokens: number): void {
    const { last } = this;
    if (!last || last.meter.answeredAtMs === null) return;
    const endedMs = last.endedMs ?? this.deps.clock.monotonic();
    this.deps.speeds.add(last.planned.route, tokens, endedMs - last.meter.answeredAtMs);
  }

  private settle(charge: Charge, usage: UnitUsage): SettleFacts {
    const { request, admitted, cached } = this.admitted;
    const tokens = cached ? 0 : (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0);
    return {
      accountId: request.accountId,
      unit: request.unit,
      scopes: unitScopes(request),
      tokens,
      tokenEstimate: request.tokenEstimate,
      minute: admitted.minute,
      nano: charge.cost_usd === null ? '0' : settledNano(charge.cost_usd).toString(),
    };
  }

  /** The usage record without what the INTENT has said. */
  private rest(end: UnitEnd, charge: Charge, usage: UnitUsage): UsageRest {
    const { last, deps, call } = this;
    return {
      id: newId('use', deps.clock, deps.random),
      provider: last?.planned.route.provider ?? null,
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
      latency_ms: rounded(deps.clock.monotonic() - call.startedMs),
      ttft_ms: last?.firstEventMs == null ? null : rounded(last.firstEventMs - call.startedMs),
      routing_fallback: last ? this.isFallback(last.planned) : false,
      cache_hit: end.outcome === 'cached',
    };
  }

  private attemptRecord(attempt: AttemptState, end: UnitEnd, usage: UnitUsage): AttemptRecord {
    const isLast = attempt === this.last;
    const served = isLast && end.outcome === 'served';
    const wasCancelled = isLast && end.outcome === 'cancelled' && !hasFailed(attempt);
    const counts = isLast ? usage : (attempt.meter.usage ?? {});
    return {
      n: attempt.n,
      provider: attempt.planned.route.provider,
      model: attempt.planned.model.record.id,
      status: served ? 'success' : wasCancelled ? 'cancelled' : 'error',
      http_status: attempt.httpStatus,
      error_code: attempt.errorCode,
      provider_code: attempt.providerCode,
      error_message: attempt.errorMessage,
      ...(attempt.notBegun !== null && this.call.endpoint.isCreate ? { not_begun: attempt.notBegun } : {}),
      started_at: new Date(attempt.startedAtMs).toISOString(),
      latency_ms: rounded((attempt.endedMs ?? this.deps.clock.monotonic()) - attempt.startedMs),
      ttft_ms: attempt.firstEventMs === null ? null : rounded(attempt.firstEventMs - attempt.startedMs),
      prompt_tokens: counts.prompt_tokens ?? 0,
      completion_tokens: counts.completion_tokens ?? 0,
      served,
      house_usd: served || wasCancelled ? null : this.houseUsd(attempt),
    };
  }

  /** List cost of what a failed attempt had used, which the house bears; null where it used nothing. */
  private houseUsd(attempt: AttemptState): string | null {
    const { meter, planned, startedAtMs } = attempt;
    if (!meter.hasEvents) return null;
    const { house_usd: house } = chargeFor({
      ...planned.terms,
      record: priceAt(planned.terms.record, startedAtMs).record,
      context: this.context(attempt),
      outcome: 'failed',
      usage: meter.usage,
      traffic: meter.traffic,
    });
    return house === '0' ? null : house;
  }

  /** Returns the context of the result as its provider reports it, else as requested. */
  private context({ meter }: AttemptState): PricedFrom['context'] {
    return meter.context ?? this.admitted.asked.context;
  }

  private pricedFrom(attempt: AttemptState): PricedFrom {
    const { route, terms } = attempt.planned;
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
function readings({ principal, request, admitted }: AdmittedUnit): UsageRecord['limits'] {
  const { limits } = principal;
  const found: UsageRecord['limits'] = limitReadings(
    request.scopes,
    admitted,
    (at) => limits[at].spendCapUsd,
  );
  const [key] = request.scopes;
  for (const { name } of request.extra) {
    if (!name.startsWith('m:')) continue;
    const scope_id = `${key.id}/${name}`;
    found.push({ scope: key.kind, scope_id, rpm: 0, rpm_limit: null, rpd: 0, rpd_limit: null });
  }
  return found;
}
