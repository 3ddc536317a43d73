import { ApiError, type DetailType } from '@gateway/contracts';

/** A 422 that names the field. */
export function fault(field: string, msg: string, type: DetailType = 'value_error'): ApiError {
  return new ApiError('validation_error', {
    message: `${field}: ${msg}`,
    details: [{ type, loc: [field], msg }],
  });
}
