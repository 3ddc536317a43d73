import type { ApiError } from '@gateway/contracts';
import type { MemoryBudget } from '@gateway/platform';

/** Size of a caller's waiting messages in a session, counted as bodies are. */
export class HeldLength {
  private held = 0;

  constructor(private readonly room: MemoryBudget) {}

  /** Returns the reason why there is no budget for more; null where there is. */
  now(length: number): ApiError | null {
    const more = length - this.held;
    if (more > 0) {
      const refusal = this.room.refusalOfMore(more);
      if (refusal !== null) return refusal;
      this.room.held(more);
    } else if (more < 0) this.room.released(-more);
    this.held = length;
    return null;
  }
}
