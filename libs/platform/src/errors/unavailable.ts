import { ApiError, type ErrorCode, type Random } from '@gateway/contracts';

interface UnavailableOptions {
  code?: Extract<ErrorCode, 'service_unavailable' | 'service_draining'>;
  /** Replaces the table's text. */
  message?: string;
}

/**
 * One of our own 503s: a dependency of ours is away, we shed load, or we drain. Retry-After is 1 to 5 s at
 * random, so that the callers do not come back together.
 */
export function unavailable(
  random: Random,
  cause?: unknown,
  { code = 'service_unavailable', message }: UnavailableOptions = {},
): ApiError {
  const retryAfterSeconds = 1 + Math.floor(random.fraction() * 5);
  return new ApiError(code, { status: 503, retryAfterSeconds, shouldRetry: true, cause, message });
}
