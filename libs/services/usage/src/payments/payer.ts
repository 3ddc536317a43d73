import { ApiError } from '@gateway/contracts';
import { sessionOf, type OrgRule } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { payingOrg } from '../reads/view.js';

/** Owners and admins manage the money of their organization, and everybody that of their own account. */
export const MONEY_RULE: OrgRule = { roles: ['owner', 'admin'], own: true };

/** Account that a call of a person is about. */
export interface Payer {
  accountId: string;
  orgId: string | null;
  userId: string;
}

/** Throws ApiError `forbidden` for an organization that the caller does not pay for, and as `payingOrg`. */
export function payerOf(request: FastifyRequest, orgId: string | null | undefined): Payer {
  const session = sessionOf(request);
  const { accountId, memberships, userId } = session;
  const led = memberships.filter(({ role }) => MONEY_RULE.roles.includes(role));
  const paying = payingOrg({ memberships: led }, orgId);
  if (paying === null) return { accountId, orgId: null, userId };
  const membership = led.find((held) => held.orgId === paying);
  if (membership === undefined)
    throw new ApiError('forbidden', {
      message: 'Only owners and admins of an organization manage its money.',
    });
  return { accountId: membership.accountId, orgId: paying, userId };
}
