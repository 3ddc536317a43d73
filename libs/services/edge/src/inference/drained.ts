import { ApiError } from '@gateway/contracts';

/** What a request is told that the end of a drain cuts off. */
export function drained(): ApiError {
  return new ApiError('service_draining', { retryAfterSeconds: 1, shouldRetry: true });
}
