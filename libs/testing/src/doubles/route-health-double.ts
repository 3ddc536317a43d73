import { RouteHealth, type RouteFigures } from '@gateway/contracts';

/** Keeps what was reported. */
export class RouteHealthDouble extends RouteHealth {
  readonly reports: (readonly RouteFigures[])[] = [];
  isAway = false;

  override async report(figures: readonly RouteFigures[]): Promise<void> {
    if (this.isAway) throw new Error('The catalogue service is away.');
    this.reports.push(figures);
  }
}
