import type { CursorPage, CursorPageQuery, InvitationRecord } from '@gateway/contracts';
import type { Prisma } from '../generated/prisma/client.js';
import { linkDigest } from '../mail/link.js';
import { asRole } from '../members/member.store.js';
import { keysetOf } from '../postgres/keyset.js';
import type { Tx } from '../postgres/keys-database.js';

const WITH_ORG = { org: { select: { name: true, account: { select: { id: true } } } } } as const;

export type InvitationRow = Prisma.InvitationGetPayload<object>;
export type OpenInvitation = Prisma.InvitationGetPayload<{ include: typeof WITH_ORG }>;

/** Returns the filter of invitations that can still be accepted. */
export function openAt(now: Date): Prisma.InvitationWhereInput {
  return { accepted_at: null, revoked_at: null, expires_at: { gt: now }, org: { deleted_at: null } };
}

export async function listInvitations(
  tx: Tx,
  orgId: string,
  query: CursorPageQuery,
  now: Date,
): Promise<CursorPage<InvitationRow>> {
  const where = { ...openAt(now), org_id: orgId };
  const { after, range, page } = keysetOf(query, `invitations ${orgId}`);
  const [rows, total] = await Promise.all([
    tx.invitation.findMany({
      where: { AND: [where, after === null ? {} : { id: { gt: after } }] },
      orderBy: { id: 'asc' },
      ...range,
    }),
    tx.invitation.count({ where }),
  ]);
  return page(rows, total, ({ id }) => id);
}

export function findByToken(tx: Tx, token: string, now: Date): Promise<OpenInvitation | null> {
  const where = { ...openAt(now), token_digest: linkDigest(token) };
  return tx.invitation.findFirst({ where, include: WITH_ORG });
}

/** Spends it by one conditional UPDATE: of many requests at once one gets true. */
export async function spendInvitation(tx: Tx, id: string, now: Date): Promise<boolean> {
  const where = { id, accepted_at: null, revoked_at: null, expires_at: { gt: now } };
  return (await tx.invitation.updateMany({ where, data: { accepted_at: now } })).count === 1;
}

export function toWire(row: InvitationRow): InvitationRecord {
  return {
    id: row.id,
    org_id: row.org_id,
    email: row.email,
    role: asRole(row.role),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}
