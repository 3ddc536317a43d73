import { Inject, Injectable } from '@nestjs/common';
import {
  RouteHealth,
  type ProviderState,
  type Random,
  type ReportedCredentials,
  type RouteFigures,
} from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const TIMEOUT_MS = 5_000;

/** The catalogue service over HTTP. Figures count each time they arrive, so they are sent once. */
@Injectable()
export class HttpRouteHealth extends RouteHealth {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override report(figures: readonly RouteFigures[]): Promise<void> {
    return this.post('/internal/catalogue/health', { figures }, false);
  }

  override reportStates(edge: string, states: readonly ProviderState[]): Promise<void> {
    return this.post('/internal/catalogue/provider-states', { edge, states }, true);
  }

  override reportCredentials(edge: string, credentials: ReportedCredentials | null): Promise<void> {
    const { providers = null, unserved = [] } = credentials ?? {};
    // A catalogue service of an earlier release refuses a member that it does not know.
    const body = { edge, providers, ...(unserved.length === 0 ? {} : { unserved }) };
    return this.post('/internal/catalogue/credentials', body, true);
  }

  private async post(path: string, body: object, idempotent: boolean): Promise<void> {
    const { status } = await this.http.request({
      service: 'catalogue',
      method: 'POST',
      path,
      body,
      timeoutMs: TIMEOUT_MS,
      idempotent,
    });
    if (status !== 204)
      throw unavailable(this.random, new Error(`The catalogue service answered ${status}.`));
  }
}
