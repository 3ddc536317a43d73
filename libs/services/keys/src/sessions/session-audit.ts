import type { Clock, Random } from '@gateway/contracts';
import { auditRow } from '@gateway/database';
import type { FastifyRequest } from 'fastify';
import type { Tx } from '../postgres/keys-database.js';

/**
 * Writes what happened to a session into the audit log: once for each organization that the person is in, so that its
 * owners and admins find it there; once without one where there is none.
 */
export async function auditSession(
  tx: Tx,
  request: FastifyRequest,
  { action, personId, sessionId }: { action: string; personId: string; sessionId: string },
  sources: { clock: Clock; random: Random },
): Promise<void> {
  const memberships = await tx.membership.findMany({
    where: { user_id: personId, removed_at: null },
    select: { org_id: true },
  });
  const orgIds = memberships.length === 0 ? [null] : memberships.map(({ org_id }) => org_id);
  const write = { action, targetType: 'session', targetId: sessionId, changedFields: [], personId };
  await tx.auditLog.createMany({
    data: orgIds.map((orgId) => auditRow(request, { ...write, orgId }, sources)),
  });
}
