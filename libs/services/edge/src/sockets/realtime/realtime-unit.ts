import { ApiError, type KeyPrincipal, type UnitUsage } from '@gateway/contracts';
import type { Piece } from '@gateway/dialects';
import { transcriptionBound, usageBound, type UsageBound } from '@gateway/money';
import type { Plan, PlannedRoute } from '@gateway/routing';
import { Refused, type AdmittedUnit, type Plannable, type Planned } from '../../admission/admission.js';
import type { InferDeps } from '../../inference/infer-deps.js';
import { requestTags, type InferenceRequest, type Origin } from '../../request/inference-request.js';
import { Meter } from '../../units/meter.js';
import type { AttemptState } from '../../units/attempt-state.js';
import type { Unit } from '../../units/unit.js';
import { askedOf, REALTIME, type RealtimeAsked } from './realtime-endpoint.js';

/** The facts that every unit of one session shares. */
export interface SessionFacts {
  requestId: string;
  headers: InferenceRequest['headers'];
  apiVersion: string;
  /** Reads the key again; throws ApiError where it may no longer call. */
  caller: (isReload: boolean) => Promise<KeyPrincipal>;
}

/** The plan of a turn for a caller. Throws ApiError where it may not, or no longer, use the model. */
export function planResponse(turn: RealtimeAsked, principal: KeyPrincipal, deps: InferDeps): Plan {
  const whose = { endpoint: REALTIME, principal, nowMs: deps.clock.now() };
  return deps.routes.plan(askedOf(turn), whose);
}

/** Admits units of a session, each by the rules of a request. */
export class RealtimeUnits {
  private units = 0;

  constructor(
    private readonly facts: SessionFacts,
    private readonly deps: InferDeps,
  ) {}

  /**
   * Calls `end` once the key is suspended or deleted, also between two turns. Returns the function that stops watching.
   */
  watchKey(principal: KeyPrincipal, end: (refusal: ApiError) => void): () => void {
    const { accountId, accountVersion: version } = principal;
    const { requestId, caller } = this.facts;
    const { revocations } = this.deps;
    revocations.add(requestId, { accountId, version, reload: () => caller(true), end });
    return () => revocations.remove(requestId);
  }

  /** Checks whether a first turn would be admitted; nothing of it stays counted. Throws ApiError. */
  async check(turn: RealtimeAsked, planned: SessionRoute): Promise<void> {
    const call = await this.callOf(0);
    const admitted = await this.admitted(call, `${this.facts.requestId}/open`, turn, planned);
    this.deps.admission.cancel(admitted.request);
    // Else a first response that comes at once could be refused for a request that was none.
    await this.deps.puts.deliveredOf(admitted.request.accountId);
  }

  /** Throws ApiError where the turn is refused: the refusal is recorded, and nothing was counted. */
  async open(
    turn: RealtimeAsked,
    planned: SessionRoute,
    giveUp: (why: ApiError) => void,
  ): Promise<RealtimeUnit> {
    const number = this.units;
    this.units += 1;
    const call = await this.callOf(number);
    this.deps.units.requireOpen();
    const admitted = await this.admitted(call, `${this.facts.requestId}/${number}`, turn, planned);
    const unit = this.deps.units.open(call, admitted, { abort: giveUp });
    return new RealtimeUnit(unit, turn, this.deps);
  }

  private async callOf(unit: number): Promise<InferenceRequest> {
    const { requestId, headers, apiVersion, caller } = this.facts;
    const principal = await caller(false);
    return {
      requestId,
      unit,
      endpoint: REALTIME,
      path: '/v1/realtime',
      principal,
      apiVersion,
      receivedAtMs: this.deps.clock.now(),
      startedMs: this.deps.clock.monotonic(),
      headers,
      bytes: EMPTY,
      origin: SOCKET,
      reload: () => caller(true),
    };
  }

