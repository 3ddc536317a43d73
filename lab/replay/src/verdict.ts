export type Verdict =
  | { kind: 'held'; name: string }
  /** An exchange that was not sent, or refused by the gateway before it was, with the reason. */
  | { kind: 'not sent'; name: string; why: string }
  | { kind: 'failed'; name: string; why: string };
