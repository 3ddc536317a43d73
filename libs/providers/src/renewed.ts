import type { Provider, ProviderAccess } from './provider.js';
import type { UpstreamRequest, UpstreamResponse } from './transport.js';

/**
 * True if a provider has refused what a cloud had issued for the access, and something else is to be had: the request may
 * be prepared and sent once more. It was refused before it was begun.
 */
export function isRenewed(
  provider: Provider,
  access: ProviderAccess,
  request: UpstreamRequest,
  { status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>,
): boolean {
  if (status !== 401 && status !== 403) return false;
  return provider.renew?.(access, request, { status, headers }) ?? false;
}
