import {
  ApiError,
  UpstreamError,
  errorEntry,
  withoutStack,
  type ApiErrorOptions,
  type AttemptFault,
  type Clock,
  type Random,
  type Route,
  type RoutingPolicy,
  type UpstreamErrorOptions,
} from '@gateway/contracts';
import type { CredentialPools, PooledChoice } from './credential-pools.js';
import type { Plan } from './plan.js';
import type { PlannedRoute } from './survey.js';

/**
 * Circuit breakers, one per credential and model; `credential` is the id of a provider key, absent the platform's own
 * credential. Faults that calls of one `account` alone had open it for that account. The platform's driver wraps a library.
 */
export interface Breakers {
  isOpen(route: Route, credential?: string, account?: string): boolean;
  /** Runs an attempt and counts its result; errors that are not the provider's fault do not count. */
  run<T>(route: Route, attempt: () => Promise<T>, credential?: string, account?: string): Promise<T>;
  /** A stream died after its attempt had already counted as good. */
  report(route: Route, error: UpstreamError, credential?: string, account?: string): void;
}

export interface AttemptsOptions<T> {
  plan: Plan;
  policy: RoutingPolicy;
  clock: Clock;
  random: Random;
  budget: RetryBudget;
  breakers: Breakers;
  /** Credentials of providers that have several; absent = none has. */
  pools?: CredentialPools;
  /** Tokens that the request counts with until they are known; absent = none. */
  tokens?: number;
  signal: AbortSignal;
  /** Account of the request. */
  account: string;
  /** Credential by which breakers know attempts on the platform's; absent = they are the platform's. */
  credential?: string;
  /**
   * A provider may charge as soon as it has begun. Another attempt is made only where the failure proves that it had
   * not begun.
   */
  isCreate: boolean;
  /** One try of one route; `n` counts from 1, `hasNext` says that another route follows. Throws UpstreamError. */
  attempt: (plannedRoute: PlannedRoute, n: number, hasNext: boolean) => Promise<T>;
}

const DEFAULT_RETRIES = 2;
const BACKOFF_BASE_MS = 100;
const BACKOFF_CAP_MS = 2_000;
/** A longer Retry-After is not waited for within a request. */
const LONGEST_WAIT_MS = 2_000;
/** Credentials that follow one that failed by itself, in one request. */
const CREDENTIALS_NEXT_MAX = 4;
/** A provider can ask for years: a caller that obeys is gone. Another provider may serve long before. */
const ASKED_WAIT_MAX_MS = 60_000;

/** Failure of a route whose last credential began to cool down between the plan and the attempt. */
const NONE_READY: UpstreamErrorOptions = {
  code: 'provider_not_available',
  message: 'Every credential of the provider is at a limit.',
  httpStatus: null,
  retryable: false,
  fallback: true,
  notBegun: 'not_sent',
  countsAsFault: false,
  fault: 'service',
};

function faultOf(error: UpstreamError, n: number): AttemptFault {
  const { code, providerCode, httpStatus, fault } = error.options;
  return { n, code, provider_code: providerCode ?? null, status: httpStatus, fault };
}

/** The last attempt's failure as the caller gets it, with the others listed. */
export function attemptsFailed(last: UpstreamError, faults: AttemptFault[]): ApiError {
  const { code, status, providerCode, message, param, retryAfterMs, retryable, alarm } = last.options;
  const answered = status ?? errorEntry(code).status;
  const carriesRetryAfter = answered === 429 || answered === 503 || errorEntry(code).retryAfter;
  const options: ApiErrorOptions = {
    message,
    status: answered,
    ...(providerCode === undefined ? {} : { providerCode }),
    ...(param === undefined ? {} : { param }),
    ...(faults.length > 1 ? { attempts: faults } : {}),
    ...(carriesRetryAfter
      ? {
          retryAfterSeconds:
            retryAfterMs === undefined ? 5 : Math.min(retryAfterMs, ASKED_WAIT_MAX_MS) / 1_000,
        }
      : {}),
    // A quota of a month is no throttle, though its status is.
    ...(alarm === true || (answered === 429 && !retryable) ? { shouldRetry: false } : {}),
    cause: last,
  };
  return withoutStack(() => new ApiError(code, options));
}

