import type { BudgetGrant } from '@gateway/contracts';
import { budgetsOf } from './carried-budgets.js';

const grant = (scope: BudgetGrant['scope'], scopeId: string): BudgetGrant => ({
  ...{ id: `bud_${scope}_${scopeId}`, name: 'One', scope, scopeId, amountUsd: '1', raise: null },
  ...{ period: 'day', timeZone: 'UTC', countedFromMs: 0 },
});
const own = [grant('key', 'key_1')];
const carriedBudgets = [grant('tag', 'project=a'), grant('tag', 'project=b'), grant('end_user', 'hash_1')];
const NOTHING = { tags: {}, endUserHash: null };
const ids = (budgets: readonly BudgetGrant[] | undefined): string[] | undefined =>
  budgets?.map(({ scopeId }) => scopeId);

describe('budgets by what a request carries', () => {
  it('without such budgets the list of the key is the very one, whatever a request carries', () => {
    const carried = { tags: { project: 'a' }, endUserHash: 'hash_1' };
    expect(budgetsOf({ budgets: own, requestTags: {} }, carried)).toBe(own);
    expect(budgetsOf({ requestTags: {} }, carried)).toBeUndefined();
    expect(budgetsOf({ budgets: own, carriedBudgets, requestTags: {} }, NOTHING)).toBe(own);
  });

  it('a request counts on its tags, on those of its key that it has written over, and on its end user', () => {
    const key = { budgets: own, carriedBudgets, requestTags: { project: 'a' } };
    expect(ids(budgetsOf(key, { tags: { project: 'a' }, endUserHash: null }))).toEqual([
      'key_1',
      'project=a',
    ]);
    expect(ids(budgetsOf(key, { tags: { project: 'b' }, endUserHash: 'hash_1' }))).toEqual([
      ...['key_1', 'project=b', 'project=a', 'hash_1'],
    ]);
    expect(ids(budgetsOf(key, { tags: { project: 'c' }, endUserHash: 'hash_2' }))).toEqual([
      'key_1',
      'project=a',
    ]);
  });
});
