import { ApiError, type OrgRole, type Principal } from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';
import type { AccessRule } from './access.js';
import '../request/gateway-request.js';

/** Checks a rule that names the organization by a path parameter. */
export function requireOrgOfPath({ principal, params }: FastifyRequest, rule: AccessRule): void {
  if (rule.org?.param === undefined || principal === null) return;
  const { [rule.org.param]: orgId, [rule.org.self ?? '']: personId } = params as Record<string, string>;
  requireOrgRole(principal, orgId, rule, personId);
}

/**
 * Checks a known caller against the roles of a rule in one organization. Throws ApiError `not_found` for an
 * organization that the caller is not in, known or not, `forbidden` for a role that the rule does not name. `personId`
 * is whom the rule's `self` names.
 */
export function requireOrgRole(
  principal: Principal,
  orgId: string,
  { org, superAdmin }: AccessRule,
  personId?: string,
): void {
  if (org === undefined) throw new ApiError('forbidden');
  if (superAdmin === true && principal.kind === 'session' && principal.isSuperAdmin) return;
  const role = roleIn(principal, orgId);
  if (role === null) throw new ApiError('not_found');
  const isSelf = org.self !== undefined && principal.kind === 'session' && principal.userId === personId;
  if (!isSelf && !org.roles.includes(role)) {
    const message = `This takes the role ${org.roles.join(' or ')} in the organization; yours is ${role}.`;
    throw new ApiError('forbidden', { message });
  }
}

function roleIn(principal: Principal, orgId: string): OrgRole | null {
  switch (principal.kind) {
    case 'session':
      return principal.memberships.find((membership) => membership.orgId === orgId)?.role ?? null;
    case 'admin_key':
      return principal.orgId === orgId ? 'admin' : null;
    case 'key':
      return null;
  }
}
