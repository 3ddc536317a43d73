import { EventEmitter } from 'node:events';
import CircuitBreaker from 'opossum';
import type { Clock, Random } from '@gateway/contracts';

const BUCKET_MS = 1_000;
const BUCKETS = 10;
/**
 * How long an open one lets nothing through, +-20 %. Constant: doubling would leave a provider alone for a minute after
 * it has recovered, and one call in five seconds costs nobody anything.
 */
const RESET_MS = 5_000;
/** A probe that has not ended after so long does not keep the next one back. */
const PROBE_PATIENCE_MS = 3_000;
const SETTINGS = {
  timeout: false,
  // Below 20, so that it is open before the 20th call where a few are under way.
  volumeThreshold: 16,
  // opossum opens above this share, not at it: half faults are enough.
  errorThresholdPercentage: 49.9,
  rollingCountTimeout: BUCKETS * BUCKET_MS,
  rollingCountBuckets: BUCKETS,
  rollingPercentilesEnabled: false,
  enableSnapshots: false,
} as const;

export type BreakerState = 'closed' | 'half_open' | 'open';
/** `undecided`: it says nothing about the provider, for example because the caller left first. */
export type Outcome = 'good' | 'fault' | 'undecided';

/** Permission to make one call; its outcome has to be reported. */
export interface Pass {
  /** Null while closed, else the number of the probe. */
  readonly probe: number | null;
  /** The period of one state that it was given in: what began before a change says nothing after it. */
  readonly period: number;
}

const FAULT = new Error('the provider failed');

/** The function that opossum runs: it settles with an outcome that is already known. */
function settle(outcome: 'good' | 'fault'): Promise<void> {
  // Thrown, not rejected: opossum then counts it, and opens, before `fire` returns.
  if (outcome === 'fault') throw FAULT;
  return Promise.resolve();
}

/**
 * The circuit breaker of one route. opossum holds the state, the rolling window, the threshold and the reset timer; this
 * adapter gives it decided outcomes only and lets one probe at a time through (docs/adr/0004).
 */
export class RouteBreaker {
  private readonly breaker: CircuitBreaker<['good' | 'fault'], void>;
  /** Moves opossum's window on. By use instead of by timer, so that a breaker without traffic costs nothing. */
  private readonly window = new EventEmitter();
  private bucket: number;
  private period = 0;
  private probe = 0;
  private probeEndsMs = 0;

  constructor(
    private readonly clock: Clock,
    random: Random,
    onState: (state: BreakerState) => void,
  ) {
    this.bucket = this.currentBucket();
    const options = { ...SETTINGS, resetTimeout: RESET_MS, rotateBucketController: this.window };
    this.breaker = new CircuitBreaker(settle, options);
    // Before opossum's own listener, which starts its timer with what the options hold then.
    this.breaker.prependListener('open', () => {
      options.resetTimeout = RESET_MS * (0.8 + 0.4 * random.fraction());
    });
    const changed = (state: BreakerState): void => {
      this.period += 1;
      this.probeEndsMs = 0;
      onState(state);
    };
    this.breaker.on('open', () => changed('open'));
    this.breaker.on('halfOpen', () => changed('half_open'));
    this.breaker.on('close', () => {
      this.rotate(BUCKETS);
      changed('closed');
    });
  }

  get state(): BreakerState {
    if (this.breaker.opened) return 'open';
    return this.breaker.halfOpen ? 'half_open' : 'closed';
  }

  /** True where a call would be refused now. */
  get isRefusing(): boolean {
    if (this.breaker.closed) return false;
    return this.breaker.opened || this.clock.monotonic() < this.probeEndsMs;
  }

  /** Null where no call may be made. */
  enter(): Pass | null {
    if (this.breaker.closed) return { probe: null, period: this.period };
    if (this.isRefusing) return null;
    this.probe += 1;
    this.probeEndsMs = this.clock.monotonic() + PROBE_PATIENCE_MS;
    return { probe: this.probe, period: this.period };
  }

  ended(pass: Pass, outcome: Outcome): void {
    if (pass.period !== this.period) return;
    if (outcome === 'good') return this.count('good');
    // Half open, a later probe is under way and decides.
    if (pass.probe !== null && pass.probe !== this.probe) return;
    if (outcome === 'fault') this.count('fault');
    else this.probeEndsMs = 0;
  }

  /** A fault that was found out after its call had counted as good. */
  fault(): void {
    if (this.breaker.closed) this.count('fault');
  }

  /** Stops the reset timer. Nothing may be entered afterwards. */
  close(): void {
    this.breaker.shutdown();
  }

  private count(outcome: 'good' | 'fault'): void {
    const bucket = this.currentBucket();
    this.rotate(Math.min(bucket - this.bucket, BUCKETS));
    this.bucket = bucket;
    // A fault has been counted by now; what fire returns says nothing more.
    this.breaker.fire(outcome).catch(() => undefined);
  }

  private currentBucket(): number {
    return Math.floor(this.clock.monotonic() / BUCKET_MS);
  }

  private rotate(times: number): void {
    for (let n = 0; n < times; n += 1) this.window.emit('rotate');
  }
}
