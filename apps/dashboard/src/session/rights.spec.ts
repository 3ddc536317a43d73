import { firstOrg, isAllowed, rolesIn, whoMay, type Me } from './rights.js';

const me = (role: 'owner' | 'admin' | 'member', isSuperAdmin = false): Me => ({
  user: { id: 'usr_1', email: 'a@example.com', name: 'A', time_zone: null, locale: null },
  memberships: [{ org_id: 'org_1', role, teams: [] }],
  is_super_admin: isSuperAdmin,
});

describe('who may see a page', () => {
  it.each([
    ['org_1', ['member']],
    ['org_2', []],
    ['me', ['alone']],
  ])('a member is in %s: %j', (org, roles) => {
    expect(rolesIn(me('member'), org)).toEqual(roles);
  });

  it('is a super admin everywhere beside what they are in the organization', () => {
    expect(rolesIn(me('owner', true), 'org_1')).toEqual(['owner', 'super']);
    expect(rolesIn(me('owner', true), 'org_2')).toEqual(['super']);
  });

  it('names those who may where somebody may not', () => {
    expect(isAllowed(['member'], ['owner', 'admin'])).toBe(false);
    expect(whoMay(['owner', 'admin'])).toBe('its owner and its admins');
    expect(whoMay(['super'])).toBe('super admins');
  });

  it('opens the first organization, or the own account', () => {
    expect(firstOrg(me('member'))).toBe('org_1');
    expect(firstOrg({ ...me('member'), memberships: [] })).toBe('me');
  });
});
