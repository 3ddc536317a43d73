import { RouteHealth, type Random, type RouteFigures } from '@gateway/contracts';
import { unavailable, type InternalHttp } from '@gateway/platform';

const TIMEOUT_MS = 5_000;

/** The catalogue service's figures over HTTP. A report counts each time it arrives, so it is sent once. */
export class HttpRouteHealth extends RouteHealth {
  constructor(
    private readonly http: InternalHttp,
    private readonly random: Random,
  ) {
    super();
  }

  override async report(figures: readonly RouteFigures[]): Promise<void> {
    const { status } = await this.http.request({
      service: 'catalogue',
      method: 'POST',
      path: '/internal/catalogue/health',
      body: { figures },
      timeoutMs: TIMEOUT_MS,
      idempotent: false,
    });
    if (status !== 204)
      throw unavailable(this.random, new Error(`The catalogue service answered ${status}.`));
  }
}
