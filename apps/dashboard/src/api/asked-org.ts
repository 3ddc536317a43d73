/** The organization of a usage read, which has to name one: the gateway says so where an account has none. */
export function askedOrg(org: string | null): string {
  return org ?? '';
}

/** Returns the filter of a list of keys: those of an organization, or of the own account alone. */
export function keysOf(org: string | null): { org_id: string } {
  return { org_id: org ?? 'none' };
}

/**
 * Returns the organization whose money is meant, or the person's own account. A call that names neither means the only
 * organization of the person, and is rejected in several.
 */
export function payingOrg(org: string | null): { org_id: string } {
  return { org_id: org ?? 'personal' };
}
