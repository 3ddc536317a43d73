import { promisesAfter, type ContentPromise, type OrgRecord, type UpdateOrgBody } from '@gateway/contracts';
import { limitsToWire, tierOf } from '../accounts/scope-limits.js';
import { Prisma } from '../generated/prisma/client.js';
import { containing, money } from '../postgres/columns.js';
import type { Tx } from '../postgres/keys-database.js';

/** An organization beside its account, which holds the credit limit. */
const WITH_ACCOUNT = { account: { select: { id: true, credit_limit_usd: true } } } as const;

export type OrgRow = Prisma.OrgGetPayload<{ include: typeof WITH_ACCOUNT }>;

/** One that was deleted answers like an unknown one. */
export function findOrg(tx: Tx, id: string): Promise<OrgRow | null> {
  return tx.org.findFirst({ where: { id, deleted_at: null }, include: WITH_ACCOUNT });
}

/** Oldest first; `ids` null = all of them. */
export async function listOrgs(
  tx: Tx,
  ids: readonly string[] | null,
  { limit, offset, q }: { limit: number; offset: number; q?: string },
): Promise<{ rows: OrgRow[]; total: number }> {
  const where = {
    deleted_at: null,
    ...(ids === null ? {} : { id: { in: [...ids] } }),
    ...(q === undefined ? {} : { name: containing(q) }),
  };
  const orderBy: Prisma.OrgOrderByWithRelationInput[] = [{ created_at: 'asc' }, { id: 'asc' }];
  const [rows, total] = await Promise.all([
    tx.org.findMany({ where, include: WITH_ACCOUNT, orderBy, take: limit, skip: offset }),
    tx.org.count({ where }),
  ]);
  return { rows, total };
}

/** The people's own accounts are raised, too, because their sessions name the organization; the relay stamps them. */
export async function closeOrg(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.$executeRaw`
    UPDATE account SET version = version + 1 WHERE id IN (
      SELECT a.id FROM account a JOIN membership m ON m.user_id = a.user_id
      WHERE m.org_id = ${id} AND m.removed_at IS NULL ORDER BY a.id FOR NO KEY UPDATE OF a)`;
  await tx.membership.updateMany({ where: { org_id: id, removed_at: null }, data: { removed_at: now } });
  await tx.invitation.updateMany({ where: { org_id: id, revoked_at: null }, data: { revoked_at: now } });
  await tx.adminKey.updateMany({ where: { org_id: id, revoked_at: null }, data: { revoked_at: now } });
  await tx.org.update({ where: { id }, data: { deleted_at: now, updated_at: now } });
}

/** A body as columns: what is absent stays as it is. */
export function realtimeColumns(body: UpdateOrgBody) {
  return {
    realtime_enabled: body.realtime_enabled,
    realtime_max_sessions: body.realtime_max_sessions,
    realtime_max_seconds: body.realtime_max_seconds,
    realtime_max_tokens: body.realtime_max_tokens,
  };
}

/** Returns the columns of the body; absent members stay unchanged. */
export function loggingColumns({ request_logging: logging }: UpdateOrgBody) {
  return {
    request_logging_enabled: logging?.enabled,
    request_logging_days: logging?.retention_days,
    request_logging_redact: logging?.redact,
  };
}

/**
 * Returns the promise on logged bodies where their retention changes. Bodies already stored keep the retention they
 * were stored with.
 */
export function promiseColumns(
  { request_logging: logging }: UpdateOrgBody,
  current: OrgRow,
  atMs: number,
): { request_logging_past?: Prisma.InputJsonArray } {
  const [days, next] = [current.request_logging_days, logging?.retention_days];
  if (next === undefined || next === days) return {};
  const past = promisesAfter(promisesOf(current), { days, next, atMs });
  return { request_logging_past: past.map((promise) => ({ ...promise })) };
}

/** Returns the promises that have ended and still hold. */
export function promisesOf({ request_logging_past }: Pick<OrgRow, 'request_logging_past'>): ContentPromise[] {
  return request_logging_past as unknown as ContentPromise[];
}

export function toWire(row: OrgRow): OrgRecord {
  return {
    id: row.id,
    name: row.name,
    tier: tierOf(row.tier),
    default_api_version: row.default_api_version,
    credit_limit_usd: money(row.account?.credit_limit_usd?.toFixed() ?? null),
    realtime_enabled: row.realtime_enabled,
    realtime_max_sessions: row.realtime_max_sessions,
    realtime_max_seconds: row.realtime_max_seconds,
    realtime_max_tokens: row.realtime_max_tokens,
    request_logging: {
      enabled: row.request_logging_enabled,
      retention_days: row.request_logging_days,
      redact: row.request_logging_redact,
    },
    ...limitsToWire(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