  private async admitted(
    call: InferenceRequest,
    unit: string,
    turn: RealtimeAsked,
    planned: SessionRoute,
  ): Promise<AdmittedUnit> {
    const { admission, rejections } = this.deps;
    const tags = requestTags(call.headers, call.principal);
    const again: Plannable = {
      reload: () => call.reload(),
      planFor: (principal) => this.planned(turn, planned, principal, tags),
    };
    const as = { id: null, requested: turn.model, tags };
    let outcome: AdmittedUnit | Refused;
    try {
      const first = await admission.plan(call.principal, again);
      outcome = await admission.admit({ unit, planned: first, again });
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) rejections.add(call, as, error, null);
      throw error;
    }
    if (!(outcome instanceof Refused)) return outcome;
    rejections.add(call, as, outcome.error, outcome.refusal);
    throw outcome.error;
  }

  private planned(
    turn: RealtimeAsked,
    planned: SessionRoute,
    principal: KeyPrincipal,
    tags: Record<string, string>,
  ): Planned {
    const plan = onRoute(planResponse(turn, principal, this.deps), turn, planned);
    return { principal, asked: askedOf(turn), plan, tags, ...NOTHING_KEPT };
  }
}

const NOTHING_KEPT = { record: null, cacheName: null, cached: null, hasMemory: false };
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

function boundOf({ heardSecondsMax, inputBytes }: RealtimeAsked, { route }: PlannedRoute): UsageBound {
  return heardSecondsMax === undefined ? usageBound(route, inputBytes) : transcriptionBound(heardSecondsMax);
}

/** One priced turn, from its admission to its OUTCOME. */
export class RealtimeUnit {
  private readonly state: AttemptState;
  /** Bytes for an estimate. */
  deliveredBytes = 0;

  constructor(
    private readonly unit: Unit,
    turn: RealtimeAsked,
    private readonly deps: InferDeps,
  ) {
    const { clock } = deps;
    const { admitted } = unit;
    const [planned] = admitted.plan.routes;
    this.state = {
      planned,
      n: 1,
      startedAtMs: clock.now(),
      startedMs: clock.monotonic(),
      firstEventMs: null,
      endedMs: null,
      httpStatus: 200,
      errorCode: null,
      providerCode: null,
      errorMessage: null,
      notBegun: null,
      isFault: false,
      meter: new Meter(admitted.asked.input, boundOf(turn, planned)),
    };
    this.state.meter.answeredAtMs = this.state.startedMs;
    unit.attempts.push(this.state);
  }

  /** Something of it was sent to the caller: what an estimate counts where no usage comes. */
  delivered(bytes: number): void {
    this.deliveredBytes += bytes;
    this.count({ kind: 'part', out: '', deliveredBytes: this.deliveredBytes });
  }

  /** The provider's last word; null where it counted nothing. */
  async done(usage: UnitUsage | null, units: UnitUsage): Promise<void> {
    this.count({ kind: 'end', out: '', usage: usage === null ? units : { ...usage, ...units } });
    await this.finish({ outcome: 'served', httpStatus: 200, errorCode: null });
  }

  /** It failed at the provider: not billed. What the provider has counted the house bears. */
  async failed(errorCode: ApiError['code'], usage: UnitUsage | null = null): Promise<void> {
    if (usage !== null) this.count({ kind: 'end', out: '', usage });
    this.state.errorCode = errorCode;
    this.state.isFault = true;
    await this.finish({ outcome: 'failed', httpStatus: 200, errorCode });
  }

  /** The session ended before the provider began it: nobody owes anything. */
  async dropped(): Promise<void> {
    await this.finish({ outcome: 'failed', httpStatus: 499, errorCode: null });
  }

  /** The caller left: billed by what had been delivered. */
  async cut(): Promise<void> {
    await this.finish(
      { outcome: 'cancelled', httpStatus: 200, errorCode: null },
      { finishSeen: false, usageAfterMs: null },
    );
  }

  private count(piece: Piece): void {
    const nowMs = this.deps.clock.monotonic();
    this.state.firstEventMs ??= nowMs;
    this.state.meter.see(piece, nowMs, false);
    if (piece.usage !== undefined && this.state.meter.isDoubted)
      this.deps.alarms.doubt(this.state.planned, this.unit.call.requestId);
  }

  private async finish(...end: Parameters<Unit['finish']>): Promise<void> {
    this.state.endedMs = this.deps.clock.monotonic();
    try {
      await this.unit.finish(...end);
    } finally {
      this.deps.units.leave(this.unit);
    }
  }
}
