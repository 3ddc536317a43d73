import { ApiError, type SessionPrincipal } from '@gateway/contracts';
import type { OrgRule } from '@gateway/platform';

/**
 * The account of an organization in which the caller has a role of the rule, or their own where none is named. Throws
 * ApiError `forbidden`: an organization that does not exist answers like one that the caller is not in.
 */
export function ledAccount(
  { accountId, memberships }: SessionPrincipal,
  orgId: string | null,
  { roles }: OrgRule,
): { accountId: string; orgId: string | null } {
  if (orgId === null) return { accountId, orgId };
  const membership = memberships.find((candidate) => candidate.orgId === orgId);
  if (membership !== undefined && roles.includes(membership.role))
    return { accountId: membership.accountId, orgId };
  const message =
    membership === undefined
      ? 'You are not a member of this organization.'
      : `This takes the role ${roles.join(' or ')} in the organization; yours is ${membership.role}.`;
  throw new ApiError('forbidden', { message, param: 'org_id' });
}
