/**
 * Tokens that a request earns its provider; a retry costs one. With the ceiling, any 1,000 requests in a row make at
 * most 200 retries, also those right after a long time without a failure (reliability 5.6, U03).
 */
const EARNED_PER_REQUEST = 0.19;
const CEILING = 10;
/** Tokens at the start, so that a quiet provider's first failures are retried. */
const FLOOR = 3;
const LARGEST_BOOK = 1_000;

/** Retries a provider may still get. Shared by all requests of a process. */
export class RetryBudget {
  private readonly tokens = new Map<string, number>();

  /** A request is about to use the provider. */
  earn(provider: string): void {
    if (this.tokens.size > LARGEST_BOOK) this.tokens.clear();
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
