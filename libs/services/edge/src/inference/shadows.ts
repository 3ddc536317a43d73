import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, Pressure, RANDOM } from '@gateway/platform';
import { EdgeMetrics } from '../metrics/edge-metrics.js';
import type { Client } from '../request/client.js';
import type { Unit } from '../units/unit.js';
import { ShadowRuns, type Shadowed } from './shadow-runs.js';

/** Shadows that run at once. Nothing waits: one more is dropped, and counted. */
const RUNNING_MAX = 8;
/** Size of a body above which no shadow keeps it in memory. */
const BODY_BYTES_MAX = 1_048_576;
/** Time that shadows have to end once the process ends; then they are cut off. */
const ENDING_MS = 5_000;
const PATHS: ReadonlySet<string> = new Set(['/v1/chat/completions', '/v1/messages', '/v1/responses']);

/**
 * Shadows of aliases: samples of their requests go to a second model, too, once the caller's answer has ended. They take
 * nothing of the caller's time, money or limits, and are dropped first where the edge has too much to do.
 */
@Injectable()
export class Shadows {
  private readonly running = new Set<Promise<void>>();
  private readonly ending = new AbortController();
  private isStopped = false;

  constructor(
    private readonly runs: ShadowRuns,
    private readonly pressure: Pressure,
    private readonly metrics: EdgeMetrics,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Draws the request of a unit that is over, for an alias with a shadow. Nothing happens before its connection has its last byte. */
  watch({ request, admitted, attempts }: Unit, client: Client): void {
    const { alias } = admitted.plan;
    if (alias?.shadow === undefined || !PATHS.has(request.path) || request.origin.kind !== 'http') return;
    // An answer from the cache, one on the caller's own key, and one of the very model compare nothing.
    const last = attempts.at(-1)?.plannedRoute;
    if (last === undefined || last.model.record.id === alias.shadow.model) return;
    if (attempts.some(({ plannedRoute }) => plannedRoute.providerKey !== undefined)) return;
    if (this.random.fraction() * 100 >= alias.shadow.sample_pct) return;
    const shadowed = { request, principal: admitted.principal, alias: { ...alias, shadow: alias.shadow } };
    client.whenClosed(() => {
      // Who has left or was cut off has not had its answer.
      if (!client.isGone && !client.upstream.signal.aborted) this.begin(shadowed);
    });
  }

  /** Begins none any more, and waits for those that run; what takes longer fails. */
  async stop(): Promise<void> {
    this.isStopped = true;
    const late = this.clock.setTimer(ENDING_MS, () =>
      this.ending.abort(new ApiError('service_draining', { retryAfterSeconds: 1 })),
    );
    await Promise.all(this.running);
    late.cancel();
  }

  private begin(shadowed: Shadowed): void {
    const { running, pressure, metrics, ending } = this;
    const { byteLength } = shadowed.request.bytes;
    if (this.isStopped) return metrics.shadowed('draining');
    if (byteLength > BODY_BYTES_MAX) return metrics.shadowed('too_large');
    if (running.size >= RUNNING_MAX) return metrics.shadowed('full');
    if (pressure.refusesSome) return metrics.shadowed('pressure');
    pressure.buffered(byteLength);
    const run = this.runs
      .run(shadowed, ending.signal)
      .then(
        (obstacle) => {
          if (obstacle !== null) metrics.shadowed(obstacle);
        },
        () => metrics.shadowed('error'),
      )
      .finally(() => {
        pressure.released(byteLength);
        running.delete(run);
      });
    running.add(run);
  }
}
