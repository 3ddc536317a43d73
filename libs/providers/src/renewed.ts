import type { Provider, ProviderAccess } from './provider.js';
import type { UpstreamRequest, UpstreamResponse } from './transport.js';

/**
 * True if a provider has refused what a cloud had issued for the access, and something else is to be had: the request may
 * be prepared and sent once more. It was refused before it was begun.
 */
export async function isRenewed(
  provider: Provider,
  access: ProviderAccess,
  request: UpstreamRequest,
  { status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>,
): Promise<boolean> {
  if (status !== 401 && status !== 403) return false;
  return (await provider.renew?.(access, request, { status, headers })) ?? false;
}
