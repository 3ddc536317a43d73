import { ApiError } from '@gateway/contracts';

/** Returns the error as callers are shown it: what is none of ours is an internal error, with its cause. */
export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
}

/** Returns the error of an answer that ended before its last event. */
export function brokenOff(): ApiError {
  return new ApiError('upstream_error', { providerCode: 'bad_response', message: 'The answer broke off.' });
}
