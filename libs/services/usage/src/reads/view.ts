import {
  ApiError,
  type Membership,
  type Principal,
  type SessionPrincipal,
  type DetailType,
} from '@gateway/contracts';
import type { OrgRule } from '@gateway/platform';

/** The usage that a caller may read. */
export type View =
  | { kind: 'key'; accountId: string; keyId: string }
  /** An account without an organization. */
  | { kind: 'person'; accountId: string }
  | { kind: 'org'; accountId: string; orgId: string }
  | { kind: 'member'; accountId: string; orgId: string; userId: string };

/** Owners and admins see the usage of their whole org, members that of their own keys. */
export const USAGE_RULE: OrgRule = { roles: ['owner', 'admin'], own: true };

const ORG_ID = /^org_[0-9A-Za-z-]{1,64}$/;

/**
 * The rows that a caller may read: a key its own usage, whatever org_id says; owners and
 * admins their whole org; a member the usage of their own keys; an admin key its own org, named or not. Throws ApiError
 * `validation_error` for a session's missing org_id and for a malformed one, `forbidden` for an org that is not theirs.
 */
export function viewOf(principal: Principal, orgId: unknown): View {
  if (principal.kind === 'key')
    return { kind: 'key', accountId: principal.accountId, keyId: principal.keyId };
  const asked = usableOrgId(orgId ?? (principal.kind === 'admin_key' ? principal.orgId : undefined));
  if (principal.kind === 'admin_key') {
    if (asked !== principal.orgId) throw notYours();
    return { kind: 'org', accountId: principal.accountId, orgId: asked };
  }
  const membership = principal.memberships.find((held) => held.orgId === asked);
  if (membership === undefined) throw notYours();
  return viewOfMember(membership, principal);
}

/** Every view of a caller, for reads by id, which name no org. */
export function viewsOf(principal: Principal): View[] {
  if (principal.kind === 'session')
    return principal.memberships.map((membership) => viewOfMember(membership, principal));
  return [viewOf(principal, principal.orgId)];
}

/** Names the person's own account, where `org_id` would mean the only organization. */
const PERSONAL = 'personal';

/**
 * Returns the organization whose money a session means: the one that it names, else the only one of these; null for the
 * person's own account, which is named by `personal` or null, and meant where there is none. Throws ApiError
 * `validation_error` in several.
 */
export function payingOrg(
  session: Pick<SessionPrincipal, 'memberships'>,
  orgId: string | null | undefined,
): string | null {
  if (orgId === PERSONAL || orgId === null) return null;
  if (orgId !== undefined) return orgId;
  return session.memberships.length === 0 ? null : onlyOrg(session);
}

/**
 * Returns the organization of a read that names none: a session's only one. Throws ApiError `validation_error` for a
 * session in none and in several.
 */
export function meantBy(principal: Principal): string | undefined {
  return principal.kind === 'session' ? onlyOrg(principal) : undefined;
}

function onlyOrg({ memberships }: Pick<SessionPrincipal, 'memberships'>): string {
  if (memberships.length === 1) return memberships[0].orgId;
  throw unclear(
    memberships.length === 0
      ? 'You are in no organization.'
      : 'You are in several organizations: org_id is required.',
  );
}

/** Returns the account whose balance a caller sees. A key's is its own always. Throws as `payingOrg` and `viewOf` do. */
export function payerOf(principal: Principal, orgId: string | undefined): string {
  if (principal.kind === 'key') return principal.accountId;
  if (principal.kind === 'admin_key') return viewOf(principal, orgId).accountId;
  const paying = payingOrg(principal, orgId);
  return paying === null ? principal.accountId : viewOf(principal, paying).accountId;
}

function viewOfMember({ orgId, accountId, role }: Membership, { userId }: SessionPrincipal): View {
  return USAGE_RULE.roles.includes(role)
    ? { kind: 'org', accountId, orgId }
    : { kind: 'member', accountId, orgId, userId };
}

function usableOrgId(orgId: unknown): string {
  if (typeof orgId === 'string' && ORG_ID.test(orgId)) return orgId;
  const isMissing = orgId === undefined || orgId === null;
  throw isMissing ? unclear('org_id is required.') : unclear('org_id is not an organization id.', 'pattern');
}

function unclear(msg: string, type: DetailType = 'missing'): ApiError {
  return new ApiError('validation_error', { message: msg, details: [{ type, loc: ['org_id'], msg }] });
}

function notYours(): ApiError {
  return new ApiError('forbidden', { message: 'You do not belong to this organization.' });
}
