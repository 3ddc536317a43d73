import { EventEmitter } from 'node:events';
import CircuitBreaker from 'opossum';
import {
  UpstreamError,
  withoutStack,
  type BreakerState,
  type Clock,
  type Random,
  type Route,
  type UpstreamErrorOptions,
} from '@gateway/contracts';
import type { Breakers } from '@gateway/routing';

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
type CallResult = 'good' | 'fault' | 'undecided';

/** Permission to make one call; its result has to be reported. */
interface Pass {
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

/** The function that opossum runs for a fault. Thrown, not rejected: it is then counted, and opens, before `fire` returns. */
function fail(): Promise<void> {
  throw FAULT;
}

/**
 * The circuit breaker of one route. opossum holds the rolling window and the threshold that opens; this adapter gives it
 * decided results only, waits by the clock, and lets one probe at a time through (docs/adr/0004).
 */
class RouteBreaker {
  private readonly breaker: CircuitBreaker<[], void>;
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
    this.breaker = new CircuitBreaker(fail, { ...SETTINGS, rotateBucketController: this.window });
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

  ended(pass: Pass, result: CallResult): void {
    if (pass.period !== this.period) return;
    if (pass.isApart) {
      // Faults of two accounts are the provider's.
      if (result === 'fault') this.openForAll();
      return;
    }
    if (pass.probe === null) {
      if (result !== 'undecided') this.count(result, pass.account);
      return;
    }
    if (result === 'good') return this.breaker.close();
    // A later probe is under way and decides.
    if (pass.probe !== this.probe) return;
    if (result === 'fault') this.open();
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

  private count(result: 'good' | 'fault', account: string | undefined): void {
    const bucket = this.currentBucket();
    this.rotate(Math.min(bucket - this.bucket, BUCKETS));
    this.bucket = bucket;
    if (result === 'good') {
      // It opens nothing: opossum counts it, without the promises of a call.
      this.breaker.emit('fire');
      return;
    }
    const others = this.faults.filter((fault) => fault.account !== account);
    this.faults = [...others, { account, bucket }].slice(-2);
    // A fault has been counted by now; what fire returns says nothing more.
    this.breaker.fire().catch(() => undefined);
  }

  private currentBucket(): number {
    return Math.floor(this.clock.monotonic() / BUCKET_MS);
  }

  private rotate(times: number): void {
    for (let n = 0; n < times; n += 1) this.window.emit('rotate');
  }
}

const IDLE_EVICTION_MS = 600_000;
const BREAKERS_MAX = 2_000;
const OPEN: UpstreamErrorOptions = {
  code: 'provider_not_available',
  message: 'The provider failed too often: it is not called for some seconds.',
  httpStatus: null,
  retryable: false,
  fallback: true,
  notBegun: 'not_sent',
  countsAsFault: false,
  fault: 'service',
};

/** Results of routes on the platform's own credentials; those of a customer's key are for its owner. */
interface BreakerEvents {
  onState?: (route: Route, state: BreakerState) => void;
  /** The provider failed, or refused the platform; what is the caller's own fault is none. */
  onFailure?: (route: Route, error: UpstreamError) => void;
}

interface Probe {
  route: Route;
  isPlatforms: boolean;
  breaker: RouteBreaker;
  usedAtMs: number;
}

/** One circuit breaker per credential and model (docs/adr/0004). */
export class CircuitBreakers implements Breakers {
  private readonly slots = new Map<string, Probe>();

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly events: BreakerEvents = {},
  ) {}

  isOpen(route: Route, credential?: string, account?: string): boolean {
    const slot = this.slots.get(nameOf(route, credential));
    return slot?.breaker.isRefusing(credential === undefined ? account : undefined) ?? false;
  }

  async run<T>(route: Route, attempt: () => Promise<T>, credential?: string, account?: string): Promise<T> {
    const breaker = this.breakerOf(route, credential);
    const pass = breaker.enter(credential === undefined ? account : undefined);
    if (pass === null) throw withoutStack(() => new UpstreamError(OPEN));
    try {
      const answer = await attempt();
      breaker.ended(pass, 'good');
      return answer;
    } catch (error) {
      breaker.ended(pass, resultOf(error));
      if (error instanceof UpstreamError) this.failed(route, error, credential);
      throw error;
    }
  }

  report(route: Route, error: UpstreamError, credential?: string, account?: string): void {
    if (error.options.countsAsFault)
      this.breakerOf(route, credential).fault(credential === undefined ? account : undefined);
    this.failed(route, error, credential);
  }

  private failed(route: Route, error: UpstreamError, credential: string | undefined): void {
    if (credential === undefined && error.options.fault === 'service') this.events.onFailure?.(route, error);
  }

  /** Every breaker in memory of the platform's own credentials; `model` is the provider's own name. */
  states(): { provider: string; model: string; state: BreakerState }[] {
    const platforms = [...this.slots.values()].filter(({ isPlatforms }) => isPlatforms);
    return platforms.map(({ route, breaker }) => ({
      provider: route.provider,
      model: route.upstreamModel,
      state: breaker.state,
    }));
  }

  private breakerOf(route: Route, credential: string | undefined): RouteBreaker {
    const name = nameOf(route, credential);
    const now = this.clock.monotonic();
    const known = this.slots.get(name);
    if (known) {
      known.usedAtMs = now;
      return known.breaker;
    }
    if (this.slots.size >= BREAKERS_MAX) this.evict(now);
    const breaker = new RouteBreaker(this.clock, this.random, (state) => {
      if (credential === undefined) this.events.onState?.(route, state);
    });
    this.slots.set(name, { route, isPlatforms: credential === undefined, breaker, usedAtMs: now });
    return breaker;
  }

  /** Makes room for one more: all that are idle go, or else the one that was used longest ago. */
  private evict(now: number): void {
    let oldest: string | null = null;
    let oldestMs = Infinity;
    for (const [name, { usedAtMs }] of this.slots) {
      if (now - usedAtMs >= IDLE_EVICTION_MS) this.remove(name);
      else if (usedAtMs < oldestMs) [oldest, oldestMs] = [name, usedAtMs];
    }
    if (oldest !== null && this.slots.size >= BREAKERS_MAX) this.remove(oldest);
  }

  private remove(name: string): void {
    this.slots.get(name)?.breaker.close();
    this.slots.delete(name);
  }
}

function nameOf({ provider, upstreamModel }: Route, credential: string | undefined): string {
  const line = `${provider} ${upstreamModel}`;
  return credential === undefined ? line : `${line} ${credential}`;
}

/** A provider that answered is reachable, whatever it said to this caller; one that a caller did not wait for may not be. */
function resultOf(error: unknown): CallResult {
  if (!(error instanceof UpstreamError)) return 'undecided';
  if (error.options.countsAsFault) return 'fault';
  return error.options.httpStatus === null ? 'undecided' : 'good';
}
