import type { Clock, RouteHealth } from '@gateway/contracts';
import { repeat, type Repeated } from '@gateway/platform';
import type { RouteFigureCounts } from '@gateway/routing';

const REPORT_EVERY_MS = 15_000;
const AT_ONCE = 500;

/**
 * How providers fare, for the catalogue service. A report that does not arrive is lost: what follows says the same, and
 * one that is repeated might count twice.
 */
export class RouteReports {
  private loop: Repeated | null = null;

  constructor(
    private readonly figures: RouteFigureCounts,
    private readonly health: RouteHealth,
    private readonly clock: Clock,
    private readonly onFault: (failure: unknown) => void,
  ) {}

  start(): void {
    this.loop = repeat(this.clock, REPORT_EVERY_MS, () => this.send(), this.onFault);
  }

  async stop(): Promise<void> {
    await this.loop?.stop();
    await this.send().catch(this.onFault);
  }

  private async send(): Promise<void> {
    const taken = this.figures.take();
    for (let at = 0; at < taken.length; at += AT_ONCE)
      await this.health.report(taken.slice(at, at + AT_ONCE));
  }
}
