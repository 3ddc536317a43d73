import { Inject, Injectable } from '@nestjs/common';
import type { Clock, UpstreamError } from '@gateway/contracts';
import { CLOCK, LOGGER } from '@gateway/platform';
import type { PlannedRoute } from '@gateway/routing';
import type { Logger } from 'pino';
import { EdgeMetrics } from '../metrics/edge-metrics.js';

/** The same alarm is written again when it still rings after this long. */
const QUIET_MS = 60_000;
const MOST_ALARMS = 1_000;

/**
 * Alarms on failures that no retry mends: a provider refuses our credential, does not know a model of ours, or reports
 * impossible counts.
 */
@Injectable()
export class ProviderAlarms {
  private readonly writtenMs = new Map<string, number>();

  constructor(
    @Inject(EdgeMetrics)
    private readonly metrics: Pick<EdgeMetrics, 'providerAlarm' | 'usageDoubted' | 'usageFarOff'>,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error'>,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Counts every failure that is an alarm, and writes one line a minute for each route and status. */
  see({ route }: PlannedRoute, { options }: UpstreamError, requestId: string): void {
    if (options.alarm !== true) return;
    const { provider, upstreamModel } = route;
    const { httpStatus: status, message: reason } = options;
    this.metrics.providerAlarm(provider, status);
    if (!this.isDue(`${provider} ${upstreamModel} ${status}`)) return;
    const fields = { provider, model: upstreamModel, status, reason, request_id: requestId };
    this.logger.error(fields, 'a provider refuses our credential or our mapping');
  }

  /** A provider counted more than its route can use: not believed. Counts each, one line a minute for each route. */
  doubt({ route }: PlannedRoute, requestId: string): void {
    const { provider, upstreamModel } = route;
    this.metrics.usageDoubted(provider);
    if (!this.isDue(`${provider} ${upstreamModel} usage`)) return;
    const fields = { provider, model: upstreamModel, request_id: requestId };
    this.logger.error(fields, 'a provider reported more than its route can use: the usage is estimated');
  }

  /** The counts of a text answer differ tenfold from its text: they are billed. Counts each, one line a minute for each route. */
  farOff({ route }: PlannedRoute, requestId: string): void {
    const { provider, upstreamModel } = route;
    this.metrics.usageFarOff(provider, upstreamModel);
    if (!this.isDue(`${provider} ${upstreamModel} far off`)) return;
    const fields = { provider, model: upstreamModel, request_id: requestId };
    this.logger.error(fields, 'the counts of a route differ tenfold from the text of its answers');
  }

  private isDue(name: string): boolean {
    const now = this.clock.monotonic();
    if (now - (this.writtenMs.get(name) ?? -Infinity) < QUIET_MS) return false;
    if (this.writtenMs.size >= MOST_ALARMS) this.writtenMs.clear();
    this.writtenMs.set(name, now);
    return true;
  }
}
