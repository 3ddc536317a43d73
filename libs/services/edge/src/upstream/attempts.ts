import { Inject, Injectable } from '@nestjs/common';
import { ApiError, UpstreamError, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import { Unsupported } from '@gateway/dialects';
import { TransportFailure } from '@gateway/providers';
import {
  attemptsFailed,
  RetryBudget,
  runAttempts,
  SHADOW_CREDENTIAL,
  translationOf,
  type PlannedRoute,
} from '@gateway/routing';
import { CircuitBreakers } from '@gateway/upstream';
import type { Client } from '../request/client.js';
import type { AttemptState } from '../units/meter.js';
import type { Unit } from '../units/unit.js';
import { Attempt, type AttemptInput, type RouteAnswer } from './attempt.js';
import { Upstream } from './upstream.js';

/** Tries the routes of a unit's plan until one answers. */
@Injectable()
export class Attempts {
  constructor(
    private readonly upstream: Upstream,
    private readonly breakers: CircuitBreakers,
    private readonly budget: RetryBudget,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Returns the first answer that commits. Throws ApiError where no route gives one. */
  run(unit: Unit, client: Client): Promise<RouteAnswer> {
    const { plan, principal } = unit.admitted;
    const { clock, random, budget, breakers } = this;
    if (unit.request.origin.kind === 'given') return this.given(unit, plan.routes[0], client);
    const policy = principal.routingPolicy ?? {};
    const { total_timeout_ms: totalMs } = policy;
    const endsMs = totalMs === undefined ? null : clock.monotonic() + totalMs;
    return runAttempts({
      plan,
      policy,
      clock,
      random,
      budget,
      breakers,
      pools: this.upstream.pools.active,
      tokens: unit.admitted.admitRequest.tokenEstimate,
      signal: client.upstream.signal,
      account: principal.accountId,
      credential: unit.request.origin.kind === 'shadow' ? SHADOW_CREDENTIAL : undefined,
      isCreate: unit.request.endpoint.isCreate === true,
      attempt: (plannedRoute, n, hasNext) => {
        const remainingMs = endsMs === null ? Infinity : endsMs - clock.monotonic();
        const named = plannedRoute.pooled?.id == null ? plannedRoute : this.named(unit, plannedRoute);
        return this.one({ unit, plannedRoute: named, n, client, remainingMs, hasNext });
      },
    });
  }

  /** Returns the route with the request as the resource of its credential takes it: deployments have names of their own. */
  private named(unit: Unit, plannedRoute: PlannedRoute): PlannedRoute {
    const { model, route } = plannedRoute;
    const provider = this.upstream.pools.named(plannedRoute);
    if (provider === plannedRoute.provider) return plannedRoute;
    const { asked } = unit.admitted;
    const translation = translationOf(route, { asked, endpoint: unit.request.endpoint, model, provider });
    // The plan has translated it before, under another name.
    if (translation instanceof Unsupported) throw new TypeError('a planned route cannot be translated');
    return { ...plannedRoute, provider, translation };
  }

  /** Notes that an answer failed after its first piece, when nothing is retried. */
  failed(unit: Unit, state: AttemptState, error: UpstreamError): void {
    const { request, admitted } = unit;
    const failure = this.ofCredential(unit, state.plannedRoute, error);
    note(state, failure);
    this.upstream.alarms.see(state.plannedRoute, failure, request.requestId);
    const { route, providerKey } = state.plannedRoute;
    const credential = providerKey?.id ?? (isShadow(unit) ? SHADOW_CREDENTIAL : undefined);
    this.breakers.report(route, failure, credential, admitted.principal.accountId);
  }

  /** Tells the operator of a route whose counts cannot be of its texts. */
  farOff({ request }: Unit, { plannedRoute }: AttemptState): void {
    this.upstream.alarms.farOff(plannedRoute, request.requestId);
  }

  /** Tries one route. Throws UpstreamError, noted on the unit's attempt. */
  private async one(input: AttemptInput): Promise<RouteAnswer> {
    const { client, plannedRoute, remainingMs, unit } = input;
    const { signal } = client.upstream;
    // Nothing is sent for a caller that has gone or whose time is over: such an attempt is none.
    if (signal.aborted) throw givenUp(plannedRoute, signal);
    if (remainingMs <= 0) throw new ApiError('gateway_timeout', { providerCode: 'provider_timeout' });
    const attempt = new Attempt(input, this.upstream);
    unit.attempts.push(attempt.state);
    const { pools } = this.upstream;
    try {
      if (plannedRoute.pooled !== undefined) pools.begun(plannedRoute);
      const answer = await attempt.run();
      if (plannedRoute.pooled !== undefined) pools.served(plannedRoute);
      return answer;
    } catch (caught) {
      const error = caught instanceof UpstreamError ? this.ofCredential(unit, plannedRoute, caught) : caught;
      attempt.state.endedMs = this.clock.monotonic();
      if (error instanceof UpstreamError && !signal.aborted) {
        note(attempt.state, error);
        this.upstream.alarms.see(plannedRoute, error, unit.request.requestId);
      } else if (error instanceof ApiError) attempt.state.errorCode = error.code;
      throw error;
    }
  }

  /** Lets the pools see a failure. Of a shadow's they learn only that a credential is refused, which no caller could use. */
  private ofCredential(unit: Unit, plannedRoute: PlannedRoute, error: UpstreamError): UpstreamError {
    if (isShadow(unit) && error.options.credential !== 'refused') return error;
    return this.upstream.pools.failed(plannedRoute, error);
  }

  /** Its provider has answered: a failure is final, and says nothing of how the route fares now. */
  private async given(unit: Unit, plannedRoute: PlannedRoute, client: Client): Promise<RouteAnswer> {
    try {
      return await this.one({ unit, plannedRoute, client, n: 1, remainingMs: Infinity, hasNext: false });
    } catch (failure) {
      throw failure instanceof UpstreamError ? attemptsFailed(failure, []) : failure;
    }
  }
}

function isShadow({ request }: Unit): boolean {
  return request.origin.kind === 'shadow';
}

function givenUp(plannedRoute: PlannedRoute, { reason }: AbortSignal): UpstreamError {
  const failure = new TransportFailure('aborted', reason);
  return plannedRoute.provider.classify({ kind: 'transport', failure, byok: plannedRoute.terms.byok.served });
}

/** Writes what an attempt failed with onto its record. */
function note(state: AttemptState, { options }: UpstreamError): void {
  state.errorCode = options.code;
  state.providerCode = options.providerCode ?? null;
  state.errorMessage = options.message;
  // Where the failure has none of its own, such as a stream that broke, the one that came stays.
  state.httpStatus = options.httpStatus ?? state.httpStatus;
  state.notBegun = options.notBegun ?? null;
  state.isFault = options.countsAsFault;
}
