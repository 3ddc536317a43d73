import { SUPPORTED_VERSIONS } from '@gateway/api-version';
import {
  ApiError,
  type ErrorDetail,
  type OrgTier,
  type SessionPrincipal,
  type UpdateOrgBody,
} from '@gateway/contracts';
import { sentFields, type OrgRule } from '@gateway/platform';
import { limitFaults } from '../accounts/scope-limits.js';

/** Roles that may change an organization, beside super admins. */
export const ORG_WRITE_RULE: OrgRule = { roles: ['owner', 'admin'] };

/** Fields that only the platform's own people set. */
const PLATFORM_FIELDS = [
  'tier',
  'credit_limit_usd',
  'realtime_enabled',
  'realtime_max_sessions',
  'realtime_max_seconds',
  'realtime_max_tokens',
] as const;

/**
 * Throws ApiError `forbidden` for a field that the caller may not set: tier, credit limit and realtime take a super
 * admin; the others take a role in the organization. A super admin has that only as its owner or admin.
 */
export function requireFields(caller: SessionPrincipal, body: UpdateOrgBody, orgId: string | null): void {
  const isPlatform = (name: string): boolean => PLATFORM_FIELDS.some((field) => field === name);
  const membership = caller.memberships.find((held) => held.orgId === orgId);
  const isLed =
    orgId === null || (membership !== undefined && ORG_WRITE_RULE.roles.includes(membership.role));
  const refused = sentFields(body).find((name) => (isPlatform(name) ? !caller.isSuperAdmin : !isLed));
  if (refused === undefined) return;
  const message = isPlatform(refused)
    ? `Only a super admin may set ${refused}.`
    : `Only an owner or admin of the organization may set ${refused}.`;
  throw new ApiError('forbidden', { message, param: refused });
}

/** Faults of the organization as it would be, for a 422 `validation_error`; empty where there is none. */
export function orgFaults(
  body: UpdateOrgBody,
  current: { tier: OrgTier; rpm_limit: number | null; rpd_limit: number | null },
): ErrorDetail[] {
  const { default_api_version: version } = body;
  const isKnown = version == null || SUPPORTED_VERSIONS.includes(version);
  const msg = `default_api_version must be one of ${SUPPORTED_VERSIONS.join(', ')}.`;
  return [
    ...limitFaults(body.tier ?? current.tier, {
      rpm_limit: body.rpm_limit === undefined ? current.rpm_limit : body.rpm_limit,
      rpd_limit: body.rpd_limit === undefined ? current.rpd_limit : body.rpd_limit,
    }),
    ...(isKnown ? [] : [{ type: 'enum' as const, loc: ['default_api_version'], msg }]),
  ];
}
