import type { KeyPrincipal } from '@gateway/contracts';
import { testPrincipal, type EdgeUnderTest } from './edge.fixture.js';

interface Tenant extends EdgeUnderTest {
  /** Id of the principal behind `key`. */
  keyId: string;
  accountId: string;
}

/**
 * A started edge for one organization: its own key and account, and of what was shipped only its accounts' records.
 * The parts of a group share an edge this way; no part counts what another has used.
 */
export function tenantOf(edge: EdgeUnderTest, name: string): Tenant {
  const [keyId, accountId] = [`key_${name}`, `acct_${name}`];
  const principal = testPrincipal(keyId);
  const accounts = new Set<unknown>([accountId]);
  const addKey = (given: KeyPrincipal): string => {
    // Principals of the one account that all test principals have become this organization's.
    const isOwn = given.accountId === principal.accountId;
    const own = isOwn ? { ...given, accountId, orgId: `org_${name}` } : given;
    accounts.add(own.accountId);
    return edge.addKey(own);
  };
  const key = addKey(principal);
  return {
    ...edge,
    ...{ key, keyId, accountId, addKey },
    post: (body, options = {}) =>
      edge.post(body, { ...options, key: options.key === undefined ? key : options.key }),
    shipped: (topic) => edge.shipped(topic).filter(({ account_id: account }) => accounts.has(account)),
  };
}
