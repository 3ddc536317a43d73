export type Verdict =
  | { kind: 'held'; name: string }
  /** Not sent, or refused by the gateway before it was: why. */
  | { kind: 'not sent'; name: string; why: string }
  | { kind: 'failed'; name: string; why: string };
