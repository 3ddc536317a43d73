/** The organization of a usage read, which has to name one: the gateway says so where an account has none. */
export function askedOrg(org: string | null): string {
  return org ?? '';
}
