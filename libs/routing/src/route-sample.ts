/** The result of one try of a route. */
export interface RouteSample {
  /** Time to the first piece of the answer; null where none came. */
  firstPieceMs: number | null;
  /** Tokens of output a second; null where too few came to say. */
  tokensPerSecond: number | null;
  isFault: boolean;
}
