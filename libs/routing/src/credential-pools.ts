import type { Route } from '@gateway/contracts';

/** Choice among the platform's credentials at a provider that has several. */
export interface PooledChoice {
  /** Requests of the same key are kept on one credential; null = drawn for each. */
  readonly key: string | null;
  /** The credential that is called with; null before it is drawn. */
  readonly id: string | null;
  /** It is `id` whatever its state, because an object or a chain is of use there alone. */
  readonly isFixed?: true;
  /** The minute that the attempt is counted in, and its tokens until they are known; absent where nothing limits it. */
  readonly counted?: { readonly minute: number; readonly tokens: number };
}

/** The platform's credentials, by provider. */
export interface CredentialPools {
  /**
   * Milliseconds since the epoch at which a credential may serve the route; null where the provider has no pool, Infinity
   * where none ever may.
   */
  readyAtMs(route: Route, nowMs: number): number | null;
  /** True for a credential that is there, enabled and not refused. */
  has(provider: string, id: string): boolean;
  /** Returns the id of the credential that serves next, none of `tried`; null where none is ready. */
  draw(planned: { route: Route; pooled?: PooledChoice }, tried: ReadonlySet<string>): string | null;
  /**
   * Counts an attempt on the limits of its credential; null where one is reached, and the credential is then drawn no more
   * until its minute rolls. Undefined, at once, where it has none.
   */
  count(
    planned: { route: Route; pooled?: PooledChoice },
    tokens: number,
  ): Promise<PooledChoice | null> | undefined;
}
