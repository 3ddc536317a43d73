import type { ApiError } from '@gateway/contracts';
import type { MemoryBudget } from '@gateway/platform';

/** Size of a caller's waiting messages in a session, counted as bodies are. */
export class HeldLength {
  private held = 0;

  constructor(private readonly budget: MemoryBudget) {}

  /** Returns the reason why there is no budget for more; null where there is. */
  now(length: number): ApiError | null {
    const more = length - this.held;
    if (more > 0) {
      const rejection = this.budget.rejectionOfMore(more);
      if (rejection !== null) return rejection;
      this.budget.buffered(more);
    } else if (more < 0) this.budget.released(-more);
    this.held = length;
    return null;
  }
}
