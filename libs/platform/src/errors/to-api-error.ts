import { HttpException, NotFoundException } from '@nestjs/common';
import { ApiError, type ErrorCode } from '@gateway/contracts';

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'not_found',
  409: 'conflict',
  // A name longer than any of ours.
  414: 'not_found',
  415: 'invalid_input',
  422: 'unprocessable_entity',
  429: 'rate_limit_exceeded',
  503: 'service_unavailable',
};

const BAD_ADDRESS = 'The address is not well-formed: two hexadecimal digits have to follow each % in it.';

/** Fastify's only 415: the table's own text is about attachments. */
const BAD_TYPE = { message: 'The Content-Type of the body cannot be read.', param: 'header.content-type' };

/**
 * Codes that say that a database cannot be reached or gives up for now. Of Node: sockets, names and networks. Of PostgreSQL:
 * the classes 08, 53 and 57P; a statement past its time limit (57014), a lock that was not free in time (55P03); a transaction
 * that another one stood against (40001, 40P01), one that waited too long (25P03, 25P04); a server that became a standby
 * (25006), a disk that fails (58030). Of Prisma: among others a transaction that found no connection in time (P2028) or met
 * another one (P2034). So does a machine with a full disk or without a free file descriptor. Anything else is a bug of ours.
 */
const UNAVAILABLE =
  /^(?:ECONN\w+|EADDRNOTAVAIL|EAI_AGAIN|EHOST\w+|ENET\w+|ENOTFOUND|EPIPE|ETIMEDOUT|ENOSPC|EDQUOT|EMFILE|ENFILE|08\w{3}|25006|25P0[34]|40001|40P01|53\w{3}|55P03|57014|57P\w{2}|58030|P1001|P1002|P1008|P1017|P2024|P2028|P2034|P2037)$/;
const UNAVAILABLE_WORDS =
  /^(?:timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated|Client (?:has encountered a connection error|was closed)|There was an error establishing an SSL connection)/;
const DEEPEST_CAUSE = 8;

/** Returns the error for an unknown path, and for one that this caller may not know of: both are answered alike. */
export function noEndpoint(): ApiError {
  return new ApiError('not_found', { message: 'No endpoint has this method and path: see /docs.' });
}

/** Any failure as one of the table. What is not ours becomes `internal_error`, which shows nothing of it. */
export function toApiError(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  if (isUnavailable(failure))
    return new ApiError('service_unavailable', { cause: failure, retryAfterSeconds: 2, shouldRetry: true });
  // Nest's router alone throws it; its own text repeats the address, where a credential may stand.
  if (failure instanceof NotFoundException) return noEndpoint();
  if (failure instanceof Error && 'code' in failure && failure.code === 'FST_ERR_BAD_URL')
    return new ApiError('bad_request', { cause: failure, message: BAD_ADDRESS });
  const status = statusOf(failure);
  const code = status === undefined ? undefined : CODE_OF_STATUS[status];
  if (code === undefined) return new ApiError('internal_error', { cause: failure });
  return new ApiError(code, { cause: failure, ...(code === 'invalid_input' ? { status, ...BAD_TYPE } : {}) });
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

/** Detects the failure by its shape, through its causes: a driver wraps the error of the socket. */
function isUnavailable(failure: unknown): boolean {
  let current = failure;
  for (let depth = 0; depth < DEEPEST_CAUSE && typeof current === 'object' && current !== null; depth += 1) {
    if ('code' in current && typeof current.code === 'string' && UNAVAILABLE.test(current.code)) return true;
    if (
      'message' in current &&
      typeof current.message === 'string' &&
      UNAVAILABLE_WORDS.test(current.message)
    )
      return true;
    current = causeOf(current);
  }
  return false;
}

/** Prisma keeps what its driver said in `meta`. */
function causeOf(failure: object): unknown {
  if ('cause' in failure) return failure.cause;
  const meta: unknown = 'meta' in failure ? failure.meta : null;
  return typeof meta === 'object' && meta !== null && 'driverAdapterError' in meta
    ? meta.driverAdapterError
    : undefined;
}
