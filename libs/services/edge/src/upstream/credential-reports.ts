import type { Clock, RouteHealth } from '@gateway/contracts';
import { repeat, type Repeated } from '@gateway/platform';

const REPORT_EVERY_MS = 15_000;

/** Tells the catalogue service for which providers this process has a credential of the platform. */
export class CredentialReports {
  private loop: Repeated | null = null;

  constructor(
    private readonly health: Pick<RouteHealth, 'reportCredentials'>,
    /** Names this process among all that report. */
    private readonly edge: string,
    /** Slugs. */
    private readonly providers: readonly string[],
    private readonly clock: Clock,
    private readonly onFault: (failure: unknown) => void,
  ) {}

  /** Reports before it returns, so that lists are right when the first request comes. A failed report is sent again later. */
  async start(): Promise<void> {
    await this.send().catch(this.onFault);
    this.loop = repeat(this.clock, REPORT_EVERY_MS, () => this.send(), this.onFault, REPORT_EVERY_MS);
  }

  /** Withdraws the report. */
  async stop(): Promise<void> {
    await this.loop?.stop();
    await this.health.reportCredentials(this.edge, null).catch(this.onFault);
  }

  private send(): Promise<void> {
    return this.health.reportCredentials(this.edge, this.providers);
  }
}
