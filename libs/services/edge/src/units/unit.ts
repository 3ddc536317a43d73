import {
  newId,
  TOPIC,
  type AttemptRecord,
  type Clock,
  type PriceTier,
  type Random,
  type UnitUsage,
  type UsageRecord,
} from '@gateway/contracts';
import type { IntentFacts, Journal, SettleFacts, UsageRest } from '@gateway/journal';
import { limitReadings, unitScopes } from '@gateway/limits';
import { chargeFor, settledNano, type Charge, type Disconnect } from '@gateway/money';
import type { PlannedRoute } from '@gateway/routing';
import type { AdmittedUnit } from '../inference/admission.js';
import type { Call } from '../inference/call.js';
import type { Meter } from '../inference/meter.js';
import type { OutputSizes } from '../inference/output-sizes.js';
import type { EdgeMetrics } from './edge-metrics.js';
import { endUserHash } from './end-user-hash.js';

export interface UnitDeps {
  clock: Clock;
  random: Random;
  journal: Journal;
  outputs: OutputSizes;
  metrics: Pick<EdgeMetrics, 'unitEnded'>;
}

/** How a unit ended, as the caller saw it. */
export interface UnitEnd {
  outcome: 'served' | 'failed' | 'cancelled';
  httpStatus: number;
  errorCode: string | null;
}

const NO_CHARGE: Charge = {
  cost_usd: null,
  list_cost_usd: null,
  lines: [],
  house_usd: '0',
  usage: null,
  usage_estimated: false,
};
const TERMS = { discountPct: null, byok: { served: false, feePct: '0' } } as const;

