import {
  ApiError,
  TurnoverMap,
  type AdmitRequest,
  type Clock,
  type PutUnit,
  type Timer,
} from '@gateway/contracts';
import { LEASE_MS, RENEW_MS, unitScopes, type SettlementQueue } from '@gateway/limits';
import type { AdmittedUnit } from '../admission/admission.js';

interface Reserved {
  admitRequest: AdmitRequest;
  counted: { minute: number };
}

/** The reservation of an admitted unit, as `put` takes it. */
function renewal({ admitRequest, counted }: Reserved): PutUnit {
  return {
    accountId: admitRequest.accountId,
    unit: admitRequest.unitId,
    action: 'renew',
    nano: admitRequest.worstNano ?? admitRequest.reservationNano,
    scopes: unitScopes(admitRequest),
    tokens: 0,
    tokenEstimate: admitRequest.tokenEstimate,
    minute: counted.minute,
    leaseMs: LEASE_MS,
  };
}

/** The reservation and what the unit holds of its providers' budgets. */
export function renewals(unit: AdmittedUnit): PutUnit[] {
  if (unit.holds === undefined) return [renewal(unit)];
  return [
    renewal(unit),
    ...unit.holds.map(({ request, minute }) => renewal({ admitRequest: request, counted: { minute } })),
  ];
}

interface RunningUnit {
  unit: AdmittedUnit;
  giveUp: (why: ApiError) => void;
  isOver: () => boolean;
}

/** Returns the error of a request that the end of a drain cuts off. */
function drained(): ApiError {
  return new ApiError('service_draining', { retryAfterSeconds: 1, shouldRetry: true });
}

/** Units that run: their leases are renewed until they are settled. Bounded by the requests in flight. */
export class InFlight {
  private readonly units = new TurnoverMap<string, RunningUnit>();
  private timer: Timer | null = null;

  constructor(
    private readonly settlementQueue: SettlementQueue,
    private readonly clock: Clock,
    private readonly drainDeadline: AbortSignal,
  ) {
    drainDeadline.addEventListener('abort', () => {
      for (const { giveUp } of this.units.values()) giveUp(drained());
    });
  }

  get size(): number {
    return this.units.size;
  }

  /**
   * `giveUp` is called when the grace of a drain is over. `isOver`: the unit is settled while its last bytes still wait for a
   * slow caller; renewing it then would hold again what may be posted already.
   */
  add(unit: AdmittedUnit, giveUp: (why: ApiError) => void, isOver: () => boolean): void {
    this.units.set(unit.admitRequest.unitId, { unit, giveUp, isOver });
    if (this.drainDeadline.aborted) giveUp(drained());
    this.timer ??= this.clock.setTimer(RENEW_MS, () => this.renew());
  }

  remove(unitId: string): void {
    this.units.delete(unitId);
  }

  /** Reports every unit that runs to the store. */
  resubmit(): void {
    for (const { unit, isOver } of this.units.values())
      if (!isOver()) for (const put of renewals(unit)) this.settlementQueue.add(put);
  }

  private renew(): void {
    this.timer = null;
    this.resubmit();
    if (this.units.size > 0) this.timer = this.clock.setTimer(RENEW_MS, () => this.renew());
  }
}
