/** The role of a person in the open organization; `alone` is an account without one, `super` a super admin. */
export type Role = 'owner' | 'admin' | 'member' | 'alone' | 'super';

interface Membership {
  org_id: string;
  role: 'owner' | 'admin' | 'member';
  teams: string[];
}

export interface Me {
  user: { id: string; email: string; name: string; time_zone: string | null; locale: string | null };
  memberships: Membership[];
  is_super_admin: boolean;
}

/** The organization in a URL that stands for the person's own account. */
export const OWN_ACCOUNT = 'me';

/** Returns the person's roles where `org` is open; none where they are not in it. */
export function rolesIn(me: Me, org: string): Role[] {
  const platform: Role[] = me.is_super_admin ? ['super'] : [];
  if (org === OWN_ACCOUNT) return ['alone', ...platform];
  const membership = me.memberships.find(({ org_id: id }) => id === org);
  return membership === undefined ? platform : [membership.role, ...platform];
}

export function isAllowed(roles: readonly Role[], who: readonly Role[]): boolean {
  return roles.some((role) => who.includes(role));
}

/** Returns the first page of a person: their first organization, or their own account. */
export function firstOrg(me: Me): string {
  return me.memberships[0]?.org_id ?? OWN_ACCOUNT;
}

const NAMES: Record<Role, string> = {
  owner: 'its owner',
  admin: 'its admins',
  member: 'its members',
  alone: 'accounts without an organization',
  super: 'super admins',
};

/** Returns the roles that may see a page, in words for a deep link without the right. */
export function whoMay(who: readonly Role[]): string {
  const names = who.map((role) => NAMES[role]);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
