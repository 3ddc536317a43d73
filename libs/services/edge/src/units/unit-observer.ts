import { Inject, Injectable } from '@nestjs/common';
import type { Clock, UnitUsage } from '@gateway/contracts';
import type { IntentFacts, UsageRest } from '@gateway/journal';
import { CLOCK } from '@gateway/platform';
import { isMeasured, orderOf, RouteStats, type PlannedRoute } from '@gateway/routing';
import type { AdmittedUnit } from '../admission/admission.js';
import { PlatformPools } from '../config/platform-pools.js';
import { OutputSizes } from '../admission/output-sizes.js';
import { EdgeMetrics } from '../metrics/edge-metrics.js';
import type { InferenceRequest } from '../request/inference-request.js';
import type { AttemptState, UnitEnd } from './meter.js';
import { KeyUses } from './key-uses.js';
import { OutputSpeeds } from './output-speeds.js';

/** A unit that has ended, as far as later requests can learn from it. */
interface EndedUnit {
  readonly request: InferenceRequest;
  readonly admitted: AdmittedUnit;
  readonly facts: IntentFacts;
  readonly attempts: readonly AttemptState[];
}

interface Result {
  usage: UnitUsage;
  isEstimated: boolean;
  rest: UsageRest;
}

/** Learns from each ended unit: sizes and speeds of answers, how routes and provider keys fare, and the metrics. */
@Injectable()
export class UnitObserver {
  constructor(
    private readonly outputs: OutputSizes,
    private readonly speeds: OutputSpeeds,
    private readonly stats: RouteStats,
    private readonly keyUses: KeyUses,
    private readonly metrics: EdgeMetrics,
    private readonly pools: PlatformPools,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  ended(unit: EndedUnit, { outcome }: UnitEnd, { usage, isEstimated, rest }: Result): void {
    const { attempts, facts, request } = unit;
    const last = attempts.at(-1);
    const { completion_tokens: tokens } = usage;
    if (outcome === 'served' && tokens !== undefined) {
      this.outputs.add(facts.account_id, facts.model, tokens);
      if (facts.stream && !isEstimated && last !== undefined) this.noteSpeed(last, tokens);
    }
    for (const attempt of attempts)
      if (attempt.plannedRoute.pooled?.counted !== undefined) this.noteTokens(attempt);
    if (request.origin.kind !== 'given') {
      const nowMs = this.clock.now();
      for (const attempt of attempts)
        this.noteRoute(attempt, attempt === last && outcome === 'served' ? (tokens ?? 0) : null, unit, nowMs);
    }
    // Figures of what callers were served, and alarms on them, know of no shadow.
    if (facts.shadow_of !== undefined) return this.metrics.shadowed(outcome);
    this.metrics.unitEnded(facts, rest, attempts);
    // A plan with provider keys begins with one.
    if (!facts.byok_used) return;
    const servedOnPlatform = outcome === 'served' && last?.plannedRoute.providerKey === undefined;
    const { account_id: accountId, request_id: requestId } = facts;
    this.keyUses.note({ accountId, requestId, attempts, servedOnPlatform });
  }

  /** Returns the usual output tokens a second of a route. */
  speedOf(route: PlannedRoute['route']): number {
    return this.speeds.of(route);
  }

  /** An attempt that was cut off without a count keeps its estimate. */
  private noteTokens({ plannedRoute, meter }: AttemptState): void {
    if (meter.usage === null && meter.hasEvents) return;
    const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = meter.usage ?? {};
    this.pools.used(plannedRoute, prompt + completion);
  }

  /** Reports an attempt's result of its route, for later plans; `tokens`: null where it did not serve. */
  private noteRoute(
    attempt: AttemptState,
    tokens: number | null,
    { admitted }: EndedUnit,
    nowMs: number,
  ): void {
    const { stats, clock } = this;
    const { plannedRoute, firstEventMs, startedMs, endedMs } = attempt;
    const seconds = ((endedMs ?? clock.monotonic()) - startedMs) / 1_000;
    stats.see(
      plannedRoute.route,
      {
        firstPieceMs: firstEventMs === null ? null : firstEventMs - startedMs,
        tokensPerSecond: tokens !== null && tokens > 0 && seconds > 0 ? tokens / seconds : null,
        isFault: attempt.isFault,
      },
      nowMs,
    );
    const { keyId, routingPolicy } = admitted.principal;
    if (tokens !== null && isMeasured(orderOf(routingPolicy, admitted.asked)))
      stats.served(keyId, plannedRoute.route, nowMs);
  }

  /** Tokens a second of the whole answer, from its begin at the upstream to its end. */
  private noteSpeed({ plannedRoute, meter, endedMs }: AttemptState, tokens: number): void {
    if (meter.answeredAtMs === null) return;
    this.speeds.add(plannedRoute.route, tokens, (endedMs ?? this.clock.monotonic()) - meter.answeredAtMs);
  }
}