const NONE_TRIED: ReadonlySet<string> = new Set();

class AttemptLoop<T> {
  private readonly faults: AttemptFault[] = [];
  private retriesLeft: number;
  private n = 0;
  /** Provider keys that their provider refused: no other route is tried with them. */
  private refusedKeys: string[] | null = null;
  /** Platform credentials that failed by themselves. */
  private triedCredentials: Set<string> | null = null;
  private credentialsLeft = CREDENTIALS_NEXT_MAX;

  constructor(private readonly options: AttemptsOptions<T>) {
    this.retriesLeft = options.policy.max_retries ?? DEFAULT_RETRIES;
  }

  async run(): Promise<T> {
    const { routes } = this.options.plan;
    let last: UpstreamError | null = null;
    for (let at = 0; at < routes.length; at += 1) {
      const plannedRoute = routes[at];
      const key = plannedRoute.providerKey?.id;
      if (this.isRefused(plannedRoute)) continue;
      const hasNext = at + 1 < routes.length && this.hasAfter(at);
      const result = await this.route(plannedRoute, hasNext);
      if (result.kind === 'served') return result.value;
      last = result.error;
      if (key !== undefined && last.options.fault === 'account' && !last.options.retryable)
        (this.refusedKeys ??= []).push(key);
      if (!last.options.fallback && !last.options.retryable) break;
      if (!this.mayFollow(last)) break;
    }
    if (!last) throw new ApiError('provider_not_available');
    throw attemptsFailed(last, this.faults);
  }

  private isRefused({ providerKey }: PlannedRoute): boolean {
    return providerKey !== undefined && this.refusedKeys?.includes(providerKey.id) === true;
  }

  /** True if a route behind this one can be tried. */
  private hasAfter(at: number): boolean {
    return this.options.plan.routes.some((next, later) => later > at && !this.isRefused(next));
  }

  private async route(
    plannedRoute: PlannedRoute,
    hasNext: boolean,
  ): Promise<{ kind: 'served'; value: T } | { kind: 'failed'; error: UpstreamError }> {
    const { account, budget, breakers, attempt, signal, credential } = this.options;
    budget.earn(plannedRoute.route.provider);
    for (let tries = 1; ; tries += 1) {
      let on = plannedRoute.pooled === undefined ? plannedRoute : this.drawn(plannedRoute);
      const counting = on?.pooled === undefined ? undefined : this.options.pools?.count(on, this.tokens);
      if (on !== null && counting !== undefined) on = await this.underLimits(plannedRoute, on, counting);
      if (on === null) return { kind: 'failed', error: this.noneReady(plannedRoute) };
      this.n += 1;
      const n = this.n;
      try {
        const { route, providerKey } = on;
        const breaker = providerKey?.id ?? credential;
        return {
          kind: 'served',
          value: await breakers.run(route, () => attempt(on, n, hasNext), breaker, account),
        };
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        this.faults.push(faultOf(error, n));
        const isFinal = signal.aborted || !this.mayFollow(error);
        if (on !== plannedRoute && error.options.credential !== undefined) {
          if (isFinal || !this.hasOther(on)) return { kind: 'failed', error };
          this.credentialsLeft -= 1;
          continue;
        }
        const waitMs = isFinal ? null : this.waitBeforeRetry(error, plannedRoute, hasNext, tries);
        if (waitMs === null) return { kind: 'failed', error };
        await this.options.clock.sleep(waitMs, signal);
      }
    }
  }

  private get tokens(): number {
    return this.options.tokens ?? 0;
  }

  /** Returns the route on a credential whose limits have room; of a fixed one on that, whatever its limits say. */
  private async underLimits(
    plannedRoute: PlannedRoute,
    drawn: PlannedRoute,
    counting: Promise<PooledChoice | null>,
  ): Promise<PlannedRoute | null> {
    const { pools } = this.options;
    const passedOver = new Set(this.triedCredentials);
    let on = drawn;
    let pooled = await counting;
    while (pooled === null) {
      if (on.pooled?.isFixed) return on;
      passedOver.add(on.pooled?.id ?? '');
      const next = this.drawn(plannedRoute, passedOver);
      if (next === null) return null;
      on = next;
      const count = pools?.count(on, this.tokens);
      if (count === undefined) return on;
      pooled = await count;
    }
    return { ...on, pooled };
  }

