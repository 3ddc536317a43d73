/** The answer to the caller of a create. In a replay the body lacks its secrets. */
export interface CreateAnswer<T extends object> {
  status: number;
  body: T;
}

export type StoredAnswer = CreateAnswer<Readonly<Record<string, unknown>>>;

/** User, endpoint and digest of the body of one Idempotency-Key. */
export interface IdempotencyClaim {
  /** `<caller> <method> <route>`. */
  scope: string;
  key: string;
  bodyDigest: string;
  /** The request that holds the key until it is answered. */
  owner: string;
  createdAt: Date;
}

export interface IdempotencyRecord {
  bodyDigest: string;
  /** null while the first request is still under way. */
  answer: StoredAnswer | null;
}

/**
 * Answers to creates by Idempotency-Key. Drivers: a service's own table; HTTP (to the workers service, for edges). Each
 * call may be repeated. Throws ApiError `service_unavailable` where the store cannot be reached.
 */
export abstract class IdempotencyStore {
  /**
   * Takes the key in one statement. Answers null where it was free or the owner's already, or where its record was
   * created before `replaceBefore`. A record unanswered since before `abandonedBefore`, over which a process died, gives
   * way, too. Else answers the record that holds it.
   */
  abstract claim(
    claim: IdempotencyClaim,
    replaceBefore: Date,
    abandonedBefore: Date,
  ): Promise<IdempotencyRecord | null>;
  /** Still under way at `createdAt`: what takes long is not abandoned. */
  abstract renew(claim: IdempotencyClaim): Promise<void>;
  /** Keeps the answer, which holds no secret. False where the key is another request's by now: nothing is kept. */
  abstract complete(claim: IdempotencyClaim, answer: StoredAnswer): Promise<boolean>;
  /** Gives the key back after a create that failed, so that it may be tried again. */
  abstract release(claim: IdempotencyClaim): Promise<void>;
}
