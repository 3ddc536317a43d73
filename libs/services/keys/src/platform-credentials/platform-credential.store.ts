import {
  environmentCredentialId,
  type CredentialState,
  type ListPlatformCredentialsQuery,
  type PlatformCredentialError,
  type PlatformCredentialRecord,
} from '@gateway/contracts';
import type { Prisma } from '../generated/prisma/client.js';
import { storedJson } from '../postgres/columns.js';
import type { Tx } from '../postgres/keys-database.js';
import type { SealedColumns } from '../provider-keys/provider-key-secrets.js';

export type PlatformCredentialRow = Prisma.PlatformCredentialGetPayload<object>;
type EnvironmentRow = Prisma.PlatformCredentialEnvironmentGetPayload<object>;

/** Credentials of one provider, the environment's included. */
export const CREDENTIALS_MAX = 64;
/** A credential of the environment that no edge has reported for so long is there no more: edges report every second. */
const REPORTED_MS = 60_000;
const DAY_MS = 86_400_000;

/** A row with a secret: the environment's has none here. */
export function isSealed<T extends PlatformCredentialRow>(row: T): row is T & SealedColumns {
  return row.sealed_credentials !== null && row.wrapped_key !== null && row.kek_id !== null;
}

/** A credential with what its reads need beside its row. */
export interface FoundCredential {
  row: PlatformCredentialRow;
  /** Variable of the edges that holds it; null for a stored one. */
  variable: string | null;
}

/** The credentials of a provider, the environment's first, the others in the order of their creation. */
export async function credentialsOf(tx: Tx, provider: string, nowMs: number): Promise<FoundCredential[]> {
  const rows = await tx.platformCredential.findMany({ where: { provider }, orderBy: { id: 'asc' } });
  const id = environmentCredentialId(provider);
  const reported = await reportedOf(tx, provider, nowMs);
  const changed = rows.find((row) => row.id === id);
  const stored = rows.filter((row) => row.id !== id).map((row) => ({ row, variable: null }));
  if (reported === null) return stored;
  return [{ row: environmentRow(reported, changed), variable: reported.variable }, ...stored];
}

/** The credential of the edges' environment as it is without a row; of a changed one the row, with the newest mask. */
function environmentRow(
  { provider, variable, masked_credential, reported_at }: EnvironmentRow,
  changed?: PlatformCredentialRow,
): PlatformCredentialRow {
  if (changed !== undefined) return { ...changed, masked_credential };
  return {
    id: environmentCredentialId(provider),
    provider,
    label: variable,
    masked_credential,
    ...{ sealed_credentials: null, wrapped_key: null, kek_id: null, version: 1 },
    ...{ weight: 100, rpm_limit: null, tpm_limit: null },
    ...{ allowed_models: null, base_url: null, deployments: null },
    is_enabled: true,
    ...{ state: 'ready', state_until: null, state_at: new Date(0), last_error: null, last_used_at: null },
    ...{ created_by: '', created_at: reported_at, updated_at: reported_at },
  };
}

/** Returns the report of the environment's credential; null where no edge has it. */
async function reportedOf(tx: Tx, provider: string, nowMs: number): Promise<EnvironmentRow | null> {
  return tx.platformCredentialEnvironment.findFirst({
    where: { provider, reported_at: { gt: new Date(nowMs - REPORTED_MS) } },
  });
}

/** Returns one page of records, and how many there are. */
export async function pageOfCredentials(
  tx: Tx,
  provider: string,
  { limit, offset }: Pick<ListPlatformCredentialsQuery, 'limit' | 'offset'>,
  nowMs: number,
): Promise<{ records: PlatformCredentialRecord[]; total: number }> {
  const all = await credentialsOf(tx, provider, nowMs);
  const shown = all.slice(offset, offset + limit).map(({ row }) => row);
  return { records: await toWire(tx, shown, nowMs), total: all.length };
}

/** Returns the records of rows, with their requests of the last 24 hours. */
export async function toWire(
  tx: Tx,
  rows: readonly PlatformCredentialRow[],
  nowMs: number,
): Promise<PlatformCredentialRecord[]> {
  const sums = await tx.platformCredentialUse.groupBy({
    by: ['credential_id'],
    where: { credential_id: { in: rows.map(({ id }) => id) }, hour: { gt: new Date(nowMs - DAY_MS) } },
    _sum: { requests: true },
  });
  const requests = new Map(
    sums.map(({ credential_id, _sum }) => [credential_id, Number(_sum.requests ?? 0)]),
  );
  return rows.map((row) => record(row, requests.get(row.id) ?? 0, nowMs));
}

function record(row: PlatformCredentialRow, requests_24h: number, nowMs: number): PlatformCredentialRecord {
  const isStored = isSealed(row);
  const state = stateAt(row, nowMs);
  return {
    id: row.id,
    provider: row.provider,
    label: row.label,
    source: isStored ? 'stored' : 'environment',
    masked_credential: row.masked_credential,
    weight: row.weight,
    rpm_limit: row.rpm_limit,
    tpm_limit: row.tpm_limit,
    allowed_models: storedJson<string[] | null>(row.allowed_models),
    base_url: row.base_url,
    deployments: storedJson<Record<string, string> | null>(row.deployments),
    is_enabled: row.is_enabled,
    status: row.is_enabled ? state : 'paused',
    cooldown_until: state === 'ready' ? null : (row.state_until?.toISOString() ?? null),
    last_error: storedJson<PlatformCredentialError | null>(row.last_error),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    requests_24h,
    created_by: isStored ? row.created_by : null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** A cool-down ends by itself; a refused credential is ready once a test call has shown it. */
function stateAt({ state, state_until }: PlatformCredentialRow, nowMs: number): CredentialState['status'] {
  const found = state as CredentialState['status'];
  const isOver = state_until !== null && state_until.getTime() <= nowMs;
  return isOver && found !== 'refused' ? 'ready' : found;
}
