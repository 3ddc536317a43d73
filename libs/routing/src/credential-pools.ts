import type { Route } from '@gateway/contracts';

/** Choice among the platform's credentials at a provider that has several. */
export interface PooledChoice {
  /** Requests of the same key are kept on one credential; null = drawn for each. */
  readonly key: string | null;
  /** The credential that is called with; null before it is drawn. */
  readonly id: string | null;
  /** It is `id` whatever its state, because an object or a chain is of use there alone. */
  readonly isFixed?: true;
}

/** The platform's credentials, by provider. */
export interface CredentialPools {
  /**
   * Milliseconds since the epoch at which a credential may serve the model; null where the provider has no pool, Infinity
   * where none ever may.
   */
  readyAtMs(provider: string, model: string, nowMs: number): number | null;
  /** True for a credential that is there, enabled and not refused. */
  has(provider: string, id: string): boolean;
  /** Returns the id of the credential that serves next, none of `tried`; null where none is ready. */
  draw(planned: { route: Route; pooled?: PooledChoice }, tried: ReadonlySet<string>): string | null;
}
