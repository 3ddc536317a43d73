/** How many classes a time or a speed is counted in: four to each power of two, from 1 to 2^20. */
export const FIGURE_CLASSES = 80;

/** What an edge has seen of a provider's answers for a model since it last reported. */
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

/** Of a circuit breaker, from the mildest to the worst. */
export const BREAKER_STATES = ['closed', 'half_open', 'open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/** How a provider failed on the platform's own credential: codes alone, because its text may hold what nobody else may read. */
export interface ProviderError {
  /** Of the error table. */
  code: string;
  /** The narrower reason. */
  provider_code: string | null;
  /** The provider's own status; null where it gave no answer. */
  http_status: number | null;
  /** ISO 8601. */
  at: string;
}

/** A provider as one edge sees it now. */
export interface ProviderState {
  provider: string;
  /** The worst of its models' breakers. */
  breaker: BreakerState;
  last_error: ProviderError | null;
}

/**
 * Where edges report how providers fare, for the figures that the catalogue shows beside their prices. Drivers: in process
 * (catalogue service); HTTP.
 */
export abstract class RouteHealth {
  /** What is reported twice counts twice, so nobody repeats it. Throws ApiError `service_unavailable` where nobody takes them. */
  abstract report(figures: readonly RouteFigures[]): Promise<void>;

  /** Replaces what this edge has reported of these providers; `edge` names the process. Throws like `report`. */
  abstract reportStates(edge: string, states: readonly ProviderState[]): Promise<void>;
}
