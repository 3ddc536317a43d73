import { Inject, Injectable } from '@nestjs/common';
import {
  IdempotencyStore,
  type IdempotencyClaim,
  type IdempotencyRecord,
  type Random,
  type StoredAnswer,
} from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const TIMEOUT_MS = 5_000;

/** Idempotency-Keys in the workers service over HTTP. */
@Injectable()
export class HttpIdempotencyStore extends IdempotencyStore {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async claim(
    claim: IdempotencyClaim,
    replaceBefore: Date,
    abandonedBefore: Date,
  ): Promise<IdempotencyRecord | null> {
    const asked = { claim, replace_before: replaceBefore, abandoned_before: abandonedBefore };
    return (await this.post<{ held: IdempotencyRecord | null }>('claim', asked)).held;
  }

  override async renew(claim: IdempotencyClaim): Promise<void> {
    await this.post('renew', claim);
  }

  override async complete(claim: IdempotencyClaim, answer: StoredAnswer): Promise<boolean> {
    return (await this.post<{ is_kept: boolean }>('complete', { claim, answer })).is_kept;
  }

  override async release(claim: IdempotencyClaim): Promise<void> {
    await this.post('release', claim);
  }

  private async post<T>(call: string, body: object): Promise<T> {
    const { status, body: answer } = await this.http.request({
      service: 'workers',
      method: 'POST',
      path: `/internal/idempotency/${call}`,
      body,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    if (status >= 400 || answer === null || typeof answer !== 'object')
      throw unavailable(this.random, new Error(`The workers service answered ${status}.`));
    return answer as T;
  }
}
