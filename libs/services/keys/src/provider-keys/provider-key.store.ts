import type {
  ListProviderKeysQuery,
  ProviderKeyError,
  ProviderKeyRecord,
  SessionPrincipal,
} from '@gateway/contracts';
import type { OrgRule } from '@gateway/platform';
import type { Prisma } from '../generated/prisma/client.js';
import { storedJson } from '../postgres/columns.js';
import type { Tx } from '../postgres/keys-database.js';

export type ProviderKeyRow = Prisma.ProviderKeyGetPayload<object>;

/** Owners and admins reach those of their organization, every person those of their own account. */
export const PROVIDER_KEY_RULE: OrgRule = { roles: ['owner', 'admin'], own: true };

/** Everything else answers as if it did not exist. */
function visibleTo({ accountId, memberships }: SessionPrincipal): Prisma.ProviderKeyWhereInput {
  const led = memberships.filter(({ role }) => PROVIDER_KEY_RULE.roles.includes(role));
  return { account_id: { in: [accountId, ...led.map((membership) => membership.accountId)] } };
}

export function findProviderKey(
  tx: Tx,
  caller: SessionPrincipal,
  id: string,
): Promise<ProviderKeyRow | null> {
  return tx.providerKey.findFirst({ where: { AND: [{ id }, visibleTo(caller)] } });
}

/** Newest first. */
export async function listProviderKeys(
  tx: Tx,
  caller: SessionPrincipal,
  { limit, offset, org_id, provider }: ListProviderKeysQuery,
): Promise<{ rows: ProviderKeyRow[]; total: number }> {
  const where = { AND: [visibleTo(caller), { org_id, provider }] };
  const orderBy: Prisma.ProviderKeyOrderByWithRelationInput[] = [{ created_at: 'desc' }, { id: 'desc' }];
  const [rows, total] = await Promise.all([
    tx.providerKey.findMany({ where, orderBy, take: limit, skip: offset }),
    tx.providerKey.count({ where }),
  ]);
  return { rows, total };
}

export function toWire(row: ProviderKeyRow): ProviderKeyRecord {
  return {
    id: row.id,
    org_id: row.org_id,
    provider: row.provider,
    label: row.label,
    masked_credential: row.masked_credential,
    allowed_models: storedJson<string[] | null>(row.allowed_models),
    allow_platform_fallback: row.allow_platform_fallback,
    is_enabled: row.is_enabled,
    last_error: storedJson<ProviderKeyError | null>(row.last_error),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
