import { ApiError } from '@gateway/contracts';
import type { Capability, ModelRequest } from './model-request.js';

/**
 * A part that a route cannot be sent though the plan let the request through, by the caller's own member: the first that
 * asks for the capability.
 */
export function refusedPart({ requires }: ModelRequest, capability: Capability, message: string): ApiError {
  const param = requires.find((one) => one.capability === capability)?.param;
  const named = param === undefined ? message : `${param}: ${message}`;
  return new ApiError('unsupported_operation', { status: 400, message: named, param });
}
