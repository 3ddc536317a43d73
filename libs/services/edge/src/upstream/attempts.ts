import { Inject, Injectable } from '@nestjs/common';
import { ApiError, UpstreamError, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import { Unsupported } from '@gateway/dialects';
import { TransportFailure } from '@gateway/providers';
import { attemptsFailed, RetryBudget, runAttempts, translationOf, type PlannedRoute } from '@gateway/routing';
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
    if (unit.call.origin.kind === 'given') return this.given(unit, plan.routes[0], client);
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
      tokens: unit.admitted.request.tokenEstimate,
      signal: client.upstream.signal,
      account: principal.accountId,
      isCreate: unit.call.endpoint.isCreate === true,
      attempt: (planned, n, hasNext) => {
        const remainingMs = endsMs === null ? Infinity : endsMs - clock.monotonic();
        const named = planned.pooled?.id == null ? planned : this.named(unit, planned);
        return this.one({ unit, planned: named, n, client, remainingMs, hasNext });
      },
    });
  }

  /** Returns the route with the request as the resource of its credential takes it: deployments have names of their own. */
  private named(unit: Unit, planned: PlannedRoute): PlannedRoute {
    const { model, route } = planned;
    const provider = this.upstream.pools.named(planned);
    if (provider === planned.provider) return planned;
    const { asked } = unit.admitted;
    const translation = translationOf(route, { asked, endpoint: unit.call.endpoint, model, provider });
    // The plan has translated it before, under another name.
    if (translation instanceof Unsupported) throw new TypeError('a planned route cannot be translated');
    return { ...planned, provider, translation };
  }

  /** Notes that an answer failed after its first piece, when nothing is retried. */
  failed({ call, admitted }: Unit, state: AttemptState, error: UpstreamError): void {
    const failure = this.upstream.pools.failed(state.planned, error);
    note(state, failure);
    this.upstream.alarms.see(state.planned, failure, call.requestId);
    const { route, providerKey } = state.planned;
    this.breakers.report(route, failure, providerKey?.id, admitted.principal.accountId);
  }

  /** Tells the operator of a route whose counts cannot be of its texts. */
  farOff({ call }: Unit, { planned }: AttemptState): void {
    this.upstream.alarms.farOff(planned, call.requestId);
  }

  /** Tries one route. Throws UpstreamError, noted on the unit's attempt. */
  private async one(input: AttemptInput): Promise<RouteAnswer> {
    const { client, planned, remainingMs, unit } = input;
    const { signal } = client.upstream;
    // Nothing is sent for a caller that has gone or whose time is over: such an attempt is none.
    if (signal.aborted) throw givenUp(planned, signal);
    if (remainingMs <= 0) throw new ApiError('gateway_timeout', { providerCode: 'provider_timeout' });
    const attempt = new Attempt(input, this.upstream);
    unit.attempts.push(attempt.state);
    const { pools } = this.upstream;
    try {
      if (planned.pooled !== undefined) pools.begun(planned);
      const answer = await attempt.run();
      if (planned.pooled !== undefined) pools.served(planned);
      return answer;
    } catch (caught) {
      const error = caught instanceof UpstreamError ? pools.failed(planned, caught) : caught;
      attempt.state.endedMs = this.clock.monotonic();
      if (error instanceof UpstreamError && !signal.aborted) {
        note(attempt.state, error);
        this.upstream.alarms.see(planned, error, unit.call.requestId);
      } else if (error instanceof ApiError) attempt.state.errorCode = error.code;
      throw error;
    }
  }

  /** Its provider has answered: a failure is final, and says nothing of how the route fares now. */
  private async given(unit: Unit, planned: PlannedRoute, client: Client): Promise<RouteAnswer> {
    try {
      return await this.one({ unit, planned, client, n: 1, remainingMs: Infinity, hasNext: false });
    } catch (failure) {
      throw failure instanceof UpstreamError ? attemptsFailed(failure, []) : failure;
    }
  }
}

function givenUp(planned: PlannedRoute, { reason }: AbortSignal): UpstreamError {
  const failure = new TransportFailure('aborted', reason);
  return planned.provider.classify({ kind: 'transport', failure, byok: planned.terms.byok.served });
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
