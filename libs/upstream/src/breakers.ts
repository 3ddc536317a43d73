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
import { RouteBreaker, type Outcome } from './route-breaker.js';

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

/** One circuit breaker per credential and model (reliability 5.2; docs/adr/0004). */
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
      breaker.ended(pass, outcomeOf(error));
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
function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof UpstreamError)) return 'undecided';
  if (error.options.countsAsFault) return 'fault';
  return error.options.httpStatus === null ? 'undecided' : 'good';
}
