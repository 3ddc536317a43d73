import { HttpException } from '@nestjs/common';
import { ApiError, type ErrorCode } from '@gateway/contracts';

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'not_found',
  409: 'conflict',
  415: 'invalid_input',
  422: 'unprocessable_entity',
  429: 'rate_limit_exceeded',
  503: 'service_unavailable',
};

/** Any failure as one of the table. What is not ours becomes `internal_error`, which shows nothing of it. */
export function toApiError(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  const status = statusOf(failure);
  const code = status === undefined ? undefined : CODE_OF_STATUS[status];
  if (code === undefined) return new ApiError('internal_error', { cause: failure });
  return new ApiError(code, { cause: failure, ...(code === 'invalid_input' ? { status } : {}) });
}

/** Nest's own exceptions, and those of Fastify that carry one of its codes. Nobody else's status counts. */
function statusOf(failure: unknown): number | undefined {
  if (failure instanceof HttpException) return failure.getStatus();
  if (!(failure instanceof Error) || !('statusCode' in failure) || !('code' in failure)) return undefined;
  const { statusCode, code } = failure;
  if (typeof code !== 'string' || !code.startsWith('FST_') || typeof statusCode !== 'number')
    return undefined;
  return statusCode;
}
