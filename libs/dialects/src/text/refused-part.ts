import { ApiError } from '@gateway/contracts';
import type { Capability, FileReference, ModelRequest } from './model-request.js';

/**
 * A part that a route cannot be sent though the plan let the request through, by the caller's own member: the first that
 * asks for the capability.
 */
export function refusedPart({ requires }: ModelRequest, capability: Capability, message: string): ApiError {
  return refused(requires.find((one) => one.capability === capability)?.param, message);
}

/** A file by its id that a route cannot be sent, by the caller's own member. */
export function refusedFile(files: readonly FileReference[], fileId: string): ApiError {
  const param = files.find(({ id }) => id === fileId)?.param;
  return refused(param, 'a file by its id cannot be sent to this provider.');
}

function refused(param: string | undefined, message: string): ApiError {
  const named = param === undefined ? message : `${param}: ${message}`;
  return new ApiError('unsupported_operation', { status: 400, message: named, param });
}
