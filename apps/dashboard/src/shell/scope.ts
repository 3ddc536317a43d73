import { useRoles } from '../session/me.queries.js';
import { OWN_ACCOUNT } from '../session/rights.js';
import { useOrg, useOrgNames } from './org.queries.js';

/** Names of whom the figures of a page are about. */
export interface Scopes {
  /** Owner of the money: the organization, or the own account. */
  money: string;
  /** Owner of the requests and keys that are shown: a member sees their own alone. */
  usage: string;
}

/** Returns whose money and whose usage the open organization shows to this person. */
export function useScopes(): Scopes {
  const { slug } = useOrg();
  const roles = useRoles(slug);
  const name = useOrgNames().data?.find(({ id }) => id === slug)?.name ?? 'Organization';
  const money = slug === OWN_ACCOUNT ? 'My account' : name;
  return { money, usage: roles.includes('member') ? 'You' : money };
}
