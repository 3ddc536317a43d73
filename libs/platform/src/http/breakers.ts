import CircuitBreaker from 'opossum';
import { UpstreamError, type Clock, type Random, type Route } from '@gateway/contracts';
import type { Breakers } from '@gateway/routing';

const FIRST_RESET_MS = 5_000;
const LONGEST_RESET_MS = 60_000;
const IDLE_EVICTION_MS = 600_000;
const MOST_BREAKERS = 2_000;

type Attempt = () => Promise<unknown>;

interface Slot {
  route: Route;
  breaker: CircuitBreaker<[Attempt], unknown>;
  usedAtMs: number;
  resetMs: number;
}

function countsAsFault(error: unknown): boolean {
  return error instanceof UpstreamError && error.options.countsAsFault;
}

/** One opossum circuit breaker per credential and model (reliability 5.2). Errors that are not the provider's fault count as good. */
export class OpossumBreakers implements Breakers {
  private readonly slots = new Map<string, Slot>();

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly onState: (route: Route, state: 'open' | 'half_open' | 'closed') => void = () =>
      undefined,
  ) {}

  isOpen(route: Route): boolean {
    const slot = this.slots.get(this.name(route));
    return slot !== undefined && slot.breaker.opened;
  }

  async run<T>(route: Route, attempt: () => Promise<T>): Promise<T> {
    const { breaker } = this.slot(route);
    let value: { answered: T } | null = null;
    try {
      await breaker.fire(async () => {
        value = { answered: await attempt() };
      });
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EOPENBREAKER') throw openError(error);
      throw error;
    }
    if (value === null) throw new TypeError('the breaker resolved without an answer');
    return (value as { answered: T }).answered;
  }

  report(route: Route, error: UpstreamError): void {
    this.slot(route)
      .breaker.fire(() => Promise.reject(error))
      .catch(() => undefined);
  }

  /** Every breaker in memory; `model` is the provider's own name. */
  states(): { provider: string; model: string; state: 'closed' | 'half_open' | 'open' }[] {
    return [...this.slots.values()].map(({ route, breaker }) => ({
      provider: route.provider,
      model: route.upstreamModel,
      state: breaker.opened ? 'open' : breaker.halfOpen ? 'half_open' : 'closed',
    }));
  }

  close(): void {
    for (const { breaker } of this.slots.values()) breaker.shutdown();
    this.slots.clear();
  }

  private name(route: Route): string {
    return `${route.provider} ${route.upstreamModel}`;
  }

  private slot(route: Route): Slot {
    const name = this.name(route);
    const now = this.clock.monotonic();
    const known = this.slots.get(name);
    if (known) {
      known.usedAtMs = now;
      return known;
    }
    if (this.slots.size >= MOST_BREAKERS) this.evict(now);
    const slot: Slot = { route, breaker: this.make(), usedAtMs: now, resetMs: FIRST_RESET_MS };
    slot.breaker.on('open', () => {
      const jitter = 0.8 + 0.4 * this.random.fraction();
      slot.resetMs = Math.min(LONGEST_RESET_MS, slot.resetMs * 2);
      setReset(slot.breaker, slot.resetMs * jitter);
      this.onState(route, 'open');
    });
    slot.breaker.on('halfOpen', () => this.onState(route, 'half_open'));
    slot.breaker.on('close', () => {
      slot.resetMs = FIRST_RESET_MS;
      setReset(slot.breaker, FIRST_RESET_MS);
      this.onState(route, 'closed');
    });
    this.slots.set(name, slot);
    return slot;
  }

  private make(): CircuitBreaker<[Attempt], unknown> {
    return new CircuitBreaker((attempt: Attempt) => attempt(), {
      timeout: false,
      volumeThreshold: 20,
      errorThresholdPercentage: 50,
      rollingCountTimeout: 10_000,
      rollingPercentilesEnabled: false,
      resetTimeout: FIRST_RESET_MS,
      errorFilter: (error: unknown) => !countsAsFault(error),
    });
  }

  private evict(now: number): void {
    for (const [name, slot] of this.slots) {
      if (now - slot.usedAtMs < IDLE_EVICTION_MS && this.slots.size < MOST_BREAKERS) continue;
      slot.breaker.shutdown();
      this.slots.delete(name);
    }
  }
}

/** opossum reads its option each time it opens; its types hide the options. */
function setReset(breaker: CircuitBreaker<[Attempt], unknown>, resetTimeout: number): void {
  (breaker as unknown as { options: { resetTimeout: number } }).options.resetTimeout = resetTimeout;
}

function openError(cause: unknown): UpstreamError {
  return new UpstreamError({
    code: 'provider_not_available',
    message: 'The provider failed too often and is left alone for a moment.',
    httpStatus: null,
    retryable: false,
    fallback: true,
    countsAsFault: false,
    fault: 'service',
    cause,
  });
}
