import {
  ApiError,
  IdempotencyStore,
  type IdempotencyClaim,
  type IdempotencyRecord,
  type StoredAnswer,
} from '@gateway/contracts';

/** The table of answers to creates, in memory. */
export class IdempotencyStoreDouble extends IdempotencyStore {
  readonly records = new Map<string, IdempotencyClaim & IdempotencyRecord>();
  /** Calls that fail, as where the store is unreachable. */
  away: readonly ('claim' | 'renew' | 'complete' | 'release')[] = [];

  override async claim(
    claim: IdempotencyClaim,
    replaceBefore: Date,
    abandonedBefore: Date,
  ): Promise<IdempotencyRecord | null> {
    this.fail('claim');
    const held = this.records.get(nameOf(claim));
    const isFree =
      held === undefined ||
      held.createdAt < replaceBefore ||
      (held.answer === null && (held.createdAt < abandonedBefore || held.owner === claim.owner));
    if (!isFree) return held;
    this.records.set(nameOf(claim), { ...claim, answer: null });
    return null;
  }

  override async renew(claim: IdempotencyClaim): Promise<void> {
    this.fail('renew');
    if (this.isHeld(claim)) this.records.set(nameOf(claim), { ...claim, answer: null });
  }

  override async complete(claim: IdempotencyClaim, answer: StoredAnswer): Promise<boolean> {
    this.fail('complete');
    if (!this.isHeld(claim)) return false;
    this.records.set(nameOf(claim), { ...claim, answer });
    return true;
  }

  override async release(claim: IdempotencyClaim): Promise<void> {
    this.fail('release');
    if (this.isHeld(claim)) this.records.delete(nameOf(claim));
  }

  private isHeld(claim: IdempotencyClaim): boolean {
    const held = this.records.get(nameOf(claim));
    return held?.owner === claim.owner && held.answer === null;
  }

  private fail(call: (typeof this.away)[number]): void {
    if (this.away.includes(call)) throw new ApiError('service_unavailable');
  }
}

function nameOf({ scope, key }: IdempotencyClaim): string {
  return `${scope} ${key}`;
}
