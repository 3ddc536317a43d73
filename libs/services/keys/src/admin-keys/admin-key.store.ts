import type { AdminKeyRecord, ListAdminKeysQuery } from '@gateway/contracts';
import type { Prisma } from '../generated/prisma/client.js';
import { afterId, keysetRange } from '../postgres/keyset.js';
import type { Tx } from '../postgres/keys-database.js';

export type AdminKeyRow = Prisma.AdminKeyGetPayload<object>;

/** Those that were not revoked, in the order of their creation. */
export async function listAdminKeys(
  tx: Tx,
  orgIds: readonly string[],
  query: ListAdminKeysQuery,
): Promise<{ rows: AdminKeyRow[]; total: number }> {
  const where = { org_id: { in: [...orgIds] }, revoked_at: null };
  const after = afterId(query);
  const [rows, total] = await Promise.all([
    tx.adminKey.findMany({
      where: { AND: [where, after === null ? {} : { id: { gt: after } }] },
      orderBy: { id: 'asc' },
      ...keysetRange(query),
    }),
    tx.adminKey.count({ where }),
  ]);
  return { rows, total };
}

export function toWire(row: AdminKeyRow): AdminKeyRecord {
  return {
    id: row.id,
    label: row.label,
    org_id: row.org_id,
    masked_key: row.masked_key,
    scopes: row.scopes,
    created_by: row.created_by,
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}
