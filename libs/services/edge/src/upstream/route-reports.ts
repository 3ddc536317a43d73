import {
  BREAKER_STATES,
  type BreakerState,
  type Clock,
  type HealthState,
  type ProviderError,
  type ProviderState,
  type RouteHealth,
  type UpstreamError,
} from '@gateway/contracts';
import { repeat, type Repeated } from '@gateway/platform';
import type { RouteFigureCounts } from '@gateway/routing';

const REPORT_EVERY_MS = 15_000;
const AT_ONCE = 500;

/** The last error of each provider of this release. */
export class LastErrors {
  readonly byProvider = new Map<string, ProviderError>();

  add(provider: string, { options }: UpstreamError, nowMs: number): void {
    this.byProvider.set(provider, {
      code: options.code,
      provider_code: options.providerCode ?? null,
      http_status: options.httpStatus,
      at: new Date(nowMs).toISOString(),
    });
  }
}

interface RouteReportsOptions {
  figures: Pick<RouteFigureCounts, 'take'>;
  breakers: { states(): { provider: string; state: BreakerState }[] };
  errors: Pick<LastErrors, 'byProvider'>;
  /** Answers of health paths, by provider. */
  answers: ReadonlyMap<string, HealthState>;
  health: RouteHealth;
  clock: Clock;
  /** Names this process among all that report. */
  edge: string;
  onFault: (failure: unknown) => void;
}

/**
 * Reports on providers for the catalogue service. Figures that do not arrive are missed: what follows says the same, and
 * what is repeated might count twice. States are sent whole each time.
 */
export class RouteReports {
  private loop: Repeated | null = null;

  constructor(private readonly options: RouteReportsOptions) {}

  start(): void {
    const { clock, onFault } = this.options;
    this.loop = repeat(clock, REPORT_EVERY_MS, () => this.send(), onFault);
  }

  async stop(): Promise<void> {
    await this.loop?.stop();
    await this.send().catch(this.options.onFault);
  }

  private async send(): Promise<void> {
    const { figures, health, edge } = this.options;
    const taken = figures.take();
    for (let at = 0; at < taken.length; at += AT_ONCE) await health.report(taken.slice(at, at + AT_ONCE));
    const states = this.states();
    for (let at = 0; at < states.length; at += AT_ONCE)
      await health.reportStates(edge, states.slice(at, at + AT_ONCE));
  }

  /**
   * Returns the state of each called provider: one whose breakers are forgotten was not called for long, and would be.
   */
  private states(): ProviderState[] {
    const { answers, breakers, errors } = this.options;
    const { byProvider } = errors;
    const worst = new Map<string, BreakerState>(
      [...byProvider.keys(), ...answers.keys()].map((provider) => [provider, 'closed']),
    );
    for (const { provider, state } of breakers.states()) {
      const known = worst.get(provider) ?? 'closed';
      worst.set(provider, BREAKER_STATES.indexOf(state) > BREAKER_STATES.indexOf(known) ? state : known);
    }
    return [...worst].map(([provider, breaker]) => ({
      provider,
      breaker,
      last_error: byProvider.get(provider) ?? null,
      health: answers.get(provider) ?? null,
    }));
  }
}
