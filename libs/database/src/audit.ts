import { newId, type Clock, type Principal, type Random } from '@gateway/contracts';
import { principalId } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';

/**
 * One row of a service's `audit_log`: append-only, the application's database role may only INSERT and SELECT. Each
 * service that writes one has the table in its Prisma schema.
 */
export interface AuditRow {
  id: string;
  created_at: Date;
  org_id: string | null;
  actor_kind: Principal['kind'] | 'system';
  actor_id: string;
  ip: string;
  /** `<noun>.<verb>`, for example `api_key.create`. */
  action: string;
  target_type: string;
  target_id: string;
  /** Names only: a value could be a secret. */
  changed_fields: string[];
  request_id: string;
}

export interface AuditedWrite {
  action: string;
  targetType: string;
  targetId: string;
  orgId: string | null;
  /** Fields that the write set. */
  changedFields: readonly string[];
  /** Person who acted, where the request itself names nobody: at a log-in or when an invitation is accepted. */
  personId?: string;
}

/** Write it in the transaction of the change itself, so that there is one row per change and none without. */
export function auditRow(
  request: Pick<FastifyRequest, 'principal' | 'clientIp' | 'id'>,
  write: AuditedWrite,
  { clock, random }: { clock: Clock; random: Random },
): AuditRow {
  return {
    id: newId('aud', clock, random),
    created_at: new Date(clock.now()),
    org_id: write.orgId,
    ...(write.personId === undefined
      ? actorOf(request.principal)
      : { actor_kind: 'session' as const, actor_id: write.personId }),
    ip: request.clientIp,
    action: write.action,
    target_type: write.targetType,
    target_id: write.targetId,
    changed_fields: [...write.changedFields].sort(),
    request_id: request.id,
  };
}

function actorOf(principal: Principal | null): Pick<AuditRow, 'actor_kind' | 'actor_id'> {
  if (principal === null) return { actor_kind: 'system', actor_id: 'system' };
  return { actor_kind: principal.kind, actor_id: principalId(principal) };
}
