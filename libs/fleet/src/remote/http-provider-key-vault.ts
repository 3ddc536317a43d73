import { Inject, Injectable } from '@nestjs/common';
import {
  ProviderKeyVault,
  type ProviderCredential,
  type ProviderKeyUse,
  type Random,
} from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const TIMEOUT_MS = 1_000;
const KINDS: ReadonlySet<unknown> = new Set<ProviderCredential['kind']>([
  'api_key',
  'azure',
  'aws',
  'vertex',
]);

/** The keys service's provider keys over HTTP. It keeps nothing. */
@Injectable()
export class HttpProviderKeyVault extends ProviderKeyVault {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async open(accountId: string, keyId: string, version: number): Promise<ProviderCredential | null> {
    const body = await this.post('open', { account_id: accountId, id: keyId, version });
    const credential =
      typeof body === 'object' && body !== null && 'credential' in body ? body.credential : undefined;
    if (credential === null || isCredential(credential)) return credential;
    throw unavailable(this.random, new Error('The keys service answered no credential.'));
  }

  override async report(uses: readonly ProviderKeyUse[]): Promise<void> {
    await this.post('uses', { uses: uses.map(toWire) });
  }

  private async post(path: 'open' | 'uses', sent: object): Promise<unknown> {
    const { status, body } = await this.http.request({
      service: 'keys',
      method: 'POST',
      path: `/internal/provider-keys/${path}`,
      body: sent,
      timeoutMs: TIMEOUT_MS,
      idempotent: true,
    });
    if (status >= 400) throw unavailable(this.random, new Error(`The keys service answered ${status}.`));
    return body;
  }
}

export function isCredential(value: unknown): value is ProviderCredential {
  return typeof value === 'object' && value !== null && 'kind' in value && KINDS.has(value.kind);
}

function toWire({ accountId, keyId, atMs, failure }: ProviderKeyUse): object {
  return {
    account_id: accountId,
    id: keyId,
    at_ms: atMs,
    refusal: failure && {
      model: failure.model,
      request_id: failure.requestId,
      error_code: failure.errorCode,
      provider_code: failure.providerCode,
      message: failure.message,
      served_on_platform: failure.servedOnPlatform,
    },
  };
}
