import { Injectable } from '@nestjs/common';
import type { ProviderKeyGrant } from '@gateway/contracts';
import type { ProviderAccess } from '@gateway/providers';
import type { PlannedRoute } from '@gateway/routing';
import { ProviderDirectory } from '../config/provider-directory.js';
import { OpenedKeys } from './opened-keys.js';

/** Addresses and credentials of providers: the platform's, and those of customers' own keys. */
@Injectable()
export class Credentials {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly openedKeys: OpenedKeys,
  ) {}

  /**
   * Returns the platform's access, or the customer's own key at the operator's address for its provider; undefined where
   * there is none. Rejects with ApiError where the key cannot be opened.
   */
  of(
    { route, providerKey }: Pick<PlannedRoute, 'route' | 'providerKey'>,
    accountId: string,
  ): ProviderAccess | undefined | Promise<ProviderAccess | undefined> {
    return providerKey === undefined
      ? this.directory.access.get(route.provider)
      : this.ownAccess(providerKey.provider, providerKey, accountId);
  }

  /** Returns the access with a customer's own key; undefined where the provider has no address for those. */
  async ownAccess(
    provider: string,
    providerKey: ProviderKeyGrant,
    accountId: string,
  ): Promise<ProviderAccess | undefined> {
    const baseUrl = this.directory.addresses.get(provider);
    if (baseUrl === undefined) return undefined;
    return { baseUrl, credential: await this.openedKeys.credentialOf(accountId, providerKey) };
  }

  /** Returns the provider's address, also where it has results beside its API. */
  addressOf({ route, providerKey, provider }: PlannedRoute): string {
    const { access, addresses } = this.directory;
    const own = providerKey === undefined ? access.get(route.provider)?.baseUrl : undefined;
    return own ?? addresses.get(route.provider) ?? provider.defaultBaseUrl;
  }
}
