import { ApiError, type OrgRole, type Principal } from '@gateway/contracts';
import { requireOrgRole, type AccessRule } from '@gateway/platform';

/** Any member reads. */
export const READ_ALERTS = {
  session: true,
  adminKey: { scope: 'alerts:read' },
  org: { roles: ['owner', 'admin', 'member'] },
} as const satisfies AccessRule;

/** Owners and admins change. */
export const WRITE_ALERTS = {
  session: true,
  adminKey: { scope: 'alerts:write' },
  org: { roles: ['owner', 'admin'] },
} as const satisfies AccessRule;

type Rule = AccessRule & { org: { roles: readonly OrgRole[] } };

/**
 * The organization that a call is about: the one it names, or the caller's only one. Throws ApiError `validation_error`
 * where that is not clear, `forbidden` for an organization that is not the caller's and for a role too low.
 */
export function alertOrg(principal: Principal, asked: string | undefined, rule: Rule): string {
  const own = orgsOf(principal);
  const orgId = asked ?? (own.length === 1 ? own[0] : undefined);
  if (orgId === undefined) throw unclear(own.length);
  if (!own.includes(orgId))
    throw new ApiError('forbidden', { message: 'You are not in that organization.', param: 'org_id' });
  requireOrgRole(principal, orgId, rule);
  return orgId;
}

/** Returns the organizations in which rows named by a path may be looked up. */
export function orgsOf(principal: Principal): string[] {
  if (principal.kind === 'admin_key') return [principal.orgId];
  return principal.kind === 'session' ? principal.memberships.map(({ orgId }) => orgId) : [];
}

function unclear(count: number): ApiError {
  const msg =
    count === 0 ? 'You are in no organization.' : 'You are in several organizations: org_id is required.';
  return new ApiError('validation_error', {
    message: `org_id: ${msg}`,
    details: [{ type: 'missing', loc: ['org_id'], msg }],
  });
}
