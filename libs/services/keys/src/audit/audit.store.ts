import type { AuditRecord, CursorPage, ListAuditQuery } from '@gateway/contracts';
import { createdWithin, timesOf } from '@gateway/platform';
import type { Prisma } from '../generated/prisma/client.js';
import { keysetOf } from '../postgres/keyset.js';
import { storedJson } from '../postgres/columns.js';
import type { Tx } from '../postgres/keys-database.js';
import type { ChangedValues } from './changed-values.js';

export type AuditLogRow = Prisma.AuditLogGetPayload<object>;

/** Counting goes no further: a log has no end. */
const TOTAL_MAX = 10_000;

/** Newest first. Throws ApiError `validation_error` and `bad_request` as `timesOf` does. */
export async function listAudit(
  tx: Tx,
  orgId: string,
  query: ListAuditQuery,
): Promise<CursorPage<AuditLogRow>> {
  const { actor, action } = query;
  const where = { org_id: orgId, actor_id: actor, action, ...createdWithin(timesOf(query)) };
  const { after, range, page } = keysetOf(query, `audit_log ${orgId}`);
  const [rows, total] = await Promise.all([
    tx.auditLog.findMany({
      where: { AND: [where, after === null ? {} : await before(tx, orgId, after)] },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      ...range,
    }),
    tx.auditLog.count({ where, take: TOTAL_MAX }),
  ]);
  return page(rows, total, ({ id }) => id);
}

/** Returns the rows after the one that the cursor names. The outer bound is what an index can seek by. */
async function before(tx: Tx, orgId: string, id: string): Promise<Prisma.AuditLogWhereInput> {
  const last = await tx.auditLog.findFirst({ where: { id, org_id: orgId }, select: { created_at: true } });
  if (last === null) return { id: { in: [] } };
  const { created_at } = last;
  return { created_at: { lte: created_at }, OR: [{ created_at: { lt: created_at } }, { id: { lt: id } }] };
}

/** Addresses of the people who acted. */
export async function emailsOf(tx: Tx, rows: readonly AuditLogRow[]): Promise<Map<string, string>> {
  const ids = [...new Set(rows.filter(isPersons).map(({ actor_id }) => actor_id))];
  const people = await tx.user.findMany({ where: { id: { in: ids } }, select: { id: true, email: true } });
  return new Map(people.map(({ id, email }) => [id, email]));
}

function isPersons({ actor_kind }: AuditLogRow): boolean {
  return actor_kind === 'session';
}

export function toWire(
  row: AuditLogRow,
  emails: ReadonlyMap<string, string>,
  nameOf: (row: AuditLogRow) => string | null,
): AuditRecord {
  return {
    id: row.id,
    created_at: row.created_at.toISOString(),
    actor: row.actor_id,
    actor_kind: row.actor_kind as AuditRecord['actor_kind'],
    actor_email: emails.get(row.actor_id) ?? null,
    action: row.action,
    target: row.target_id,
    target_type: row.target_type,
    target_name: nameOf(row),
    ip: row.ip,
    changed_fields: row.changed_fields,
    changes: changesOf(row),
    request_id: row.request_id,
  };
}

function changesOf({ changed_values: values }: AuditLogRow): AuditRecord['changes'] {
  if (values === null) return [];
  const kept = Object.entries(storedJson<ChangedValues>(values));
  return kept.map(([field, [before, after]]) => ({ field, before, after }));
}