  private noneReady({ route }: PlannedRoute): UpstreamError {
    const nowMs = this.options.clock.now();
    const readyAtMs = this.options.pools?.readyAtMs(route, nowMs) ?? Infinity;
    const wait = readyAtMs === Infinity ? {} : { retryAfterMs: Math.max(1_000, readyAtMs - nowMs) };
    return withoutStack(() => new UpstreamError({ ...NONE_READY, ...wait }));
  }

  /** Returns the route on the credential that serves it; null where none is ready any more. */
  private drawn(
    plannedRoute: PlannedRoute,
    tried: ReadonlySet<string> = this.triedCredentials ?? NONE_TRIED,
  ): PlannedRoute | null {
    const { pooled } = plannedRoute;
    if (pooled === undefined || pooled.isFixed) return plannedRoute;
    const id = this.options.pools?.draw(plannedRoute, tried) ?? null;
    return id === null ? null : { ...plannedRoute, pooled: { ...pooled, id } };
  }

  /** True where another credential of the provider may serve at once what this one has failed by itself. */
  private hasOther(on: PlannedRoute): boolean {
    (this.triedCredentials ??= new Set()).add(on.pooled?.id ?? '');
    return this.credentialsLeft > 0 && this.drawn(on) !== null;
  }

  private mayFollow({ options }: UpstreamError): boolean {
    return !this.options.isCreate || options.notBegun !== undefined;
  }

  /** Milliseconds until the same route is tried again; null where it is not. */
  private waitBeforeRetry(
    error: UpstreamError,
    plannedRoute: PlannedRoute,
    hasNext: boolean,
    tries: number,
  ): number | null {
    const { retryable, retryAfterMs, code, providerCode } = error.options;
    if (!retryable || this.retriesLeft <= 0) return null;
    const isBusy = providerCode === 'rate_limit_exceeded' || code === 'gateway_timeout';
    if (isBusy && hasNext) return null;
    if (retryAfterMs !== undefined && retryAfterMs > LONGEST_WAIT_MS) return null;
    if (!this.options.budget.take(plannedRoute.route.provider)) return null;
    this.retriesLeft -= 1;
    const base = this.options.policy.retry_backoff_ms ?? BACKOFF_BASE_MS;
    const jittered = this.options.random.fraction() * Math.min(BACKOFF_CAP_MS, base * 2 ** (tries - 1));
    return Math.max(retryAfterMs ?? 0, jittered);
  }
}

/**
 * Tries the plan's routes until one serves: retries with full jitter on the same route, then falls back to the next.
 * Every attempt starts from the decoded original. Throws the last failure as ApiError; anything that is no UpstreamError
 * goes through untouched.
 */
export function runAttempts<T>(options: AttemptsOptions<T>): Promise<T> {
  return new AttemptLoop(options).run();
}

/**
 * Tokens that a request earns its provider; a retry costs one. With the ceiling, any 1,000 requests in a row make at
 * most 200 retries, also those right after a long time without a failure.
 */
const EARNED_PER_REQUEST = 0.19;
const CEILING = 10;
/** Tokens at the start, so that a quiet provider's first failures are retried. */
const FLOOR = 3;
/** Providers whose tokens are counted; beyond that all begin anew. */
const PROVIDERS_MAX = 1_000;

/** Retries a provider may still get. Shared by all requests of a process. */
export class RetryBudget {
  private readonly tokens = new Map<string, number>();

  /** A request is about to use the provider. */
  earn(provider: string): void {
    if (this.tokens.size > PROVIDERS_MAX) this.tokens.clear();
    this.tokens.set(provider, Math.min(CEILING, (this.tokens.get(provider) ?? FLOOR) + EARNED_PER_REQUEST));
  }

  /** True where a retry may be made; takes its token. */
  take(provider: string): boolean {
    const left = this.tokens.get(provider) ?? FLOOR;
    if (left < 1) return false;
    this.tokens.set(provider, left - 1);
    return true;
  }
}
