import { ApiError } from '@gateway/contracts';

/** The operator's credential reaches what every tenant has at a provider: an object there takes a key of the account's own. */
export function objectRefused(param: string): ApiError {
  return new ApiError('unsupported_operation', {
    providerCode: 'unsupported_operation',
    message: `${param} names an object at a provider. That takes a provider key of your own.`,
    param,
  });
}
