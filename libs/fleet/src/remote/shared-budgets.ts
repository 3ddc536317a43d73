import { isDeepStrictEqual } from 'node:util';
import type { BudgetGrant, Principal } from '@gateway/contracts';
import { BoundedCache } from './bounded-cache.js';

const ACCOUNTS_MAX = 10_000;

/** Lists of the budgets of tags and end users, one for all keys of an account: such a list is many times as large as a key. */
export class SharedBudgets {
  private readonly lists = new BoundedCache<readonly BudgetGrant[]>(ACCOUNTS_MAX);

  /** Returns the principal with the list of its account where it has the same. */
  within(principal: Principal): Principal {
    if (principal.kind !== 'key' || principal.carriedBudgets === undefined) return principal;
    const { accountId, carriedBudgets } = principal;
    const known = this.lists.get(accountId);
    if (known !== undefined && isDeepStrictEqual(known, carriedBudgets))
      return { ...principal, carriedBudgets: known };
    this.lists.set(accountId, carriedBudgets);
    return principal;
  }
}
