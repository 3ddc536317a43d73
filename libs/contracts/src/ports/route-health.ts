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

/**
 * Where edges report how providers fare, for the figures that the catalogue shows beside their prices. Drivers: in process
 * (catalogue service); HTTP. What is reported twice counts twice, so nobody repeats it.
 */
export abstract class RouteHealth {
  /** Throws ApiError `service_unavailable` where nobody takes them. */
  abstract report(figures: readonly RouteFigures[]): Promise<void>;
}
