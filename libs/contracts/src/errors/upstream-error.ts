import type { ErrorCode } from './error-table.js';

export const NOT_BEGUN = ['not_sent', 'not_connected', 'refused'] as const;
export type NotBegun = (typeof NOT_BEGUN)[number];

export interface UpstreamErrorOptions {
  /** The gateway code this attempt ends in if no other attempt serves. */
  code: ErrorCode;
  /** HTTP status to answer with, where the code has several. */
  status?: number;
  /** Narrower reason shown to the caller as error.provider_code. */
  providerCode?: string;
  /** Names the provider; already scrubbed of ids and credentials. */
  message: string;
  /** Parameter that the provider names, as it names it. */
  param?: string;
  /** The provider's HTTP status; null where there was no answer. */
  httpStatus: number | null;
  /** May the same route be tried again? */
  retryable: boolean;
  /** May another route be tried? */
  fallback: boolean;
  /**
   * Proof that the provider has begun nothing: the request was never sent, or never got a connection, or was refused by its
   * status. Absent: it may have begun, and may charge for it.
   */
  notBegun?: NotBegun;
  /** Does it count against the breaker of the route? */
  countsAsFault: boolean;
  fault: 'caller' | 'account' | 'service';
  /** Time that the provider asks us to wait, in milliseconds. */
  retryAfterMs?: number;
  /**
   * The failure is the platform credential's own, so another of the same provider may serve. `permission` may be for one
   * model; `gone`: it could not be opened.
   */
  credential?: 'throttled' | 'refused' | 'permission' | 'out_of_quota' | 'gone';
  /** Our credential or mapping is broken: someone must look (alarm). */
  alarm?: boolean;
  cause?: unknown;
}

/** One attempt's failure. It knows whether it may be retried; the loop does not guess. */
export class UpstreamError extends Error {
  readonly options: UpstreamErrorOptions;

  constructor(options: UpstreamErrorOptions) {
    super(options.message, { cause: options.cause });
    this.name = 'UpstreamError';
    this.options = options;
  }
}

/**
 * Returns what `work` returns, and takes no stack of the errors that it makes. For failures that are ordinary and come
 * by the thousand, such as callers that leave: a stack says nothing there and costs most.
 */
export function withoutStack<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
