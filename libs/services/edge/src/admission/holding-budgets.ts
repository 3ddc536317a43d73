import type { BudgetGrant, KeyPrincipal } from '@gateway/contracts';
import { budgetsOf } from '@gateway/limits';
import { callerEndUserHash } from '../request/end-user-hash.js';

/** Returns the budgets that count a request; undefined where there are none. */
export function holdingBudgets({
  principal,
  asked: { endUser },
  tags,
}: {
  principal: KeyPrincipal;
  asked: { endUser: string | null };
  tags: Readonly<Record<string, string>>;
}): readonly BudgetGrant[] | undefined {
  if (principal.carriedBudgets === undefined) return principal.budgets;
  return budgetsOf(principal, {
    tags,
    endUserHash: endUser === null ? null : callerEndUserHash(principal, endUser),
  });
}
