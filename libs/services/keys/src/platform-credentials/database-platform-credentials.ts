import { Inject, Injectable } from '@nestjs/common';
import {
  environmentCredentialId,
  PlatformCredentials,
  type Clock,
  type CredentialReport,
  type CredentialState,
  type PlatformCredentialError,
  type PlatformPool,
  type PooledCredential,
  type ProviderCredential,
  type Random,
} from '@gateway/contracts';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import { grantOf, type BudgetRow } from '../budgets/budget-wire.js';
import { FILE_BUDGETS } from '../budgets/file-budgets.js';
import { nullableJson, storedJson } from '../postgres/columns.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { platformContextOf, ProviderKeySecrets } from '../provider-keys/provider-key-secrets.js';
import { isSealed, type PlatformCredentialRow } from './platform-credential.store.js';

const HOUR_MS = 3_600_000;
/** Columns of a pool: no secret is read where none is opened. */
const OMITTED = { sealed_credentials: true, wrapped_key: true } as const;

type Unsealed = Omit<PlatformCredentialRow, keyof typeof OMITTED>;

/** Platform credentials from the database. */
@Injectable()
export class DatabasePlatformCredentials extends PlatformCredentials {
  constructor(
    private readonly database: KeysDatabase,
    private readonly secrets: ProviderKeySecrets,
    @Inject(FILE_BUDGETS) private readonly budgetsOfFile: readonly BudgetRow[],
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  /** Its own writes, not a management change: findings and counts of edges. */
  override async sync(report: CredentialReport): Promise<PlatformPool> {
    try {
      const { environment, states, uses } = report;
      if (environment.length + states.length + uses.length > 0)
        await this.database.transaction((tx) => this.note(tx, report));
      const { platformCredential, budget } = this.database.prisma;
      const [rows, budgets] = await Promise.all([
        platformCredential.findMany({ omit: OMITTED, orderBy: { id: 'asc' } }),
        budget.findMany({ where: { org_id: null, is_enabled: true }, orderBy: { id: 'asc' } }),
      ]);
      return {
        credentials: rows.map(toPooled),
        budgets: [...this.budgetsOfFile, ...budgets].map(grantOf),
      };
    } catch (failure) {
      throw unavailable(this.random, failure);
    }
  }

  override async open(id: string, version: number): Promise<ProviderCredential | null> {
    try {
      const row = await this.database.prisma.platformCredential.findFirst({ where: { id, version } });
      return row === null || !isSealed(row) ? null : this.secrets.open(row, platformContextOf(row));
    } catch (failure) {
      throw unavailable(this.random, failure);
    }
  }

  private async note(tx: Tx, { environment, states, uses }: CredentialReport): Promise<void> {
    const now = new Date(this.clock.now());
    for (const { provider, variable, masked } of environment)
      await tx.$executeRaw`
        INSERT INTO platform_credential_environment (provider, variable, masked_credential, reported_at)
        VALUES (${provider}, ${variable}, ${masked}, ${now}) ON CONFLICT (provider) DO UPDATE
        SET variable = excluded.variable, masked_credential = excluded.masked_credential, reported_at = excluded.reported_at`;
    // In one order, so that two edges that report at once do not wait for each other.
    for (const state of [...states].sort((a, b) => (a.id < b.id ? -1 : 1))) await this.noteState(tx, state);
    for (const { id, requests, lastUsedMs } of [...uses].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const usedAt = new Date(Math.min(lastUsedMs, now.getTime()));
      const hour = new Date(Math.floor(usedAt.getTime() / HOUR_MS) * HOUR_MS);
      await tx.$executeRaw`
        INSERT INTO platform_credential_use (credential_id, hour, requests) VALUES (${id}, ${hour}, ${requests})
        ON CONFLICT (credential_id, hour) DO UPDATE SET requests = platform_credential_use.requests + excluded.requests`;
      await tx.$executeRaw`
        UPDATE platform_credential SET last_used_at = greatest(last_used_at, ${usedAt}) WHERE id = ${id}`;
    }
  }

  /** A finding replaces an older one, and nothing that was changed by hand since. */
  private async noteState(tx: Tx, { id, ...state }: { id: string } & CredentialState): Promise<void> {
    const at = new Date(Math.min(state.atMs, this.clock.now()));
    const error: PlatformCredentialError | null = state.error && {
      code: state.error.code,
      provider_code: state.error.providerCode,
      http_status: state.error.httpStatus,
      at: at.toISOString(),
    };
    await tx.platformCredential.updateMany({
      where: { id, state_at: { lt: at } },
      data: {
        state: state.status,
        state_until: state.untilMs === null ? null : new Date(state.untilMs),
        state_at: at,
        ...(error === null ? {} : { last_error: nullableJson(error) }),
      },
    });
  }
}

function toPooled(row: Unsealed): PooledCredential {
  const last = storedJson<PlatformCredentialError | null>(row.last_error);
  return {
    id: row.id,
    provider: row.provider,
    source: row.id === environmentCredentialId(row.provider) ? 'environment' : 'stored',
    version: row.version,
    weight: row.weight,
    allowedModels: storedJson<string[] | null>(row.allowed_models),
    baseUrl: row.base_url,
    deployments: storedJson<Record<string, string> | null>(row.deployments),
    rpmLimit: row.rpm_limit,
    tpmLimit: row.tpm_limit,
    isEnabled: row.is_enabled,
    state: {
      status: row.state as CredentialState['status'],
      untilMs: row.state_until?.getTime() ?? null,
      atMs: row.state_at.getTime(),
      error: last && { code: last.code, providerCode: last.provider_code, httpStatus: last.http_status },
    },
  };
}
