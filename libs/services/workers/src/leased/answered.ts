import { hasBegunNothing } from '@gateway/platform';
import { ApiError, type ErrorCode, type InferenceAnswer } from '@gateway/contracts';

/**
 * True where the answer ended a unit: its event is written, and whatever is tried again is another unit. Where it is
 * false the same number is asked for again: the ledger takes one event of a unit. So a crash between its event and our
 * note of it costs nothing twice.
 */
export function isUnit({ status, unit_ended }: InferenceAnswer): boolean {
  // Of an edge that does not say it: what it refuses with these is hardly ever one.
  return unit_ended ?? (status !== 429 && status !== 503);
}

/** Returns the wait before the next call: as the answer says, but not past the end of the work. */
export function pauseMs({ retry_after_seconds }: InferenceAnswer, waitMs: number, leftMs: number): number {
  return Math.max(0, Math.min(leftMs, Math.max(waitMs, (retry_after_seconds ?? 0) * 1_000)));
}

/**
 * Returns the answer for an unreachable edge; `is_lost` where it may have begun what it was asked for. Throws what is no
 * such failure.
 */
export function unavailableAnswer(failure: unknown): InferenceAnswer & { is_lost: boolean } {
  if (!(failure instanceof ApiError)) throw failure;
  const { code, status, message, options } = failure;
  return {
    status: status >= 500 ? 503 : status,
    body: { error: { code, message } },
    retry_after_seconds: options.retryAfterSeconds ?? null,
    unit_ended: false,
    is_lost: !hasBegunNothing(failure),
  };
}

/** The rejection that an answer is, as an error of ours. */
export function errorOf({ status, body, retry_after_seconds }: InferenceAnswer): ApiError {
  const { error } = body as { error?: { code?: ErrorCode; message?: string; provider_code?: string } };
  const { code = 'internal_error', message, provider_code: providerCode, ...more } = error ?? {};
  return new ApiError(code, {
    ...more,
    status,
    message,
    providerCode,
    retryAfterSeconds: retry_after_seconds ?? undefined,
  });
}
