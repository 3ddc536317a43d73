import type { ApiError, Clock, UnitUsage } from '@gateway/contracts';
import type { Piece } from '@gateway/dialects';
import { transcriptionBound, usageBound, type UsageBound } from '@gateway/money';
import type { PlannedRoute } from '@gateway/routing';
import { begunAttempt, Meter, type AttemptState } from '../../units/meter.js';
import type { Unit, Units } from '../../units/unit.js';
import type { ProviderAlarms } from '../../upstream/provider-alarms.js';
import type { RealtimeAsked } from './realtime-endpoint.js';

/** One priced response or transcription, from its admission to its OUTCOME. */
export class RealtimeUnit {
  private readonly state: AttemptState;
  /** Bytes for an estimate. */
  deliveredBytes = 0;

  constructor(
    private readonly unit: Unit,
    work: RealtimeAsked,
    private readonly units: Units,
    private readonly alarms: ProviderAlarms,
    private readonly clock: Clock,
  ) {
    const { admitted } = unit;
    const [plannedRoute] = admitted.plan.routes;
    const meter = new Meter(admitted.asked.input, boundOf(work, plannedRoute));
    this.state = begunAttempt(plannedRoute, 1, meter, clock);
    this.state.httpStatus = 200;
    meter.answeredAtMs = this.state.startedMs;
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

  /** It failed at the provider: not billed. What the provider has counted the platform bears. */
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
    const nowMs = this.clock.monotonic();
    this.state.firstEventMs ??= nowMs;
    this.state.meter.see(piece, nowMs, false);
    if (piece.usage !== undefined && this.state.meter.isDoubted)
      this.alarms.doubt(this.state.plannedRoute, this.unit.request.requestId);
  }

  private async finish(...end: Parameters<Unit['finish']>): Promise<void> {
    this.state.endedMs = this.clock.monotonic();
    try {
      await this.unit.finish(...end);
    } finally {
      this.units.leave(this.unit);
    }
  }
}

function boundOf({ heardSecondsMax, inputBytes }: RealtimeAsked, { route }: PlannedRoute): UsageBound {
  return heardSecondsMax === undefined ? usageBound(route, inputBytes) : transcriptionBound(heardSecondsMax);
}
