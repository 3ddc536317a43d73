/** How one try of a route went. */
export interface RouteSample {
  /** To the first piece of the answer; null where none came. */
  firstPieceMs: number | null;
  /** Tokens of output a second; null where too few came to say. */
  tokensPerSecond: number | null;
  isFault: boolean;
}
