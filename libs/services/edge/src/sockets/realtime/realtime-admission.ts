import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Clock, type KeyPrincipal } from '@gateway/contracts';
import { SettlementQueue } from '@gateway/limits';
import { CLOCK } from '@gateway/platform';
import type { Plan, PlannedRoute } from '@gateway/routing';
import { Rejected, type AdmittedUnit, type Plannable, type PlannedUnit } from '../../admission/admission.js';
import { ProviderAdmission } from '../../admission/provider-admission.js';
import { requestTags, type InferenceRequest, type Origin } from '../../request/inference-request.js';
import { Rejections } from '../../units/rejections.js';
import { Revocations } from '../../units/revocations.js';
import { Units } from '../../units/unit.js';
import { ProviderAlarms } from '../../upstream/provider-alarms.js';
import { askedOf, REALTIME, type RealtimeAsked } from './realtime-endpoint.js';
import { RealtimePlanner } from './realtime-planner.js';
import { RealtimeUnit } from './realtime-unit.js';

/** The facts that every unit of one session shares. */
export interface SessionFacts {
  requestId: string;
  headers: InferenceRequest['headers'];
  apiVersion: string;
  /** Reads the key again; throws ApiError where it may no longer call. */
  caller: (isReload: boolean) => Promise<KeyPrincipal>;
}

/** Admission of the units of realtime sessions, each by the rules of a request. */
@Injectable()
export class RealtimeAdmission {
  constructor(
    private readonly planner: RealtimePlanner,
    private readonly providers: ProviderAdmission,
    private readonly units: Units,
    private readonly rejections: Rejections,
    private readonly revocations: Revocations,
    private readonly settlementQueue: SettlementQueue,
    private readonly alarms: ProviderAlarms,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Calls `end` once the key is suspended or deleted, also between two responses. Returns the function that stops watching.
   */
  watchKey(
    { requestId, caller }: SessionFacts,
    { accountId, accountVersion: version }: KeyPrincipal,
    end: (rejection: ApiError) => void,
  ): () => void {
    const { revocations } = this;
    revocations.add(requestId, { accountId, version, reload: () => caller(true), end });
    return () => revocations.remove(requestId);
  }

  /** Checks whether a first response would be admitted; nothing of it stays counted. Throws ApiError. */
  async check(facts: SessionFacts, work: RealtimeAsked, planned: SessionRoute): Promise<void> {
    const request = await this.requestOf(facts, 0);
    const admitted = await this.admitted(request, `${facts.requestId}/open`, work, planned);
    this.providers.cancel(admitted);
    // Else a first response that comes at once could be refused for a request that was none.
    await this.settlementQueue.deliveredOf(admitted.admitRequest.accountId);
  }

  /** Opens the unit of a number within the session. Throws ApiError where it is refused: that is recorded, and nothing was counted. */
  async open(
    facts: SessionFacts,
    number: number,
    work: RealtimeAsked,
    planned: SessionRoute,
    abort: (why: ApiError) => void,
  ): Promise<RealtimeUnit> {
    const request = await this.requestOf(facts, number);
    this.units.requireOpen();
    const admitted = await this.admitted(request, `${facts.requestId}/${number}`, work, planned);
    const unit = this.units.open(request, admitted, { abort });
    return new RealtimeUnit(unit, work, this.units, this.alarms, this.clock);
  }

  private async requestOf(facts: SessionFacts, unitIndex: number): Promise<InferenceRequest> {
    const { requestId, headers, apiVersion, caller } = facts;
    const principal = await caller(false);
    return {
      requestId,
      unitIndex,
      endpoint: REALTIME,
      path: '/v1/realtime',
      principal,
      apiVersion,
      receivedAtMs: this.clock.now(),
      startedMs: this.clock.monotonic(),
      headers,
      bytes: EMPTY,
      origin: SOCKET,
      reload: () => caller(true),
    };
  }

  private async admitted(
    request: InferenceRequest,
    unitId: string,
    work: RealtimeAsked,
    route: SessionRoute,
  ): Promise<AdmittedUnit> {
    const { providers, rejections } = this;
    const tags = requestTags(request.headers, request.principal);
    const planFor = (principal: KeyPrincipal): PlannedUnit => {
      const plan = onRoute(this.planner.plan(work, principal, request.requestId), work, route);
      return { principal, asked: askedOf(work), plan, tags, ...UNRECORDED };
    };
    const again: Plannable = { reload: () => request.reload(), planFor };
    const as = { id: null, requested: work.model, tags };
    let outcome: AdmittedUnit | Rejected;
    try {
      const planned = await providers.admission.plan(request.principal, again);
      outcome = await providers.admit({ unitId, requestedAtMs: request.receivedAtMs, planned, again });
    } catch (error) {
      rejections.addFailure(request, as, error);
      throw error;
    }
    if (!(outcome instanceof Rejected)) return outcome;
    rejections.add(request, as, outcome.error, outcome.rejection);
    throw outcome.error;
  }
}

const UNRECORDED = { storedRequest: null, cacheName: null, cached: null, hasMemory: false };
const SOCKET: Origin = { kind: 'socket' };
const EMPTY = Buffer.alloc(0);

/** The route of a session. */
export type SessionRoute = Pick<PlannedRoute, 'route' | 'providerKey'>;

/**
 * A session stays on the route that it was opened on, and what writes its input down is of the same provider and key.
 * Throws ApiError where the plan has it no longer.
 */
function onRoute(plan: Plan, { kind }: RealtimeAsked, { route, providerKey }: SessionRoute): Plan {
  const routes = plan.routes.filter(
    (one) =>
      one.route.provider === route.provider &&
      one.providerKey?.id === providerKey?.id &&
      (kind === 'transcription' || one.route.upstreamModel === route.upstreamModel),
  );
  if (routes.length === 0) throw new ApiError('model_not_found', { providerCode: 'model_not_found' });
  return { ...plan, routes };
}
