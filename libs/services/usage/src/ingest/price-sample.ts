import type { Clock } from '@gateway/contracts';

/** Units of a second that are all checked. */
const ALL_MAX = 500;
/** One of so many beyond them. */
const ONE_OF = 16;
const SECOND_MS = 1_000;

/**
 * Units whose price is checked as they are posted: all of the first 500 of a second, and one in 16 of the rest. A wrong price
 * is one of a model, so that a busy second still shows it; the full reconciliation prices every unit.
 */
export class PriceSample {
  private second = Number.NEGATIVE_INFINITY;
  private seen = 0;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  take<Unit>(units: readonly Unit[]): readonly Unit[] {
    const second = Math.floor(this.clock.monotonic() / SECOND_MS);
    if (second !== this.second) [this.second, this.seen] = [second, 0];
    const before = this.seen;
    this.seen += units.length;
    if (this.seen <= ALL_MAX) return units;
    return units.filter((_, index) => before + index < ALL_MAX || (before + index) % ONE_OF === 0);
  }
}
