import type { BudgetGrant } from '@gateway/contracts';
import { keyPrincipal } from '@gateway/testing/plain';
import { SharedBudgets } from './shared-budgets.js';

const listed = (amountUsd: string): BudgetGrant[] => [
  {
    ...{ id: 'bud_1', name: 'One', scope: 'tag', scopeId: 'a=b', amountUsd, raise: null },
    ...{ period: 'day', timeZone: 'UTC', countedFromMs: 0 },
  },
];

describe('budgets of tags and end users in an edge', () => {
  it('keys of one account share one list while it is the same, and keys without any are left as they are', () => {
    const shared = new SharedBudgets();
    const listOf = (amountUsd: string, accountId = 'acct_1'): unknown => {
      const principal = shared.within(keyPrincipal({ accountId, carriedBudgets: listed(amountUsd) }));
      return principal.kind === 'key' ? principal.carriedBudgets : undefined;
    };
    const first = listOf('1');
    expect(first).toEqual(listed('1'));
    expect(listOf('1')).toBe(first);
    expect(listOf('1', 'acct_2')).not.toBe(first);
    const changed = listOf('2');
    expect(changed).toEqual(listed('2'));
    expect(listOf('2')).toBe(changed);
    const without = keyPrincipal();
    expect(shared.within(without)).toBe(without);
  });
});
