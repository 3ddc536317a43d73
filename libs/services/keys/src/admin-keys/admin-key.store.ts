import type { AdminKeyRecord, CursorPage, ListAdminKeysQuery } from '@gateway/contracts';
import type { Prisma } from '../generated/prisma/client.js';
import { keysetOf } from '../postgres/keyset.js';
import type { Tx } from '../postgres/keys-database.js';

export type AdminKeyRow = Prisma.AdminKeyGetPayload<object>;

/** Returns the admin keys that were not revoked, in the order of their creation. */
export async function listAdminKeys(
  tx: Tx,
  orgIds: readonly string[],
  query: ListAdminKeysQuery,
): Promise<CursorPage<AdminKeyRow>> {
  const where = { org_id: { in: [...orgIds] }, revoked_at: null };
  const { after, range, page } = keysetOf(query, 'admin_keys');
  const [rows, total] = await Promise.all([
    tx.adminKey.findMany({
      where: { AND: [where, after === null ? {} : { id: { gt: after } }] },
      orderBy: { id: 'asc' },
      ...range,
    }),
    tx.adminKey.count({ where }),
  ]);
  return page(rows, total, ({ id }) => id);
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
