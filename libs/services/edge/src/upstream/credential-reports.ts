import type { Clock, RouteHealth } from '@gateway/contracts';
import { repeat, type Repeated } from '@gateway/platform';

const REPORT_EVERY_MS = 15_000;
/** A catalogue that starts beside this process misses the first report, and lists too much until the next. */
const RETRY_EVERY_MS = 1_000;

/** Tells the catalogue service for which providers this process has a credential of the platform. */
export class CredentialReports {
  private loop: Repeated | null = null;
  private reportAtMs = 0;

  constructor(
    private readonly health: Pick<RouteHealth, 'reportCredentials'>,
    /** Names this process among all that report. */
    private readonly edge: string,
    /** Slugs. */
    private readonly providers: readonly string[],
    private readonly clock: Clock,
    private readonly onFault: (failure: unknown) => void,
  ) {}

  /** Reports before it returns, so that lists are right when the first request comes. A failed report is sent again each second. */
  async start(): Promise<void> {
    await this.send().catch(this.onFault);
    this.loop = repeat(this.clock, RETRY_EVERY_MS, () => this.sendWhenDue(), this.onFault, RETRY_EVERY_MS);
  }

  /** Withdraws the report. */
  async stop(): Promise<void> {
    await this.loop?.stop();
    await this.health.reportCredentials(this.edge, null).catch(this.onFault);
  }

  private async sendWhenDue(): Promise<void> {
    if (this.clock.now() >= this.reportAtMs) await this.send();
  }

  private async send(): Promise<void> {
    await this.health.reportCredentials(this.edge, this.providers);
    this.reportAtMs = this.clock.now() + REPORT_EVERY_MS;
  }
}