/** One try of one route while it runs and after. */
export interface AttemptState {
  planned: PlannedRoute;
  n: number;
  startedAtMs: number;
  startedMs: number;
  firstEventMs: number | null;
  endedMs: number | null;
  httpStatus: number | null;
  errorCode: string | null;
  providerCode: string | null;
  errorMessage: string | null;
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
    const { unit: id, accountId } = admitted.asked;
    return deps.journal.intent({ unit: id, accountId, facts: unit.facts }) ? unit : null;
  }

  private constructor(
    readonly call: Call,
    readonly admitted: AdmittedUnit,
    private readonly deps: UnitDeps,
  ) {
    const { prepared } = admitted;
    const { principal, request } = prepared;
    this.facts = {
      request_id: call.requestId,
      unit: 0,
      account_id: principal.accountId,
      org_id: principal.orgId,
      team_id: principal.teamId,
      member_id: principal.createdBy,
      key_id: principal.keyId,
      endpoint: call.endpoint,
      model: prepared.model.record.id,
      requested_model: prepared.requestedModel,
      stream: request.stream,
      created_at: new Date(call.receivedAtMs).toISOString(),
      byok_used: false,
      request_tags: call.tags,
      end_user_hash: endUserHash(principal, request.endUser),
      api_version: call.apiVersion,
      limits: readings(admitted),
    };
  }

  /** True once another route than the plan's first is used. */
  isFallback(planned: PlannedRoute): boolean {
    return planned.route !== this.admitted.prepared.plan.routes[0].route;
  }

  /**
   * Prices the unit and writes its OUTCOME; from then on kill -9 loses nothing. Resolves when the last bytes may leave.
   * Only the first call counts.
   */
  finish(end: UnitEnd, disconnect: Disconnect | null = null): Promise<void> {
    if (this.isFinished) return Promise.resolve();
    this.isFinished = true;
    const charge = this.charge(end, disconnect);
    const usage = charge.usage ?? this.last?.meter.usage ?? {};
    const { journal, outputs, metrics } = this.deps;
    if (end.outcome === 'served' && usage.completion_tokens !== undefined)
      outputs.add(this.facts.model, usage.completion_tokens);
    const { facts } = this;
    const rest = this.rest(end, charge, usage);
    metrics.unitEnded(facts, rest);
    const settle = this.settle(charge, usage);
    const served = this.last?.planned.model.record.id ?? facts.model;
    const receipt =
      served === facts.model
        ? journal.finish(settle.unit, facts.account_id, rest, settle)
        : journal.outcome(TOPIC.usage, facts.account_id, { ...facts, ...rest, model: served }, settle);
    return journal.commit(receipt);
  }

  private get last(): AttemptState | undefined {
    return this.attempts.at(-1);
  }

  private charge(end: UnitEnd, disconnect: Disconnect | null): Charge {
    const { last } = this;
    const { tier } = this.admitted.prepared;
    // A caller that left while nothing was under way for it owes nothing; the attempts before are the house's.
    if (!last || (end.outcome === 'cancelled' && hasFailed(last))) return NO_CHARGE;
    const { finalUsage, usage, traffic, hasEvents } = last.meter;
    return chargeFor({
      ...TERMS,
      record: last.planned.route.price,
      tier,
      context: {},
      outcome: end.outcome === 'failed' ? 'failed' : 'served',
      usage: finalUsage && { requests: 1, ...finalUsage },
      reported: { requests: 1, ...usage },
      traffic: end.outcome === 'failed' && !hasEvents ? null : traffic,
      disconnect,
    });
  }

  private settle(charge: Charge, usage: UnitUsage): SettleFacts {
    const { asked, admitted } = this.admitted;
    return {
      accountId: asked.accountId,
      unit: asked.unit,
      scopes: unitScopes(asked),
      tokens: (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0),
      tokenEstimate: asked.tokenEstimate,
      minute: admitted.minute,
      nano: charge.cost_usd === null ? '0' : settledNano(charge.cost_usd).toString(),
    };
  }

  /** The usage record without what the INTENT has said. */
  private rest(end: UnitEnd, charge: Charge, usage: UnitUsage): UsageRest {
    const { last, deps, call } = this;
    const { prepared } = this.admitted;
    const { tier, snapshotId } = prepared;
    return {
      id: newId('use', deps.clock, deps.random),
      provider: last?.planned.route.provider ?? null,
      status: end.outcome === 'failed' ? 'error' : 'success',
      outcome: end.outcome,
      http_status: end.httpStatus,
      error_code: end.errorCode,
      usage,
      usage_estimated: charge.usage_estimated,
      priced_from: last ? pricedFrom(last.planned, snapshotId, tier) : null,
      cost_usd: charge.cost_usd,
      list_cost_usd: charge.list_cost_usd,
      attempts: this.attempts.map((attempt) => this.attemptRecord(attempt, end, usage)),
      latency_ms: rounded(deps.clock.monotonic() - call.startedMs),
      ttft_ms: last?.firstEventMs == null ? null : rounded(last.firstEventMs - call.startedMs),
      routing_fallback: last ? this.isFallback(last.planned) : false,
      cache_hit: false,
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
    const { tier } = this.admitted.prepared;
    const { meter, planned } = attempt;
    if (!meter.hasEvents) return null;
    const { house_usd: house } = chargeFor({
      ...TERMS,
      record: planned.route.price,
      tier,
      context: {},
      outcome: 'failed',
      usage: meter.usage,
      traffic: meter.traffic,
    });
    return house === '0' ? null : house;
  }
}

/** The attempt failed at its provider, not because the caller left. */
function hasFailed({ errorCode, httpStatus }: AttemptState): boolean {
  return errorCode !== null || (httpStatus !== null && (httpStatus < 200 || httpStatus >= 300));
}

function pricedFrom(
  { route }: PlannedRoute,
  snapshotId: string,
  tier: PriceTier,
): UsageRecord['priced_from'] {
  return {
    snapshot_id: snapshotId,
    provider: route.provider,
    upstream_model: route.upstreamModel,
    tier,
    discount_pct: TERMS.discountPct,
    byok_served: TERMS.byok.served,
    byok_fee_pct: TERMS.byok.feePct,
    context: {},
  };
}

/** Milliseconds to three decimals: microseconds are what the clock gives. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/** Every scope that the cost counts on, with what admission saw; a model's own limit on the key is a scope of its own. */
function readings({ prepared, asked, admitted }: AdmittedUnit): UsageRecord['limits'] {
  const { limits } = prepared.principal;
  const found: UsageRecord['limits'] = limitReadings(asked.scopes, admitted, (at) => limits[at].spendCapUsd);
  const [key] = asked.scopes;
  for (const { name } of asked.extra) {
    if (!name.startsWith('m:')) continue;
    const scope_id = `${key.id}/${name}`;
    found.push({ scope: key.kind, scope_id, rpm: 0, rpm_limit: null, rpd: 0, rpd_limit: null });
  }
  return found;
}
