/** Tokens a request earns its provider; a retry costs one. Keeps retries at 20 % of traffic when everything fails. */
const EARNED_PER_REQUEST = 0.2;
const FLOOR = 3;
const CEILING = 100;
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
