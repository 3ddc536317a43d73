import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  HEADER,
  IdempotencyStore,
  type Clock,
  type IdempotencyClaim,
  type StoredAnswer,
} from '@gateway/contracts';
import { claimKey, CLOCK } from '@gateway/platform';
import type { InferenceRequest } from '../request/inference-request.js';
import { NO_MODEL, Rejections } from '../units/rejections.js';

/** More than any form has. */
const PARTS_MAX = 1_000;

export interface Claimed {
  claim: IdempotencyClaim;
  /** Answer to the first request with the key. */
  answer: StoredAnswer | null;
}

/** Idempotency-Keys of requests. A key is claimed by its first request and belongs to it until it is answered. */
@Injectable()
export class IdempotencyClaims {
  constructor(
    private readonly store: IdempotencyStore,
    private readonly rejections: Rejections,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Takes the request's Idempotency-Key; null where it has none. Throws ApiError; a rejection is recorded. */
  async take(request: InferenceRequest): Promise<Claimed | null> {
    const { headers, principal, path, requestId } = request;
    const key = headers[HEADER.idempotencyKey.toLowerCase()];
    if (key === undefined) return null;
    const asked = { key, principal, route: `POST ${path}`, requestId, bodyDigest: digestOf(request) };
    try {
      const claimed = await claimKey({ store: this.store, clock: this.clock }, asked);
      // Nothing admits a repeat, so nothing else would find that its key was revoked.
      if (claimed.answer !== null) await request.reload();
      return claimed;
    } catch (rejection) {
      this.rejections.addFailure(request, NO_MODEL, rejection);
      throw rejection;
    }
  }

  /** Returns the claim as of now. A failed renewal is sent again with the next: where none arrives, `complete` finds out. */
  renew(claim: IdempotencyClaim): IdempotencyClaim {
    const renewed = { ...claim, createdAt: new Date(this.clock.now()) };
    this.store.renew(renewed).catch(() => undefined);
    return renewed;
  }

  /** Stores the answer; false where another request has the key by now. */
  complete(claim: IdempotencyClaim, answer: StoredAnswer): Promise<boolean> {
    return this.store.complete(claim, answer);
  }

  /** Releases the claim; where the store is unreachable it lapses by itself. */
  async release(claim: IdempotencyClaim): Promise<void> {
    await this.store.release(claim).catch(() => undefined);
  }
}

/** A form that is sent again has another boundary. */
function digestOf({ bytes, headers }: InferenceRequest): string {
  const hash = createHash('sha256');
  const boundary = /boundary="?([^";]+)/i.exec(headers['content-type'] ?? '')?.[1];
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let from = 0;
  for (let part = 0; boundary !== undefined && part < PARTS_MAX; part += 1) {
    const at = body.indexOf(boundary, from);
    if (at === -1) break;
    hash.update(body.subarray(from, at)).update('\n--');
    from = at + boundary.length;
  }
  return hash.update(body.subarray(from)).digest('hex');
}
