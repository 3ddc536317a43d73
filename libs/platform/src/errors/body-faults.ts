import { ApiError, type ErrorDetail } from '@gateway/contracts';
import { messageOf } from './validation-pipe.js';

/** Throws ApiError of this code that names every fault; nothing where there is none. */
export function refuseFaults(
  code: 'validation_error' | 'unprocessable_entity',
  details: readonly ErrorDetail[],
): void {
  const [first] = details;
  if (first === undefined) return;
  throw new ApiError(code, { message: messageOf(first), details: [...details] });
}

/** Names of the fields that a body sets, null included. */
export function sentFields(body: object): string[] {
  return Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}
