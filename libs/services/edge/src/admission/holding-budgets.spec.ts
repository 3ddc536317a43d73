import type { BudgetGrant } from '@gateway/contracts';
import { keyPrincipal } from '@gateway/testing/plain';
import { holdingBudgets } from './holding-budgets.js';

const budgets: BudgetGrant[] = [
  {
    ...{ id: 'bud_1', name: 'One', scope: 'key', scopeId: 'key_1', amountUsd: '1', raise: null },
    ...{ period: 'day', timeZone: 'UTC', countedFromMs: 0 },
  },
];

describe('budgets of a request', () => {
  it('cost nothing without any of tags or end users: the list of the key is the very one, and no HMAC is made', () => {
    const endUserKey = (): never => {
      throw new Error('the key of end users was read');
    };
    const asked = { endUser: 'alice' };
    for (const own of [undefined, budgets]) {
      const principal = Object.defineProperty(keyPrincipal({ budgets: own }), 'endUserKey', {
        get: endUserKey,
      });
      expect(holdingBudgets({ principal, asked, tags: { project: 'a' } })).toBe(own);
    }
  });
});
