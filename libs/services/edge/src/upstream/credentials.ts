import { Inject, Injectable } from '@nestjs/common';
import { UpstreamError, type ProviderKeyGrant } from '@gateway/contracts';
import type { ProviderAccess } from '@gateway/providers';
import type { PlannedRoute } from '@gateway/routing';
import { ProviderDirectory } from '../config/provider-directory.js';
import { OpenedKeys, POOLED_KEYS } from './opened-keys.js';
import { PlatformPools, type PoolMember } from '../config/platform-pools.js';

/** Addresses and credentials of providers: the platform's, and those of customers' own keys. */
@Injectable()
export class Credentials {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly openedKeys: OpenedKeys,
    private readonly pools: PlatformPools,
    @Inject(POOLED_KEYS) private readonly pooledKeys: OpenedKeys,
  ) {}

  /**
   * Returns the platform's access, or the customer's own key at the operator's address for its provider; undefined where
   * there is none. Rejects with ApiError where the key cannot be opened.
   */
  of(
    { route, providerKey, pooled }: Pick<PlannedRoute, 'route' | 'providerKey' | 'pooled'>,
    accountId: string,
  ): ProviderAccess | undefined | Promise<ProviderAccess | undefined> {
    if (providerKey !== undefined) return this.ownAccess(providerKey.provider, providerKey, accountId);
    if (pooled?.id == null) return this.directory.access.get(route.provider);
    const member = this.pools.member(route.provider, pooled.id);
    if (member === undefined) throw gone();
    return this.pooledAccess(member);
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

  /** Returns the access with a credential of the pool; undefined where it was removed or cannot be opened. */
  async pooled(provider: string, id: string): Promise<ProviderAccess | undefined> {
    const member = this.pools.member(provider, id);
    return member === undefined ? undefined : this.pooledAccess(member);
  }

  /** Returns the access with a credential of the pool. Rejects with UpstreamError where it cannot be opened. */
  pooledAccess(member: PoolMember): ProviderAccess | undefined | Promise<ProviderAccess | undefined> {
    const { access, addresses } = this.directory;
    const { id, provider, version, source } = member;
    const ours = access.get(provider);
    if (source === 'environment') return ours;
    const baseUrl = member.baseUrl ?? ours?.baseUrl ?? addresses.get(provider);
    if (baseUrl === undefined) return undefined;
    const grant = { id, provider, version, allowedModels: null, allowPlatformFallback: false };
    const of = (credential: ProviderAccess['credential']): ProviderAccess => ({
      baseUrl,
      credential,
      ...(ours?.added && { added: ours.added }),
    });
    const found = this.pooledKeys.credentialOf('platform', grant);
    if (!(found instanceof Promise)) return of(found);
    return found.then(of, (failure: unknown) => {
      throw gone(failure);
    });
  }

  /** Returns the provider's address, also where it has results beside its API. */
  addressOf({ route, providerKey, provider, pooled }: PlannedRoute): string {
    const { access, addresses } = this.directory;
    const stored = pooled?.id == null ? undefined : this.pools.member(route.provider, pooled.id)?.baseUrl;
    const own = providerKey === undefined ? (stored ?? access.get(route.provider)?.baseUrl) : undefined;
    return own ?? addresses.get(route.provider) ?? provider.defaultBaseUrl;
  }
}

/** It was removed or replaced meanwhile, or the keys service is away: another one may serve. */
function gone(cause?: unknown): UpstreamError {
  return new UpstreamError({
    code: 'provider_not_available',
    message: 'The credential cannot be opened.',
    httpStatus: null,
    ...{ retryable: false, fallback: true, countsAsFault: false },
    ...{ notBegun: 'not_sent', fault: 'service', credential: 'gone', cause },
  });
}
