import type { Clock, ReportedCredentials, RouteHealth } from '@gateway/contracts';
import { repeat, type Repeated } from '@gateway/platform';

const REPORT_EVERY_MS = 15_000;
/** A catalogue that starts beside this process misses the first report, and lists too much until the next. */
const RETRY_MS = 1_000;

/** Tells the catalogue service which routes this process can call with a credential of the platform. */
export class CredentialReports {
  private loop: Repeated | null = null;

  constructor(
    private readonly health: Pick<RouteHealth, 'reportCredentials'>,
    /** Names this process among all that report. */
    private readonly edge: string,
    private readonly credentials: () => ReportedCredentials,
    private readonly clock: Clock,
    private readonly onFault: (failure: unknown) => void,
  ) {}

  /**
   * Reports before it returns, so that lists are right when the first request comes. A failed report is sent again each
   * second.
   */
  async start(): Promise<void> {
    const isSent = await this.send().then(
      () => true,
      (failure: unknown) => {
        this.onFault(failure);
        return false;
      },
    );
    const firstMs = isSent ? REPORT_EVERY_MS : RETRY_MS;
    this.loop = repeat(this.clock, REPORT_EVERY_MS, () => this.send(), this.onFault, firstMs, RETRY_MS);
  }

  /** Reports at once that providers or deployments came or went; where that fails, the next report says so. */
  changed(): Promise<void> {
    return this.loop === null ? Promise.resolve() : this.send().catch(this.onFault);
  }

  /** Withdraws the report. */
  async stop(): Promise<void> {
    await this.loop?.stop();
    await this.health.reportCredentials(this.edge, null).catch(this.onFault);
  }

  private send(): Promise<void> {
    return this.health.reportCredentials(this.edge, this.credentials());
  }
}
