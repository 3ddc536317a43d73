import type { AdminKeyPrincipal, OrgRole, Principal, SessionPrincipal } from '@gateway/contracts';
import { keyPrincipal, sessionPrincipal } from '@gateway/testing/plain';
import type { AccessRule } from './access.js';
import { listRoutes } from './list-routes.js';
import { requireOrgRole } from './org-role.js';

function person(role: OrgRole | null, isSuperAdmin = false): SessionPrincipal {
  const memberships = role === null ? [] : [{ orgId: 'org_1', accountId: 'acct_2', role, teams: [] }];
  return sessionPrincipal({ isSuperAdmin, memberships });
}
const adminKey: AdminKeyPrincipal = {
  kind: 'admin_key',
  keyId: 'mak_1',
  createdBy: 'usr_1',
  expiresAtMs: null,
  orgId: 'org_1',
  accountId: 'acct_2',
  accountVersion: 1,
  scopes: [],
};

function outcome(principal: Principal, rule: AccessRule, orgId = 'org_1'): string {
  try {
    requireOrgRole(principal, orgId, rule);
    return 'allowed';
  } catch (rejection) {
    return String((rejection as { code?: string }).code);
  }
}

describe('requireOrgRole', () => {
  const rule: AccessRule = { session: true, org: { roles: ['owner', 'admin'] } };

  it.each([
    ['owner', person('owner'), 'allowed'],
    ['admin', person('admin'), 'allowed'],
    ['member', person('member'), 'forbidden'],
    ['outsider', person(null), 'not_found'],
    ['super admin from outside', person(null, true), 'not_found'],
    ['admin key', adminKey, 'allowed'],
    ['inference key of the org', keyPrincipal({ orgId: 'org_1' }), 'not_found'],
  ])('%s of the org: %s', (_who, principal, expected) => {
    expect(outcome(principal, rule)).toBe(expected);
    // An organization that the caller is not in answers alike, whatever their role elsewhere.
    expect(outcome(principal, rule, 'org_2')).toBe('not_found');
  });

  it('lets a super admin in where the rule names them, and an admin key only where admins may', () => {
    expect(outcome(person('member', true), { ...rule, superAdmin: true })).toBe('allowed');
    expect(outcome(person(null, true), { ...rule, superAdmin: true }, 'org_2')).toBe('allowed');
    expect(outcome(adminKey, { session: true, org: { roles: ['owner'] } })).toBe('forbidden');
  });

  it('refuses everybody where no rule is declared', () => {
    expect(outcome(person('owner'), { session: true })).toBe('forbidden');
  });
});

describe('the list of routes', () => {
  const app = { get: () => ({ getControllers: () => [] }) } as unknown as Parameters<typeof listRoutes>[0];
  const listed = (path: string, access: AccessRule) => () =>
    listRoutes(app, [{ method: 'GET', path, access }]);

  it('refuses an org rule that nobody can apply', () => {
    const org = { roles: ['owner'], param: 'id' } as const;
    expect(listed('/v1/orgs/:id', { session: true, org })).not.toThrow();
    expect(listed('/v1/orgs/:orgId', { session: true, org })).toThrow('/v1/orgs/:orgId');
    expect(listed('/v1/orgs/:id', { key: true, org })).toThrow('/v1/orgs/:id');
  });
});
