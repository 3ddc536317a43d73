import { ApiError, ProviderKeyVault, type ProviderCredential, type ProviderKeyUse } from '@gateway/contracts';

/** Provider keys that a spec has put in, and what was reported of them. */
export class ProviderKeyVaultDouble extends ProviderKeyVault {
  readonly credentials = new Map<string, ProviderCredential>();
  readonly reported: ProviderKeyUse[] = [];
  /** Every key that was asked for, in order. */
  readonly opened: string[] = [];
  isUnavailable = false;

  override async open(_accountId: string, keyId: string): Promise<ProviderCredential | null> {
    this.opened.push(keyId);
    if (this.isUnavailable) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
    return this.credentials.get(keyId) ?? null;
  }

  override async report(uses: readonly ProviderKeyUse[]): Promise<void> {
    if (this.isUnavailable) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
    this.reported.push(...uses);
  }
}
