import { EventEmitter } from 'node:events';
import CircuitBreaker from 'opossum';
import type { BreakerState, Clock, Random } from '@gateway/contracts';

const BUCKET_MS = 1_000;
const BUCKETS = 10;
/**
 * Time for which an open breaker lets nothing through, +-20 %. Constant: doubling would leave a provider alone for a
 * minute after it has recovered, and one call in five seconds costs nobody anything.
 */
const RESET_MS = 5_000;
/** opossum starts a timer at each opening whatever it is for; this one never ends, for the clock that is passed in decides. */
const NEVER_MS = 2 ** 31 - 1;
/** A probe that has not ended after so long does not keep the next one back. */
const PROBE_PATIENCE_MS = 3_000;
const SETTINGS = {
  timeout: false,
  // Below 20, so that it is open before the 20th call where a few are under way.
  volumeThreshold: 16,
  resetTimeout: NEVER_MS,
  // opossum opens above this share, not at it: half faults are enough.
  errorThresholdPercentage: 49.9,
  rollingCountTimeout: BUCKETS * BUCKET_MS,
  rollingCountBuckets: BUCKETS,
  rollingPercentilesEnabled: false,
  enableSnapshots: false,
} as const;

/** `undecided`: it says nothing about the provider, for example because the caller left first. */
export type Outcome = 'good' | 'fault' | 'undecided';

/** Permission to make one call; its outcome has to be reported. */
export interface Pass {
  /** Null while closed, else the number of the probe. */
  readonly probe: number | null;
  /** The period of one state that it was given in: what began before a change says nothing after it. */
  readonly period: number;
  /** True if the faults that opened it are of another account: a fault of this one opens it for all. */
  readonly isApart: boolean;
  readonly account: string | undefined;
}

interface AccountFault {
  account: string | undefined;
  bucket: number;
}

const FAULT = new Error('the provider failed');

/** The function that opossum runs: it settles with an outcome that is already known. */
function settle(outcome: 'good' | 'fault'): Promise<void> {
  // Thrown, not rejected: opossum then counts it, and opens, before `fire` returns.
  if (outcome === 'fault') throw FAULT;
  return Promise.resolve();
}

/**
 * The circuit breaker of one route. opossum holds the rolling window and the threshold that opens; this adapter gives it
 * decided outcomes only, waits by the clock, and lets one probe at a time through (docs/adr/0004).
 */
export class RouteBreaker {
  private readonly breaker: CircuitBreaker<['good' | 'fault'], void>;
  /** Moves opossum's window on. By use instead of by timer, so that a breaker without traffic costs nothing. */
  private readonly window = new EventEmitter();
  private bucket: number;
  private period = 0;
  private probe = 0;
  private probeEndsMs = 0;
  private opensUntilMs = 0;
  /** The only account whose faults opened it, for which alone it is open; null for all. */
  private onlyFor: string | null = null;
  /** The last fault of each of the last two accounts that had one. */
  private faults: AccountFault[] = [];
  /** Open and its time is over, which is noticed by the first call after it. */
  private isHalfOpen = false;

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly onState: (state: BreakerState) => void,
  ) {
    this.bucket = this.currentBucket();
    this.breaker = new CircuitBreaker(settle, { ...SETTINGS, rotateBucketController: this.window });
    this.breaker.on('open', () => {
      const live = this.faults.filter(({ bucket }) => this.bucket - bucket < BUCKETS);
      this.onlyFor = live.length === 1 ? (live[0].account ?? null) : null;
      this.open();
    });
    this.breaker.on('close', () => {
      this.onlyFor = null;
      this.faults = [];
      this.rotate(BUCKETS);
      this.changed('closed');
    });
  }

  get state(): BreakerState {
    if (this.breaker.closed) return 'closed';
    return this.clock.monotonic() < this.opensUntilMs ? 'open' : 'half_open';
  }

  /** True where a call would be refused now. `account`: absent where one account alone has the credential. */
  isRefusing(account?: string): boolean {
    if (this.breaker.closed || this.isApart(account)) return false;
    const now = this.clock.monotonic();
    return now < this.opensUntilMs || now < this.probeEndsMs;
  }

  /** Null where no call may be made. */
  enter(account?: string): Pass | null {
    const isApart = this.isApart(account);
    if (this.breaker.closed || isApart) return { probe: null, period: this.period, isApart, account };
    if (this.isRefusing(account)) return null;
    if (!this.isHalfOpen) this.changed('half_open');
    this.probe += 1;
    this.probeEndsMs = this.clock.monotonic() + PROBE_PATIENCE_MS;
    return { probe: this.probe, period: this.period, isApart, account };
  }

  ended(pass: Pass, outcome: Outcome): void {
    if (pass.period !== this.period) return;
    if (pass.isApart) {
      // Faults of two accounts are the provider's.
      if (outcome === 'fault') this.openForAll();
      return;
    }
    if (pass.probe === null) {
      if (outcome !== 'undecided') this.count(outcome, pass.account);
      return;
    }
    if (outcome === 'good') return this.breaker.close();
    // A later probe is under way and decides.
    if (pass.probe !== this.probe) return;
    if (outcome === 'fault') this.open();
    else this.probeEndsMs = 0;
  }

  /** A fault that was found out after its call had counted as good. */
  fault(account?: string): void {
    if (this.breaker.closed) this.count('fault', account);
    else if (this.isApart(account)) this.openForAll();
  }

  /** Lets go of opossum's timer. Nothing may be entered afterwards. */
  close(): void {
    this.breaker.shutdown();
  }

  /** Open, though not for this account: the faults came from another one alone. */
  private isApart(account: string | undefined): boolean {
    return this.onlyFor !== null && this.onlyFor !== account;
  }

  private openForAll(): void {
    this.onlyFor = null;
    this.open();
  }

  /** Closed before, or half open: for the next while nothing passes. */
  private open(): void {
    this.opensUntilMs = this.clock.monotonic() + RESET_MS * (0.8 + 0.4 * this.random.fraction());
    this.changed('open');
  }

  private changed(state: BreakerState): void {
    this.isHalfOpen = state === 'half_open';
    this.period += 1;
    this.probeEndsMs = 0;
    this.onState(state);
  }

  private count(outcome: 'good' | 'fault', account: string | undefined): void {
    const bucket = this.currentBucket();
    this.rotate(Math.min(bucket - this.bucket, BUCKETS));
    this.bucket = bucket;
    if (outcome === 'fault') {
      const others = this.faults.filter((fault) => fault.account !== account);
      this.faults = [...others, { account, bucket }].slice(-2);
    }
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
