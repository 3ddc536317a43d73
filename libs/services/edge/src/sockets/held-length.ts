import type { ApiError } from '@gateway/contracts';
import type { Room } from '@gateway/platform';

/** What of a caller's waits within a session counts as bodies do. */
export class HeldLength {
  private held = 0;

  constructor(private readonly room: Room) {}

  /** Why there is no room for more; null where there is. */
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
