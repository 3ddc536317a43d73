import { ApiError, type SessionPrincipal } from '@gateway/contracts';
import { principalOf } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';

/**
 * A caller who manages keys: a person, or an admin key, which counts as an admin of its organization and nothing
 * beside.
 */
export interface Manager extends Pick<SessionPrincipal, 'userId' | 'memberships'> {
  /** The person's own account; of an admin key its organization's. */
  accountId: string;
  /** The organization where a body names none; null = the person's own account. */
  homeOrgId: string | null;
}

/** Throws ApiError `forbidden` for who is neither. */
export function managerOf(request: FastifyRequest): Manager {
  const principal = principalOf(request);
  switch (principal.kind) {
    case 'session':
      return { ...principal, homeOrgId: null };
    case 'admin_key': {
      const { orgId, accountId, createdBy: userId } = principal;
      const memberships = [{ orgId, accountId, role: 'admin' as const, teams: [] }];
      return { userId, accountId, memberships, homeOrgId: orgId };
    }
    case 'key':
      throw new ApiError('forbidden');
  }
}
