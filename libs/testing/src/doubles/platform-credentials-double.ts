import {
  ApiError,
  PlatformCredentials,
  type BudgetGrant,
  type CredentialReport,
  type PlatformPool,
  type PooledCredential,
  type ProviderCredential,
} from '@gateway/contracts';

/** Platform credentials that a spec has put in, and what was reported of them. */
export class PlatformCredentialsDouble extends PlatformCredentials {
  readonly pooled: PooledCredential[] = [];
  readonly budgets: BudgetGrant[] = [];
  /** Secrets by id. */
  readonly secrets = new Map<string, ProviderCredential>();
  readonly reports: CredentialReport[] = [];
  isUnavailable = false;

  /** Puts in a credential that is ready, of weight 100; `more` wins. */
  add(id: string, key: string, more: Partial<PooledCredential> & { provider: string }): void {
    const state = { status: 'ready' as const, untilMs: null, atMs: 0, error: null };
    const fields = { source: 'stored' as const, version: 1, weight: 100, allowedModels: null, baseUrl: null };
    this.pooled.push({ id, ...fields, isEnabled: true, state, ...more });
    this.secrets.set(id, { kind: 'api_key', key });
  }

  override async sync(report: CredentialReport): Promise<PlatformPool> {
    this.requireAvailable();
    this.reports.push(report);
    return { credentials: [...this.pooled], budgets: [...this.budgets] };
  }

  override async open(id: string): Promise<ProviderCredential | null> {
    this.requireAvailable();
    return this.secrets.get(id) ?? null;
  }

  private requireAvailable(): void {
    if (this.isUnavailable) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  }
}
