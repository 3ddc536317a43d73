import { Inject, Injectable } from '@nestjs/common';
import {
  PlatformCredentials,
  type CredentialReport,
  type PlatformPool,
  type ProviderCredential,
  type Random,
} from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';
import { isCredential } from './http-provider-key-vault.js';

const TIMEOUT_MS = 1_000;

/** The keys service's platform credentials over HTTP. It keeps nothing. */
@Injectable()
export class HttpPlatformCredentials extends PlatformCredentials {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  /** Sends a report with counts once: repeated they would be added twice. */
  override async sync(report: CredentialReport): Promise<PlatformPool> {
    const hasCounts = report.uses.length > 0;
    // A keys service of an earlier release has no budgets.
    const { credentials, budgets = [] } = await this.post('sync', report, !hasCounts);
    if (Array.isArray(credentials) && Array.isArray(budgets)) return { credentials, budgets };
    throw unavailable(this.random, new Error('The keys service answered no credentials.'));
  }

  override async open(id: string, version: number): Promise<ProviderCredential | null> {
    const { credential } = await this.post('open', { id, version }, true);
    if (credential === null || isCredential(credential)) return credential;
    throw unavailable(this.random, new Error('The keys service answered no credential.'));
  }

  private async post(
    path: 'open' | 'sync',
    sent: object,
    idempotent: boolean,
  ): Promise<Record<string, unknown>> {
    const { status, body } = await this.http.request({
      service: 'keys',
      method: 'POST',
      path: `/internal/platform-credentials/${path}`,
      body: sent,
      timeoutMs: TIMEOUT_MS,
      idempotent,
    });
    if (status >= 400) throw unavailable(this.random, new Error(`The keys service answered ${status}.`));
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  }
}
