import type { Clock, Random } from '@gateway/contracts';

/** Outcomes are counted over this many seconds. */
const WINDOW_SECONDS = 10;
/** Fewer outcomes than this open nothing. Below 20, so that it is open before the 20th call where a few are under way. */
const FEWEST_OUTCOMES = 16;
const FAULT_SHARE = 0.5;
/**
 * How long an open one lets nothing through, +-20 %. Constant: doubling would leave a provider alone for a minute after
 * it has recovered, and one call in five seconds costs nobody anything.
 */
const RESET_MS = 5_000;
/** A probe that has said nothing for so long does not keep the next one back. */
const PROBE_PATIENCE_MS = 3_000;

export type BreakerState = 'closed' | 'half_open' | 'open';
/** `undecided`: it says nothing of the provider, for example because the caller left first. */
export type Outcome = 'good' | 'fault' | 'undecided';

interface Second {
  at: number;
  good: number;
  faults: number;
}

/** Leave to make one call; its outcome has to be told. */
export interface Pass {
  /** Null while closed, else the number of the probe. */
  readonly probe: number | null;
  /** The time of being closed or open that it was given in: what began before a change says nothing after it. */
  readonly era: number;
}

/** One circuit breaker: closed, open after too many faults, then one call at a time tries whether it may close again. */
export class CircuitBreaker {
  private current: BreakerState = 'closed';
  private era = 0;
  private seconds: Second[] = [];
  private openUntilMs = 0;
  private probe = 0;
  private probeEndsMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly onState: (state: BreakerState) => void,
  ) {}

  get state(): BreakerState {
    return this.current;
  }

  /** True where a call would be refused now. */
  get isRefusing(): boolean {
    const now = this.clock.monotonic();
    switch (this.current) {
      case 'closed':
        return false;
      case 'open':
        return now < this.openUntilMs;
      case 'half_open':
        return now < this.probeEndsMs;
    }
  }

  /** Null where no call may be made. */
  enter(): Pass | null {
    if (this.current === 'closed') return { probe: null, era: this.era };
    if (this.isRefusing) return null;
    if (this.current === 'open') this.change('half_open');
    this.probe += 1;
    this.probeEndsMs = this.clock.monotonic() + PROBE_PATIENCE_MS;
    return { probe: this.probe, era: this.era };
  }

  ended(pass: Pass, outcome: Outcome): void {
    if (pass.era !== this.era) return;
    if (this.current === 'closed') return this.count(outcome);
    if (outcome === 'good') return this.close();
    // A newer probe is under way and has the word.
    if (pass.probe !== this.probe) return;
    if (outcome === 'fault') return this.open();
    this.probeEndsMs = 0;
  }

  /** A fault that was found out after its call had counted as good. */
  fault(): void {
    if (this.current === 'closed') this.count('fault');
  }

  private count(outcome: Outcome): void {
    if (outcome === 'undecided') return;
    const second = this.second();
    if (outcome === 'good') {
      second.good += 1;
      return;
    }
    second.faults += 1;
    const faults = this.seconds.reduce((sum, entry) => sum + entry.faults, 0);
    const all = this.seconds.reduce((sum, entry) => sum + entry.good, faults);
    if (all >= FEWEST_OUTCOMES && faults >= all * FAULT_SHARE) this.open();
  }

  private second(): Second {
    const at = Math.floor(this.clock.monotonic() / 1_000);
    const last = this.seconds.at(-1);
    if (last?.at === at) return last;
    const second = { at, good: 0, faults: 0 };
    this.seconds = [...this.seconds.filter((entry) => entry.at > at - WINDOW_SECONDS), second];
    return second;
  }

  private open(): void {
    this.openUntilMs = this.clock.monotonic() + RESET_MS * (0.8 + 0.4 * this.random.fraction());
    this.change('open');
  }

  private close(): void {
    this.seconds = [];
    this.change('closed');
  }

  private change(state: BreakerState): void {
    this.current = state;
    this.era += 1;
    this.onState(state);
  }
}
