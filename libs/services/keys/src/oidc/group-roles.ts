import type { OrgRole } from '@gateway/contracts';

/** The rights that the groups of a person give. */
export interface GroupGrants {
  /** Role by organization id: the higher one where two groups name the same. */
  orgs: ReadonlyMap<string, OrgRole>;
  isSuperAdmin: boolean;
}

/** `setting` is OIDC_GROUP_ROLES; absent = no group gives anything. */
export function grantsOf(groups: readonly string[], setting: string | undefined): GroupGrants {
  const orgs = new Map<string, OrgRole>();
  let isSuperAdmin = false;
  for (const entry of setting?.split(',') ?? []) {
    const [group, given] = entry.split('=').map((part) => part.trim());
    if (!groups.includes(group)) continue;
    const [orgId, role] = given.split(':');
    if (role === undefined) isSuperAdmin = true;
    else if (orgs.get(orgId) !== 'admin') orgs.set(orgId, role === 'admin' ? 'admin' : 'member');
  }
  return { orgs, isSuperAdmin };
}
