/** Number of classes in which a time or a speed is counted: four to each power of two, from 1 to 2^20. */
export const FIGURE_CLASSES = 80;

/** Figures of an edge on a provider's answers for a model since its last report. */
export interface RouteFigures {
  provider: string;
  /** Id of the model. */
  model: string;
  tries: number;
  /** Tries that the provider failed. */
  faults: number;
  /** Tries by the class of their milliseconds to the first piece; those without one are in none. */
  latency: readonly number[];
  /** Tries by the class of their tokens of output a second; those of which too few came are in none. */
  speed: readonly number[];
}

/** States of a circuit breaker, from the mildest to the worst. */
export const BREAKER_STATES = ['closed', 'half_open', 'open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/**
 * A failure of a provider with the platform's own credential: codes alone, because its text may hold what nobody else
 * may read.
 */
export interface ProviderError {
  /** Code of the error table. */
  code: string;
  /** The narrower reason. */
  provider_code: string | null;
  /** The provider's own status; null where it gave no answer. */
  http_status: number | null;
  /** ISO 8601. */
  at: string;
}

/** Answers of a provider's health path, from the better to the worse. */
export const HEALTH_STATES = ['ok', 'failing'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** A provider as one edge sees it now. */
export interface ProviderState {
  provider: string;
  /** The worst of its models' breakers. */
  breaker: BreakerState;
  last_error: ProviderError | null;
  /** null where it has no health path. */
  health: HealthState | null;
}

/** Greatest number of routes that a report of credentials names. */
export const UNSERVED_MAX = 2_000;

/** Routes that an edge can call with credentials of the platform. */
export interface ReportedCredentials {
  /** Slugs of the providers with a credential. */
  providers: readonly string[];
  /**
   * Routes of these providers that none of their credentials serves, `<model> <provider> <upstream model>`: a resource of
   * Azure without a deployment of it, credentials for other models.
   */
  unserved: readonly string[];
}

/**
 * Receiver of the edges' reports on providers, for the figures that the catalogue shows beside prices. Drivers: in
 * process (catalogue service); HTTP.
 */
export abstract class RouteHealth {
  /**
   * Counts what is reported twice twice, so nobody repeats it. Throws ApiError `service_unavailable` where it cannot be
   * delivered.
   */
  abstract report(figures: readonly RouteFigures[]): Promise<void>;

  /** Replaces what this edge has reported of these providers; `edge` names the process. Throws like `report`. */
  abstract reportStates(edge: string, states: readonly ProviderState[]): Promise<void>;

  /** Replaces what this edge has reported of credentials of the platform; null when it stops. Throws like `report`. */
  abstract reportCredentials(edge: string, credentials: ReportedCredentials | null): Promise<void>;
}
