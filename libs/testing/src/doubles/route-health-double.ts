import {
  RouteHealth,
  type ProviderState,
  type ReportedCredentials,
  type RouteFigures,
} from '@gateway/contracts';

/** Keeps what was reported. */
export class RouteHealthDouble extends RouteHealth {
  readonly reports: (readonly RouteFigures[])[] = [];
  readonly states: (readonly ProviderState[])[] = [];
  readonly credentials: (ReportedCredentials | null)[] = [];
  isUnavailable = false;

  override async report(figures: readonly RouteFigures[]): Promise<void> {
    if (this.isUnavailable) throw new Error('The catalogue service is away.');
    this.reports.push(figures);
  }

  override async reportStates(_edge: string, states: readonly ProviderState[]): Promise<void> {
    if (this.isUnavailable) throw new Error('The catalogue service is away.');
    this.states.push(states);
  }

  override async reportCredentials(_edge: string, credentials: ReportedCredentials | null): Promise<void> {
    if (this.isUnavailable) throw new Error('The catalogue service is away.');
    this.credentials.push(credentials);
  }
}
