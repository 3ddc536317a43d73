import type { OrgRecord } from '@gateway/contracts';
import { limitsToWire, tierOf } from '../accounts/scope-limits.js';
import { Prisma } from '../generated/prisma/client.js';
import { money } from '../postgres/columns.js';
import type { Tx } from '../postgres/keys-database.js';

/** An organization beside its account, which holds the credit limit. */
const WITH_ACCOUNT = { account: { select: { id: true, credit_limit_usd: true } } } as const;

export type OrgRow = Prisma.OrgGetPayload<{ include: typeof WITH_ACCOUNT }>;

export function findOrg(tx: Tx, id: string): Promise<OrgRow | null> {
  return tx.org.findUnique({ where: { id }, include: WITH_ACCOUNT });
}

/** Oldest first; `ids` null = all of them. */
export async function listOrgs(
  tx: Tx,
  ids: readonly string[] | null,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: OrgRow[]; total: number }> {
  const where = ids === null ? {} : { id: { in: [...ids] } };
  const orderBy: Prisma.OrgOrderByWithRelationInput[] = [{ created_at: 'asc' }, { id: 'asc' }];
  const [rows, total] = await Promise.all([
    tx.org.findMany({ where, include: WITH_ACCOUNT, orderBy, take: limit, skip: offset }),
    tx.org.count({ where }),
  ]);
  return { rows, total };
}

export function toWire(row: OrgRow): OrgRecord {
  return {
    id: row.id,
    name: row.name,
    tier: tierOf(row.tier),
    default_api_version: row.default_api_version,
    credit_limit_usd: money(row.account?.credit_limit_usd?.toFixed() ?? null),
    ...limitsToWire(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
